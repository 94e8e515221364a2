"""The tables of docs/fidelity.md, between `<!-- generated: NAME -->` and `<!-- end -->`, from scripts/data."""

from collections import Counter
from pathlib import Path
from typing import Any

from tpuplane.data_files import read_yaml

from scripts.field_tables import markdown_table, with_regions

_COLUMNS = {
    "behaviours": ("behaviour", "simulated", "missing", "source", "sure", "tests"),
    "cases": ("case", "expected", "suite", "answer", "tests"),
    "incidents": ("incident", "link", "shown", "tests"),
}
ANSWERS = {"same": "the same", "real": "the real controller answers", "differs": "**another**", "none": "not simulated"}


def rows_of(name: str) -> list[dict[str, Any]]:
    """The rows of `behaviours`, `cases` or `incidents`."""
    return list(read_yaml(Path(__file__).parent / "data" / f"{name}.yaml"))


def with_fidelity(page: str) -> str:
    """The page with its tables."""
    return with_regions(page, _table)


def _table(name: str) -> str:
    if name == "counts":
        answers = Counter(row["answer"] for row in rows_of("cases"))
        tested = Counter(row["answer"] for row in rows_of("cases") if "tests" in row)
        counts = [(text, str(answers[answer]), str(tested[answer])) for answer, text in ANSWERS.items()]
        return markdown_table(("answer of the twin", "cases", "with a test here"), counts)
    columns = _COLUMNS[name]
    return markdown_table(columns, [[_cell(row, column) for column in columns] for row in rows_of(name)])


def _cell(row: dict[str, Any], column: str) -> str:
    match column:
        case "tests":
            return ", ".join(f"`tests/{test}`" for test in row.get("tests", ())) or "none"
        case "answer":
            return ": ".join(filter(None, (ANSWERS[row["answer"]], row.get("why"))))
        case "link":
            repository, number = row["link"].split("#")
            return f"[{row['link']}](https://github.com/{repository}/{row['kind']}/{number})"
        case _:
            return str(row[column])
