"""Chip-hours by team: held, waiting, free and not usable, between looks at a clock of the test."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane.ui.use import OTHERS, Use

pytestmark = pytest.mark.unit

HOUR = 3600.0


def cluster(*teams: str, waiting: int = 0, unreachable: bool = False) -> dict[str, Any]:
    """A slice of four chips for each team, one that is free, and a host that is not usable."""
    held = [{"use": {"held": {team: 4}, "idle": 0, "down": 0}} for team in teams]
    works = [{"queue": "research", "namespace": "a", "unplaced": waiting}]
    return {
        "unreachable": unreachable,
        "slices": [*held, {"use": {"held": {}, "idle": 4, "down": 4}}],
        "works": [*works, {"queue": "", "namespace": "a", "unplaced": 0}],
    }


def test_chips_count_for_as_long_as_they_were_held() -> None:
    use = Use()
    use.look([cluster("research", "product", waiting=16)], now=0)
    use.look([cluster("research")], now=HOUR / 2)
    use.look([cluster("research", unreachable=True)], now=2 * HOUR)
    use.look([], now=9 * HOUR)
    found = use.described()
    assert {team["team"]: (team["held"], team["waiting"]) for team in found["teams"]} == {
        "research": (8, 8),
        "product": (2, 0),
    }
    assert (found["idle"], found["down"]) == (8, 8)


def test_the_chart_is_bounded_and_keeps_its_beginning() -> None:
    use = Use()
    for at in range(5_000):
        use.look([cluster(*(f"team-{number}" for number in range(12)))], now=at * 10.0)
    found = use.described()
    assert 100 <= len(found["points"]) <= 240
    assert found["named"][-1] == OTHERS
    assert {sum(point["held"]) for point in found["points"]} == {48}
