"""Plays jobs and events, and records what happens."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tpuplane.tpu import Slice

from tpuplane_twin.clock.times import duration
from tpuplane_twin.rehearsal.observed import Chips, JobNow, chips, interruption, jobs_now
from tpuplane_twin.rehearsal.records import JobRecord, Moment, Timeline
from tpuplane_twin.rehearsal.scenario import EventSpec
from tpuplane_twin.rehearsal.stage import Stage
from tpuplane_twin.rehearsal.trace import TraceJob

_MINUTE = 60

Say = Callable[[float, str], None]
"""Gets the second, and what happens then."""


@dataclass(slots=True)
class _Run:
    """A job that is played, and what it has done."""

    job: TraceJob
    record: JobRecord
    saved: float = 0.0
    now: JobNow = field(default_factory=JobNow)
    since: float | None = None
    """Since when it runs; None while it does not."""

    @property
    def done(self) -> float:
        """The whole second at which its work is done; never while it does not run."""
        return math.inf if self.since is None else math.ceil(self.since + self.job.seconds - self.saved)

    def change(self, found: JobNow, at: float) -> Iterable[str]:
        """Apply what was found at a time."""
        before, self.now = self.now, found
        if self.since is not None and (found.pods != before.pods or found.ended):
            self.record.runs.append((self.since, at))
            work = self.saved + at - self.since
            self.since = None
            if found.ended != "succeeded":
                cause = found.ended or interruption(before.nodes, found.all_nodes)
                self.record.interruptions[cause] = self.record.interruptions.get(cause, 0) + 1
                kept = work - work % self.job.checkpoint if self.job.checkpoint else 0.0
                self.record.lost += work - kept
                self.saved = kept
                yield f"{self.job.name} is interrupted: {cause}"
        if found.pods and self.since is None and not found.ended:
            self.since = at
            yield f"{self.job.name} starts"
        if found.ended and not before.ended:
            self.record.ended = at
            yield f"{self.job.name} has {found.ended}"
        self.record.state = found.ended or ("runs" if found.pods else "waits")


class Player:
    """Plays jobs and events on a stage, and steps of GKE at whole minutes."""

    def __init__(self, stage: Stage, jobs: Sequence[TraceJob], events: Iterable[EventSpec], say: Say) -> None:
        self._stage = stage
        self._jobs = jobs
        self._coming = sorted(jobs, key=lambda job: job.at)
        self._ahead = sorted(events, key=lambda event: duration(event.at))
        self._say = say
        self._runs: list[_Run] = []
        self._moments: list[Moment] = []
        self._unpriced = 0

    def play(self, title: str, until: float) -> Timeline:
        """Play until nothing more happens, at most until that time.

        At one time, first the twin acts, then jobs end, then jobs are submitted, then events begin, each in the order
        of the file. Raises `TwinError` if the twin rejects an event, or a job cannot be submitted.
        """
        at = following = 0.0
        step = math.inf
        self._stage.move(0)
        self._stage.settle(self._jobs)
        self._stage.end_former()
        self._stage.check(self._jobs, self._ahead)  # hours of the clock before they begin
        while following <= until:
            self._stage.move(following - at)
            at = following
            if step == at and self._done(at):
                self._stage.settle(self._jobs)
                self._look(at, [])
            self._complete(at)
            self._look(at, self._begin(at))
            step = math.inf if self._stage.due is None else _minutes(at + max(1, self._stage.due))
            following = min(step, self._planned, *(run.done for run in self._runs))
        end = at if self._ended and self._stage.due is None else until
        for run in self._runs:
            if run.since is not None:
                run.record.runs.append((run.since, end))
        records = [*(run.record for run in self._runs), *(JobRecord.of(job) for job in self._coming if job.at <= end)]
        return Timeline(title, end, tuple(self._moments), tuple(records), self._unpriced)

    @property
    def _ended(self) -> bool:
        """Whether all jobs and events have ended."""
        return not self._coming and not self._ahead and all(run.now.ended for run in self._runs)

    def _done(self, at: float) -> list[TraceJob]:
        """The jobs whose work is done at a time."""
        return [run.job for run in self._runs if run.done == at]

    def _complete(self, at: float) -> None:
        if done := self._done(at):
            for job in done:
                self._stage.complete(job)
            if self._planned <= at:
                self._stage.settle(self._jobs)

    @property
    def _planned(self) -> float:
        """When the next job arrives or the next event begins; infinite if there is none."""
        times = [*(job.at for job in self._coming[:1]), *(duration(event.at) for event in self._ahead[:1])]
        return min(times, default=math.inf)

    def _begin(self, at: float) -> list[str]:
        """Submit the jobs and begin the events of a time; the result is what has begun."""
        while self._coming and self._coming[0].at <= at:
            job = self._coming.pop(0)
            self._stage.submit(job)
            self._runs.append(_Run(job, JobRecord.of(job)))
        said: list[str] = []
        while self._ahead and duration(self._ahead[0].at) <= at:
            event = self._ahead.pop(0)
            self._stage.begin(event)
            said.append(event.text)
        self._stage.settle(self._jobs)
        return said

    def _look(self, at: float, said: list[str]) -> None:
        """Record what the platform is now."""
        clusters = self._stage.objects
        now = chips(clusters)
        said += self._stage.take_undone()
        if self._moments and (now.usable, now.lost) != (self._moments[-1].chips, self._moments[-1].lost):
            said.append(f"{now.usable} chips are usable{f', {now.lost} are not' if now.lost else ''}")
        found = {key: job for objects in clusters for key, job in jobs_now(objects, self._jobs).items()}
        for run in self._runs:
            said += run.change(found.get((run.job.team, run.job.name), JobNow()), at)
        self._moments.append(_moment(now, self._runs, at, said))
        self._unpriced = max(self._unpriced, now.unpriced)
        for text in said:
            self._say(at, text)


def _moment(now: Chips, runs: Iterable[_Run], at: float, said: Sequence[str]) -> Moment:
    used, waiting = Counter[str](), Counter[str]()
    fitting: set[Slice] = set()
    for run in runs:
        if run.since is not None:
            used[run.job.team] += run.record.chips
        elif not run.now.ended:
            waiting[run.job.team] += run.record.chips
            if now.idle.get(run.job.shape, 0) >= run.job.slices:
                fitting.add(run.job.shape)
    idle = sum(now.idle[shape] * shape.chips for shape in fitting)
    teams = {team: dict(sorted(counts.items())) for team, counts in (("used", used), ("waiting", waiting))}
    return Moment(at, now.usable, now.lost, **teams, idle=idle, dollars=now.dollars, events=tuple(said))


def _minutes(seconds: float) -> float:
    """Whole minutes, in seconds, that are not shorter. The sums of a clock are not exact."""
    return math.ceil(round(seconds, 3) / _MINUTE) * _MINUTE
