"""Each fault of each resource at each moment: afterwards the same command, and the commands that are printed, end in
what the file describes, with nothing else in Google's API, no lock and no pending operation.

The engine, the provider and the API are real; there are no control planes.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest
import yaml

from tests.support import TESTS
from tests.support.matrix.grid import Cell, cells, sample
from tests.support.matrix.play import OUTCOMES, Player

FIGURES = TESTS / "standins" / "matrix" / "figures.yaml"


@pytest.fixture(scope="session")
def player(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Player]:
    with pytest.MonkeyPatch.context() as patch:
        found = Player(tmp_path_factory.mktemp("matrix"), patch)
        yield found
        found.engine.close()


@pytest.fixture(scope="session")
def outcomes() -> Iterator[dict[str, Counter[str]]]:
    """The outcomes by fault. With TPUPLANE_MATRIX=write, figures.yaml is written at the end."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    yield found
    if os.environ.get("TPUPLANE_MATRIX") == "write":
        figures = {fault: {outcome: counts[outcome] for outcome in OUTCOMES} for fault, counts in found.items()}
        FIGURES.write_text("# Written by `make matrix`\n" + yaml.safe_dump(figures, sort_keys=False))


@pytest.mark.matrix
@pytest.mark.parametrize("cell", cells(), ids=str)
def test_a_platform_survives(player: Player, cell: Cell, outcomes: dict[str, Counter[str]]) -> None:
    outcomes[cell.fault][player.play(cell)] += 1


@pytest.mark.twin
@pytest.mark.parametrize("cell", sample(4, seed=1), ids=str)
def test_a_platform_survives_some(player: Player, cell: Cell) -> None:
    assert player.play(cell) in OUTCOMES
