"""The records of decisions: each has its date, context, decision and consequence, and a row in the list."""

from __future__ import annotations

import re

import pytest

from tests.support import REPOSITORY

pytestmark = pytest.mark.unit

FOLDER = REPOSITORY / "docs/decisions"
RECORDS = sorted(FOLDER.glob("[0-9]*.md"))
FORM = re.compile(
    r"# (?P<title>.+)\n\n(?P<date>20\d\d-\d\d-\d\d)\n\n## Context\n\n.+\n\n## Decision\n\n.+\n\n## Consequence\n\n.+\n",
    re.DOTALL,
)


def test_the_list_has_each_record_with_its_date_in_order() -> None:
    rows = []
    for number, path in enumerate(RECORDS, 1):
        record = FORM.fullmatch(path.read_text(encoding="utf-8"))
        assert record, f"{path.name}: title, date, Context, Decision, Consequence"
        assert path.name.startswith(f"{number:04}-"), f"{path.name} is record {number}"
        rows.append(f"| {record['date']} | [{record['title']}]({path.name}) |")
    table = (FOLDER / "README.md").read_text(encoding="utf-8").partition("|---|---|\n")[2]
    assert table.splitlines() == rows
    assert [row[:14] for row in rows] == sorted(row[:14] for row in rows)
