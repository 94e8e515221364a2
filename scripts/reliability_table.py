"""The figures of docs/reliability.md, between `<!-- generated: matrix -->` and `<!-- end -->`."""

from collections import Counter
from collections.abc import Mapping

from scripts.field_tables import markdown_table, with_regions
from tests.support.matrix.grid import FAILS, OUTCOMES, Cell, cells

_OUTCOMES = (*OUTCOMES, FAILS)


def with_figures(page: str, outcomes: Mapping[str, str]) -> str:
    """The page with the outcomes of the cells by fault. `outcomes` has those of the cells that were played."""
    rows = [_row("all", cells(), outcomes)]
    for fault in dict.fromkeys(cell.fault for cell in cells()):
        rows.append(_row(fault, [cell for cell in cells() if cell.fault == fault], outcomes))
    table = markdown_table(("fault", "cells", "played", *_OUTCOMES), rows)
    failed = [f"- {cell}" for cell in map(str, cells()) if outcomes.get(cell) == FAILS]
    listed = "\n".join(("These cells fail:", "", *failed)) if failed else "No cell that was played fails."
    return with_regions(page, {"matrix": f"{table}\n{listed}\n"}.__getitem__)


def _row(name: str, those: list[Cell], outcomes: Mapping[str, str]) -> list[str]:
    counts = Counter(outcomes[cell] for cell in map(str, those) if cell in outcomes)
    return [name, *map(str, (len(those), counts.total(), *(counts[outcome] for outcome in _OUTCOMES)))]
