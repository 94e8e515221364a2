"""docs/security.md names tests that exist."""

from __future__ import annotations

import re

import pytest

from tests.support import REPOSITORY
from tests.support.named_tests import assert_exists

pytestmark = pytest.mark.unit

NAMED = re.findall(r"`(tests/[^`]+)`", (REPOSITORY / "docs/security.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("named", NAMED)
def test_each_threat_has_tests(named: str) -> None:
    assert_exists(named)
