"""The figures of a rehearsal, overall and by team: for `--json`, tables and tests. Pure."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from tpuplane_twin.rehearsal.records import JobRecord, Moment, Timeline

_HOUR = 3600


def summary(timeline: Timeline) -> dict[str, Any]:
    """The figures of a rehearsal as plain values; the same rehearsal always gives the same ones.

    Times are whole seconds. Chip hours and dollars have two decimals, goodput has three. A figure is None where there
    is nothing to measure.
    """
    events = [(moment.at, moment.events) for moment in timeline.moments if moment.events]
    teams = sorted({job.team for job in timeline.jobs})
    return {
        "title": timeline.title,
        "platform": {
            "end": round(timeline.end),
            "chipHoursAvailable": _integral(timeline, lambda moment: moment.chips),
            "chipHoursOfLostHosts": _integral(timeline, lambda moment: moment.lost),
            "chipHoursIdle": _integral(timeline, lambda moment: moment.idle),
            "dollars": _integral(timeline, lambda moment: moment.dollars),
            "unpricedChips": timeline.unpriced,
        },
        "overall": _figures(timeline.jobs, timeline.end),
        "teams": {team: _figures([job for job in timeline.jobs if job.team == team], timeline.end) for team in teams},
        "events": [{"at": round(at), "events": list(sentences)} for at, sentences in events],
    }


def _integral(timeline: Timeline, value: Callable[[Moment], float]) -> float:
    """The hours of a value: each moment's value times the time until the next moment."""
    ends = [*(moment.at for moment in timeline.moments), timeline.end][1:]
    spans = zip(timeline.moments, ends, strict=True)
    return round(sum(value(moment) * (end - moment.at) for moment, end in spans) / _HOUR, 2)


def _figures(jobs: Sequence[JobRecord], end: float) -> dict[str, Any]:
    """The figures of some jobs.

    A job waits from its arrival to its first run; one that never ran has waited until the end. Useful chip hours are
    those in which jobs ran, without the work that interruptions lost.
    """
    waits = sorted((job.runs[0][0] if job.runs else end) - job.arrived for job in jobs)
    preemptions = sum(job.interruptions.get("preempted", 0) for job in jobs)
    used = sum(job.chips * (to - since) for job in jobs for since, to in job.runs)
    lost = sum(job.chips * job.lost for job in jobs)
    return {
        "jobs": len(jobs),
        "succeeded": sum(job.state == "succeeded" for job in jobs),
        "neverRan": sum(not job.runs for job in jobs),
        "waitSecondsP50": _percentile(waits, 50),
        "waitSecondsP95": _percentile(waits, 95),
        "waitSecondsMax": _percentile(waits, 100),
        "preemptions": preemptions,
        "otherInterruptions": sum(sum(job.interruptions.values()) for job in jobs) - preemptions,
        "chipHoursUsed": round(used / _HOUR, 2),
        "chipHoursLost": round(lost / _HOUR, 2),
        "goodput": round((used - lost) / used, 3) if used else None,
    }


def _percentile(ascending: Sequence[float], percent: int) -> int | None:
    """The least of the values that at least this share of all values does not exceed."""
    return round(ascending[math.ceil(len(ascending) * percent / 100) - 1]) if ascending else None
