"""The figures of a rehearsal."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tpuplane_twin.rehearsal.records import JobRecord, Moment, Timeline
from tpuplane_twin.rehearsal.summary import summary

from tests.support.rehearsals import DAY

pytestmark = pytest.mark.unit


def test_the_platform_s_figures_are_integrals_over_the_moments() -> None:
    # An hour of 16 chips, half an hour of 8 with 8 lost, half an hour of 16, at 20 dollars an hour.
    assert summary(DAY)["platform"] == {
        "end": 7200,
        "chipHoursAvailable": 28.0,
        "chipHoursOfLostHosts": 4.0,
        "chipHoursIdle": 2.0,
        "dollars": 40.0,
        "unpricedChips": 0,
    }


def test_the_figures_of_a_team() -> None:
    # trainer-1: 8 chips ran 0-3600 and 5400-7200, so 12 chip hours; 900 s of them were lost: 2 chip hours.
    # trainer-2 never ran, and waits from 6600 to 7200.
    assert summary(DAY)["teams"]["research"] == {
        "jobs": 2,
        "succeeded": 0,
        "neverRan": 1,
        "waitSecondsP50": 0,
        "waitSecondsP95": 600,
        "waitSecondsMax": 600,
        "preemptions": 0,
        "otherInterruptions": 1,
        "chipHoursUsed": 12.0,
        "chipHoursLost": 2.0,
        "goodput": 0.833,
    }


def test_all_teams_together() -> None:
    found = summary(DAY)
    assert list(found["teams"]) == ["product", "research"]
    # eval: 4 chips ran 600-1800 and 2400-4800, so 4 chip hours; 600 s of them were lost: 2/3 of a chip hour.
    assert found["overall"] == {
        "jobs": 3,
        "succeeded": 1,
        "neverRan": 1,
        "waitSecondsP50": 300,
        "waitSecondsP95": 600,
        "waitSecondsMax": 600,
        "preemptions": 1,
        "otherInterruptions": 1,
        "chipHoursUsed": 16.0,
        "chipHoursLost": 2.67,
        "goodput": 0.833,
    }


def test_only_moments_with_events_are_listed() -> None:
    assert summary(DAY)["events"] == [
        {"at": 0, "events": ["trainer-1 runs"]},
        {"at": 3600, "events": ["trainer-1 lost a host", "trainer-1 waits"]},
    ]


def test_nothing_has_no_waiting_time_and_no_goodput() -> None:
    found = summary(Timeline("empty", 3600.0, (), ()))
    assert found["overall"]["jobs"] == found["platform"]["dollars"] == 0
    assert [key for key, value in found["overall"].items() if value is None] == [
        "waitSecondsP50",
        "waitSecondsP95",
        "waitSecondsMax",
        "goodput",
    ]
    assert (found["teams"], found["events"]) == ({}, [])


@pytest.mark.parametrize(("count", "p50", "p95"), [(1, 1, 1), (2, 1, 2), (20, 10, 19), (21, 11, 20), (100, 50, 95)])
def test_percentiles_are_waiting_times_of_jobs(count: int, p50: int, p95: int) -> None:
    jobs = [JobRecord(f"job-{n}", "a", 1, 0, 1, [(n, n + 1)]) for n in range(count, 0, -1)]
    found = summary(Timeline("waits", 200, (), tuple(jobs)))["overall"]
    assert (found["waitSecondsP50"], found["waitSecondsP95"], found["waitSecondsMax"]) == (p50, p95, count)


@st.composite
def rehearsals(draw: st.DrawFn) -> Timeline:
    """Jobs that run once on a platform of 64 chips which is always as large as needed."""
    end = 10_000
    jobs = []
    for number in range(draw(st.integers(0, 6))):
        since = draw(st.integers(0, end))
        to = draw(st.integers(since, end))
        jobs.append(
            JobRecord(
                f"job-{number}",
                draw(st.sampled_from("ab")),
                draw(st.integers(1, 64)),
                draw(st.integers(0, since)),
                to - since,
                [(since, to)] if to > since else [],
                lost=draw(st.integers(0, to - since)),
                state=draw(st.sampled_from(["runs", "succeeded"])),
            )
        )
    times = sorted({0, *(time for job in jobs for run in job.runs for time in run)})
    moments = []
    for at in times:
        used = {
            team: sum(j.chips for j in jobs if j.team == team for since, to in j.runs if since <= at < to)
            for team in "ab"
        }
        moments.append(Moment(at, max(64, sum(used.values())), 0, used, {}, 0, 1.0))
    return Timeline("random", end, tuple(moments), tuple(jobs))


@settings(max_examples=60, deadline=None)
@given(rehearsals())
def test_figures_agree_with_each_other_and_with_the_moments(timeline: Timeline) -> None:
    found = summary(timeline)
    overall, teams = found["overall"], found["teams"].values()
    assert overall == summary(replace(timeline, jobs=timeline.jobs[::-1]))["overall"]
    for key in ("jobs", "succeeded", "neverRan", "preemptions", "otherInterruptions"):
        assert overall[key] == sum(team[key] for team in teams)
    assert overall["chipHoursUsed"] == pytest.approx(sum(team["chipHoursUsed"] for team in teams), abs=0.02)
    assert overall["chipHoursUsed"] <= found["platform"]["chipHoursAvailable"]
    assert found["platform"]["dollars"] == round(timeline.end / 3600, 2)
    ends = [*(moment.at for moment in timeline.moments), timeline.end][1:]
    used = sum(sum(m.used.values()) * (end - m.at) for m, end in zip(timeline.moments, ends, strict=True))
    assert overall["chipHoursUsed"] == round(used / 3600, 2)
    for figures in (overall, *teams):
        check(figures)
    assert json.loads(json.dumps(found)) == found


def check(figures: dict[str, Any]) -> None:
    assert figures["chipHoursLost"] <= figures["chipHoursUsed"]
    assert figures["goodput"] is None or 0 <= figures["goodput"] <= 1
    assert figures["succeeded"] <= figures["jobs"]
    if figures["jobs"]:
        assert 0 <= figures["waitSecondsP50"] <= figures["waitSecondsP95"] <= figures["waitSecondsMax"]
