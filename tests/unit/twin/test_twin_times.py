"""The twin's speed, durations, and the steps and times of incidents."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from tpuplane.data_files import read_data
from tpuplane_twin.clock.times import InvalidTime, Times, constant, duration
from tpuplane_twin.failures.hosts import Hosts

pytestmark = pytest.mark.unit

INCIDENTS = read_data("tpuplane_twin.failures", "incidents")
TIMES = read_data("tpuplane_twin.clock", "times")


def test_a_minute_of_gke_is_a_second_of_the_twin_unless_a_speed_is_set() -> None:
    assert Times.of({}).seconds("auto-repair") == 10
    assert Times.of({"TPUPLANE_TWIN_SPEED": "1"}).seconds("auto-repair") == 600
    assert Times.of({"TPUPLANE_TWIN_SPEED": "0.5"}).real(1) == 2


@pytest.mark.parametrize("wrong", ["fast", "0", "-1", "nan", "inf"])
def test_a_speed_is_a_number_above_0(wrong: str) -> None:
    with pytest.raises(InvalidTime, match=f"TPUPLANE_TWIN_SPEED: '{wrong}' is not a speed; give a number above 0"):
        Times.of({"TPUPLANE_TWIN_SPEED": wrong})


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("15m", 900), ("1.5h", 5400), ("28d", 2419200), ("1h30m", 5400)]
)
def test_a_duration_has_a_unit(text: str, seconds: float) -> None:
    assert duration(text) == seconds


@pytest.mark.parametrize("wrong", ["", "15", "m", "15 m", "-1m", "15min", "1h 30m"])
def test_other_durations_are_rejected(wrong: str) -> None:
    with pytest.raises(InvalidTime, match="is not a duration; give numbers with s, m, h or d, such as 15m or 2h30m"):
        duration(wrong)


def test_a_duration_is_at_most_ten_years() -> None:
    assert duration("3650d") == 3650 * 86_400
    with pytest.raises(InvalidTime, match="'3650d1s' is too long; allowed: up to 3650d"):
        duration("3650d1s")


def test_each_time_has_a_source_and_says_how_sure_it_is() -> None:
    for name, time in TIMES.items():
        assert constant(name) > 0
        assert time["sure"] in ("documented", "measured", "assumed")
        assert len(time["source"]) > 20


def test_each_step_of_an_incident_is_known() -> None:
    for verb, argument in steps():
        match verb:
            case "wait" | "end-pods":
                assert argument in TIMES
            case "mark" | "condition":
                inspect.signature(getattr(Hosts, verb)).bind(None, **argument)
            case _:
                assert verb in ("freeze", "return", "chips", "reclaim")
                assert argument is None


def test_an_incident_removes_what_it_sets() -> None:
    """Except for hosts that are deleted, or that GKE repairs."""
    marks = [argument for verb, argument in steps("maintenance") if verb == "mark"]
    for field in ("labels", "taints"):
        left: dict[str, Any] = dict(INCIDENTS["maintenance"]["announce"]) if field == "labels" else {}
        for mark in marks:
            left |= mark.get(field, {})
        assert set(left.values()) == {None}


def steps(kind: str = "") -> Iterator[tuple[str, Any]]:
    for name, incident in INCIDENTS.items():
        for step in incident["steps"] if kind in ("", name) else ():
            yield from step.items()
