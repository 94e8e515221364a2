"""Each line of docs/fidelity.md names tests that exist, or says why there is none."""

from __future__ import annotations

import pytest

from scripts.fidelity_tables import ANSWERS, rows_of
from tests.support.named_tests import assert_exists

pytestmark = pytest.mark.unit

ROWS = [row for name in ("behaviours", "cases", "incidents") for row in rows_of(name)]


@pytest.mark.parametrize("named", sorted({test for row in ROWS for test in row.get("tests", ())}))
def test_a_named_test_exists(named: str) -> None:
    assert_exists(f"tests/{named}")


def test_each_cell_is_text() -> None:
    """An unquoted comma would begin another cell."""
    assert [
        row for row in ROWS if not all(isinstance(cell, str) for name, cell in row.items() if name != "tests")
    ] == []


def test_each_behaviour_has_a_test_a_source_and_what_is_missing() -> None:
    for row in rows_of("behaviours"):
        assert row["tests"], row
        assert row["source"], row
        assert row["missing"], row
        assert row["sure"] in ("documented", "source", "measured", "not published", "real"), row


def test_each_published_case_has_an_answer_with_a_test_or_a_reason() -> None:
    cases = rows_of("cases")
    assert len(cases) == 65
    for row in cases:
        assert row["answer"] in ANSWERS, row
        assert row["answer"] != "same" or row.get("tests"), row
        assert row["answer"] not in ("differs", "none") or row.get("why"), row


def test_each_incident_says_what_the_twin_shows() -> None:
    incidents = rows_of("incidents")
    assert len({row["link"] for row in incidents}) == len(incidents) == 30
    for row in incidents:
        assert row.get("tests") or row["shown"].startswith("not shown") or row["shown"].endswith("no test"), row
