"""Each fault of each resource at each moment: afterwards the same command, and the commands that are printed, end in
what the file describes, with nothing else in Google's API, no lock and no pending operation.

The engine is real, the provider is the stand-in and the API is the twin's; there are no control planes.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest
import yaml

from tests.support.matrix.grid import FAILS, FIGURES, OUTCOMES, Cell, cells, played, sample
from tests.support.matrix.play import Player

COUNT = int(os.environ.get("TPUPLANE_MATRIX_CELLS", len(cells())))
WRITE = os.environ.get("TPUPLANE_MATRIX") == "write"


def to_play() -> list[Cell]:
    """A share of the cells; to write the figures, those of the share that the file lacks or has as failures."""
    passed = {cell for cell, outcome in played().items() if WRITE and outcome != FAILS}
    return [cell for cell in sample(COUNT, seed=1) if str(cell) not in passed]


def write(cell: Cell, outcome: str) -> None:
    """Write the outcome at once, for a run of hours may be cut. Several workers of pytest write one after the other."""
    if not WRITE:
        return
    with Path(__file__).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        figures = dict(sorted({**played(), str(cell): outcome}.items()))
        FIGURES.write_text("# Written by `TPUPLANE_MATRIX=write make matrix`.\n" + yaml.safe_dump(figures, width=200))


@pytest.mark.matrix
@pytest.mark.parametrize("cell", to_play(), ids=str)
def test_a_platform_survives(player: Player, cell: Cell) -> None:
    try:
        write(cell, player.play(cell))
    except Exception:
        write(cell, FAILS)
        raise


@pytest.mark.twin
@pytest.mark.parametrize("cell", sample(4, seed=1), ids=str)
def test_a_platform_survives_some(player: Player, cell: Cell) -> None:
    assert player.play(cell) in OUTCOMES
