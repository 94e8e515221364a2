"""The outputs in the documentation are those of today's commands."""

from __future__ import annotations

import pytest

from scripts import refresh_docs

pytestmark = pytest.mark.unit


def test_no_output_in_the_documentation_is_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(refresh_docs.ROOT)
    assert refresh_docs.stale() == [], "run python scripts/refresh_docs.py"
