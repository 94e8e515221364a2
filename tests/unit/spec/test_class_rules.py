"""Each rule of compute classes by its rows of `class_rules.yaml`: the right side is planned, the wrong one rejected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.plan import plan
from tpuplane.spec import SpecError, parse_platform
from tpuplane.spec.core.rules import rules

from tests.support.spec.class_rules import NAMES, ROWS, described

pytestmark = pytest.mark.unit

GKE_CASES: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parents[2] / "twin" / "cluster" / "compute_classes.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_the_right_side_is_planned(row: dict[str, Any]) -> None:
    assert plan(parse_platform(described(row["right"]))).clusters[0].compute_classes


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_the_wrong_side_is_rejected(row: dict[str, Any]) -> None:
    with pytest.raises(SpecError) as rejected:
        parse_platform(described(row["wrong"]))
    found = {str(mistake): mistake.rule for mistake in rejected.value.mistakes}
    assert row["line"] in found
    if row["rule"] in rules():
        assert found[row["line"]] == row["rule"]


def test_a_class_that_another_cluster_may_satisfy_can_leave_this_one() -> None:
    elsewhere = [row for row in ROWS if row["rule"] in rules() and rules()[row["rule"]].elsewhere]
    assert elsewhere
    for row in elsewhere:
        platform = described(row["wrong"])
        platform["clusters"]["other"] = {"location": "us-east5"}
        with pytest.raises(SpecError) as rejected:
            parse_platform(platform)
        ends = ", or list under clusters only the clusters other than main"
        assert f"{row['line']}{ends}" in map(str, rejected.value.mistakes)


def test_a_pool_of_a_class_of_other_clusters() -> None:
    platform = described(next(row["right"] for row in ROWS if row["rule"] == "class-pool-known"))
    platform["clusters"]["other"] = {"location": "us-east5"}
    platform["classes"]["main"]["clusters"] = ["other"]
    with pytest.raises(SpecError) as rejected:
        parse_platform(platform)
    [mistake] = [mistake.message for mistake in rejected.value.mistakes if mistake.rule == "class-pool-known"]
    assert mistake.endswith("; allowed: none is declared; add main to classes.main.clusters")


def test_every_rule_has_a_row() -> None:
    assert {rule for rule in rules() if rule.startswith("class-")} <= {row["rule"] for row in ROWS}


def test_gke_rejects_what_its_definition_can_know() -> None:
    cases = {row["gke"] for row in ROWS if "gke" in row}
    assert len(cases) > 35
    assert [case for case in cases if not GKE_CASES[case].get("rejected")] == []


@pytest.mark.parametrize(
    ("location", "generation", "ways"),
    [
        ("us-east5", "v6e", ["spot", "flex-start", "reservation own"]),
        ("us-central1", "v6e", ["spot", "reservation own"]),  # no zone there sells it flex-start
        ("us-central2-b", "v4", ["spot", "reservation own"]),  # nobody does
    ],
)
def test_a_preset_leaves_out_what_is_not_available(location: str, generation: str, ways: list[str]) -> None:
    zone = {"us-east5": "us-east5-b", "us-central1": "us-central1-b"}.get(location, location)
    tpu = {"type": generation, "topology": "2x2x2" if generation == "v4" else "4x4"}
    spec = {
        "name": "lab",
        "project": "tpuplane-lab",
        "reservations": {"own": {"generation": generation, "zone": zone, "chips": 16}},
        "classes": {"main": {"preset": "cost-optimized", "tpu": tpu, "reservation": {"name": "own"}}},
        "clusters": {"main": {"location": location}},
    }
    (planned,) = plan(parse_platform(spec)).clusters[0].compute_classes
    assert [priority.capacity for priority in planned.priorities] == ways
