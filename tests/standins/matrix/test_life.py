"""Platforms that are edited, updated, interrupted, changed by hand and deleted, in random order.

`tests/support/matrix/life.py` has the steps, and what must hold after each.
"""

from __future__ import annotations

import os

import pytest

from tests.support.matrix.life import live
from tests.support.matrix.play import Player

STEPS = int(os.environ.get("TPUPLANE_LIFE_STEPS", "100"))
FIRST = int(os.environ.get("TPUPLANE_LIFE", "1"))
EACH = 20


@pytest.mark.matrix
@pytest.mark.parametrize("number", range(FIRST, FIRST + -(-STEPS // EACH)))
def test_a_platform_lives(player: Player, number: int) -> None:
    live(player, number, EACH)


@pytest.mark.twin
def test_a_platform_lives_for_some_steps(player: Player) -> None:
    live(player, number=6, steps=6)
