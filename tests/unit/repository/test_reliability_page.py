"""docs/reliability.md counts the cells of the fault matrix that were played, and names those that fail."""

from __future__ import annotations

import pytest

from scripts.reliability_table import with_figures
from tests.support import REPOSITORY
from tests.support.matrix.grid import ABSORBED, FAILS, OUTCOMES, TOLD, cells, played, sample

pytestmark = pytest.mark.unit

PAGE = "before\n<!-- generated: matrix -->\nold\n<!-- end -->\nafter\n"
QUOTA = "create router: quota, before"
KILLED = "delete network: killed engine, during"


def test_played_cells_are_counted_by_fault_and_outcome() -> None:
    page = with_figures(PAGE, {QUOTA: ABSORBED, KILLED: TOLD})
    assert page.startswith("before\n<!-- generated: matrix -->\n| fault | cells | played |")
    assert page.endswith("No cell that was played fails.\n<!-- end -->\nafter\n")
    assert "| all | 614 | 2 | 1 | 0 | 1 | 0 |" in page
    assert "| quota | 38 | 1 | 1 | 0 | 0 | 0 |" in page
    assert "| killed engine | 110 | 1 | 0 | 0 | 1 | 0 |" in page


def test_cells_that_fail_are_named() -> None:
    page = with_figures(PAGE, {QUOTA: FAILS, KILLED: TOLD})
    assert "| all | 614 | 2 | 0 | 0 | 1 | 1 |" in page
    assert f"These cells fail:\n\n- {QUOTA}\n<!-- end -->" in page


def test_the_page_says_how_many_cells_there_are() -> None:
    assert f"with {len(cells())} cells" in (REPOSITORY / "docs" / "reliability.md").read_text(encoding="utf-8")


def test_the_written_figures_are_of_cells_that_exist() -> None:
    assert played().keys() <= {str(cell) for cell in cells()}
    assert {*played().values()} <= {*OUTCOMES, FAILS}


def test_a_sample_is_the_beginning_of_a_larger_one_and_meets_every_resource_and_fault() -> None:
    some = sample(300, seed=1)
    assert sample(400, seed=1)[:300] == some
    assert {cell.resource for cell in some} == {cell.resource for cell in cells()}
    assert {cell.fault for cell in some} == {cell.fault for cell in cells()}
