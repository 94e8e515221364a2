"""The page of users' complaints names tests that are there, and that run."""

from __future__ import annotations

import re

import pytest

from tests.support import REPOSITORY
from tests.support.named_tests import assert_runs

pytestmark = pytest.mark.unit

PAGE = REPOSITORY / "docs" / "user-issues.md"
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if re.match(r"\| \d+ \|", line)
]
NAMED = [name for row in ROWS for name in re.findall(r"`(tests/[^`]+)`", row[3])]


def test_every_complaint_has_its_row() -> None:
    assert [int(row[0]) for row in ROWS] == list(range(1, 28))
    for number, complaint, hurts, tests in ROWS:
        assert re.search(r"\[[^]]+\]\(https://github\.com/[^)]+\)", complaint), number
        assert hurts, number
        assert tests.startswith("`tests/") or re.match(r"none: .{40,}", tests), (
            f"{number}: a test, or why there is none"
        )


def test_few_complaints_go_without_a_test() -> None:
    assert [row[0] for row in ROWS if row[3].startswith("none")] in ([], ["12"])


@pytest.mark.parametrize("named", NAMED)
def test_a_named_test_is_there_and_runs(named: str) -> None:
    assert_runs(named)
