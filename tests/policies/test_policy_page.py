"""docs/policies.md says what the rules say."""

from __future__ import annotations

import pytest
from tpuplane_policies.core.registry import rules
from tpuplane_policies.page import PAGE, page

pytestmark = pytest.mark.policies


def test_the_page_is_what_the_rules_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tpuplane_policies.page` in policies/"


def test_every_rule_has_an_id_of_its_own() -> None:
    assert len({rule.id for rule in rules()}) == len(rules())
