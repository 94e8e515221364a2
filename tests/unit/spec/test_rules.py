"""Every rule of the spec by its row of `rules.yaml`: the right side is taken, the wrong one refused in these words."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.plan import plan
from tpuplane.spec import PlatformSpec, SpecError
from tpuplane.spec.rules import rules
from tpuplane.tpu import catalogue

pytestmark = pytest.mark.unit

ROWS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("rules.yaml").read_text())
RESERVATIONS = {
    "nightly": {"generation": "v6e", "zone": "us-central1-b", "chips": 64, "maintenanceInterval": "PERIODIC"},
    "tomorrow": {"generation": "v6e", "zone": "us-central1-b", "chips": 64, "active": False},
}
BASE: dict[str, Any] = {
    "name": "lab",
    "project": "tpuplane-lab",
    "reservations": RESERVATIONS,
    "clusters": {"main": {"location": "us-central1", "pools": {"trainer": {}}}},
}


def described(*sides: dict[str, Any]) -> dict[str, Any]:
    """The base with each side of a row laid over it."""
    whole = copy.deepcopy(BASE)
    cluster = whole["clusters"]["main"]
    for side in sides:
        for part, at in (("platform", whole), ("cluster", cluster), ("pool", cluster["pools"]["trainer"])):
            at.update(copy.deepcopy(side.get(part, {})))
    pool = cluster["pools"]["trainer"]
    cluster["pools"]["trainer"] = {field: value for field, value in pool.items() if value is not None}
    return whole


@pytest.mark.parametrize("row", ROWS, ids=[row["rule"] for row in ROWS])
def test_the_right_side_is_planned_and_the_wrong_one_refused(row: dict[str, Any]) -> None:
    assert plan(PlatformSpec.parse(described(row["right"])))
    with pytest.raises(SpecError) as refused:
        PlatformSpec.parse(described(row["right"], row["wrong"]))
    found = {mistake.rule: str(mistake) for mistake in refused.value.mistakes}
    assert found[row["rule"]] == row["line"]


def test_every_rule_has_a_row_and_a_source() -> None:
    assert {row["rule"] for row in ROWS} == set(rules())
    for rule in rules().values():
        assert rule.sources
        assert set(rule.sources) <= set(catalogue().sources), rule.id
