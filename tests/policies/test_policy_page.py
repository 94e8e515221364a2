"""docs/policies.md says what the rules say, and the stacks' config says nothing that the pack does not know."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
import yaml
from pulumi_policy import EnforcementLevel
from tpuplane_policies.core.registry import rules
from tpuplane_policies.pack import policies
from tpuplane_policies.page import PAGE, page

pytestmark = pytest.mark.policies

CONFIG = Path(__file__).parents[2] / "policies" / "config"
TOOLS = Path(__file__).parents[2] / "twin" / "tpuplane_twin" / "tools" / "tools.yaml"


def test_the_page_is_what_the_rules_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tpuplane_policies.page` in policies/"


def test_there_are_as_many_rules_as_promised() -> None:
    assert len(rules()) >= 60
    assert len({rule.id for rule in rules()}) == len(rules())


@pytest.mark.parametrize("path", sorted(CONFIG.glob("*.json")), ids=lambda path: path.stem)
def test_a_config_sets_only_what_there_is(path: Path) -> None:
    known = {policy.name: policy for policy in policies()}
    plan_rules = {rule.id: rule for rule in rules() if rule.plan_checks}
    for name, setting in json.loads(path.read_text()).items():
        assert name in known or name in plan_rules
        if isinstance(setting, str):
            assert EnforcementLevel(setting)
            continue
        schema = known[name].config_schema
        assert schema is not None
        assert set(setting) - {"enforcementLevel"} <= set(schema.properties)
        for exemption in setting.get("exemptions", []):
            assert exemption["reason"].strip()
            assert date.fromisoformat(exemption["until"])


def test_the_versions_tested_together_are_the_twins() -> None:
    pinned = {it["name"]: it["version"] for it in yaml.safe_load(TOOLS.read_text())["sources"]}
    rule = next(it for it in rules() if it.id == "VER001")
    for chart, versions in rule.defaults["versions"].items():
        assert [f"v{it}" for it in versions] == [pinned[chart.removesuffix("-operator")]]
