"""What a rehearsal records of jobs that wait, run, are interrupted, and end."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane.status.asking import read
from tpuplane_twin.rehearsal.observed import interruption, overlooked
from tpuplane_twin.rehearsal.play import Player
from tpuplane_twin.rehearsal.records import Timeline
from tpuplane_twin.rehearsal.scenario import EventSpec
from tpuplane_twin.rehearsal.trace import TraceJob

from tests.support.small_stage import SHAPE, SmallStage, tpu_node

pytestmark = pytest.mark.unit

HOUR = 3600.0


def job(name: str, hours: float, at: float = 0.0, **more: Any) -> TraceJob:
    """A job on one slice."""
    given = {"team": "research", "slices": 1, "priority": "", "checkpoint": None, **more}
    return TraceJob(name=name, shape=SHAPE, seconds=hours * HOUR, at=at * HOUR, **given)


def played(slices: int, jobs: list[TraceJob], *events: EventSpec, until: float = 24) -> Timeline:
    return Player(SmallStage(slices), jobs, events, lambda at, text: None).play("small", until * HOUR)


def said(timeline: Timeline) -> list[tuple[float, str]]:
    return [(moment.at / HOUR, text) for moment in timeline.moments for text in moment.events]


def test_jobs_run_one_after_the_other_on_one_slice() -> None:
    timeline = played(1, [job("first", 2), job("second", 1, at=0.5, team="product")])
    assert said(timeline) == [
        (0, "first starts"),
        (2, "first has succeeded"),
        (2, "second starts"),
        (3, "second has succeeded"),
    ]
    assert [found.runs for found in timeline.jobs] == [[(0, 2 * HOUR)], [(2 * HOUR, 3 * HOUR)]]
    assert [(moment.at / HOUR, dict(moment.used), dict(moment.waiting)) for moment in timeline.moments] == [
        (0, {"research": 16}, {}),
        (0.5, {"research": 16}, {"product": 16}),
        (2, {"product": 16}, {}),
        (3, {}, {}),
    ]
    assert timeline.end == 3 * HOUR
    assert [found.ended for found in timeline.jobs] == [2 * HOUR, 3 * HOUR]
    assert {moment.chips for moment in timeline.moments} == {16}
    assert timeline.moments[0].dollars > 0


def test_an_interrupted_job_continues_from_its_last_checkpoint() -> None:
    lost = EventSpec(at="100m", event="fail-slice", of="0")
    timeline = played(1, [job("train", 3, checkpoint=30 * 60)], lost)
    (found,) = timeline.jobs
    assert found.lost == 10 * 60  # 100 minutes of work, 90 of them saved
    assert found.interruptions == {"host lost": 1}
    assert found.runs == [(0, 100 * 60), (110 * 60, 200 * 60)]
    assert found.state == "succeeded"
    assert (timeline.moments[1].chips, timeline.moments[1].lost) == (0, 16)
    assert [text for _, text in said(timeline)][1:4] == [
        "fail-slice 0",
        "0 chips are usable, 16 are not",
        "train is interrupted: host lost",
    ]


def test_a_preempted_job_without_checkpoints_begins_again() -> None:
    timeline = played(1, [job("train", 2), job("urgent", 1, at=1)], EventSpec(at="1h", event="reclaim", of="0"))
    train, urgent = timeline.jobs
    assert train.interruptions == {"preempted": 1}
    assert (train.lost, train.runs[-1][1]) == (HOUR, 4 * HOUR)
    assert urgent.runs == [(HOUR, 2 * HOUR)]


@pytest.mark.parametrize(
    ("now", "cause"),
    [
        ([("old", "a", "v1.35.4", True)], "preempted"),
        ([("old", "a", "v1.35.4", False)], "host lost"),
        ([("new", "a", "v1.36.3", True)], "node upgrade"),
        ([("new", "a", "v1.36.3", False)], "node upgrade"),
        ([("new", "a", "v1.36.3", True), ("next", "a", "v1.35.4", True)], "node upgrade"),  # the pool's first node
        ([("new", "a", "v1.35.4", True)], "host lost"),  # reclaimed, and created again
        ([("old", "a", "v1.35.4", False), ("other", "b", "v1.36.3", True)], "host lost"),
        ([("other", "b", "v1.36.3", True)], "host lost"),
    ],
)
def test_the_nodes_show_why_a_job_is_interrupted(now: list[tuple[str, str, str, bool]], cause: str) -> None:
    def node(name: str, pool: str, kubelet: str, ready: bool = True) -> Any:
        given = tpu_node(name, pool, ready=ready)
        given["status"]["nodeInfo"] = {"kubeletVersion": kubelet}
        return read("nodes", given)

    assert interruption([node("old", "a", "v1.35.4")], [node(*each) for each in now]) == cause


def test_a_rehearsal_ends_at_its_time_with_what_still_runs_and_waits() -> None:
    timeline = played(1, [job("long", 30), job("waits", 1, at=1), job("late", 1, at=40)], until=10)
    assert timeline.end == 10 * HOUR
    assert [(found.name, found.state, found.runs) for found in timeline.jobs] == [
        ("long", "runs", [(0, 10 * HOUR)]),
        ("waits", "waits", []),
    ]


def test_idle_chips_count_while_a_fitting_job_waits() -> None:
    class Closed(SmallStage):
        """Nothing starts."""

        def settle(self, jobs: Any) -> None:
            """As a platform whose quotas are too small."""

    player = Player(Closed(2), [job("one", 1), job("three", 1, at=1, slices=3)], (), lambda at, text: None)
    assert [moment.idle for moment in player.play("closed", 2 * HOUR).moments] == [32, 32]


def test_nothing_happens_before_the_end_without_slices() -> None:
    timeline = played(0, [job("never", 1, at=2)], until=5)
    assert [moment.at for moment in timeline.moments] == [0, 2 * HOUR]
    assert (timeline.end, timeline.jobs[0].state) == (5 * HOUR, "waits")


def test_a_rehearsal_without_jobs_ends_when_the_lost_hosts_are_back() -> None:
    timeline = played(1, [], EventSpec(at="1h", event="fail-slice", of="0"))
    assert [(moment.at, moment.lost) for moment in timeline.moments] == [(0, 0), (HOUR, 16), (HOUR + 600, 0)]
    assert timeline.end == HOUR + 600


def test_a_job_is_overlooked_while_it_waits_beside_an_idle_slice() -> None:
    jobs = [job("first", 2), job("second", 1)]
    stage = SmallStage(2)
    stage.submit(jobs[0])
    stage.settle(jobs)
    assert overlooked(stage.objects, jobs) == set()
    stage.submit(jobs[1])
    assert overlooked(stage.objects, jobs) == {("research", "second")}
    stage.settle(jobs)
    assert overlooked(stage.objects, jobs) == set()


def test_a_rehearsal_lasts_until_its_end_while_hosts_are_lost() -> None:
    timeline = played(1, [job("train", 1)], EventSpec(at="115m", event="fail-slice", of="0"), until=2)
    assert (timeline.end, timeline.moments[-1].lost) == (2 * HOUR, 16)


def test_a_job_works_no_longer_than_it_needs() -> None:
    timeline = played(1, [job("first", 0.51), job("second", 0.51, at=0.3)])
    assert [found.runs for found in timeline.jobs] == [[(0, 1836)], [(1836, 3672)]]


def test_a_step_of_gke_comes_at_a_whole_minute_after_a_job_that_ends_within_one() -> None:
    timeline = played(2, [job("first", 0.51)], EventSpec(at="30m", event="fail-slice", of="1"))
    assert [moment.at for moment in timeline.moments] == [0, 1800, 1836, 2400]


def test_a_step_of_gke_comes_before_the_end_of_a_job_at_the_same_time() -> None:
    """A job that loses its slice in the minute in which its work would be done is interrupted."""

    class Reclaimed(SmallStage):
        """The slice is lost 50 seconds after the first hour."""

        @property
        def due(self) -> float | None:
            return HOUR + 50 - self.now if self.now < HOUR + 50 else super().due

        def move(self, seconds: float) -> None:
            was, _ = self.now, super().move(seconds)
            if was < HOUR + 50 <= self.now:
                self.begin(EventSpec(at="0m", event="fail-slice", of="0"))

    player = Player(Reclaimed(1), [job("train", 1 + 1 / 60)], (), lambda at, text: None)
    (found,) = player.play("reclaimed", 24 * HOUR).jobs
    assert found.interruptions == {"host lost": 1}
    assert found.runs == [(0, HOUR + 60), (HOUR + 660, 2 * HOUR + 720)]
