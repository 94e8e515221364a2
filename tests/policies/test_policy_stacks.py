"""The project's own stacks under their own config; and one changed line, which the gate finds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tpuplane_policies.core.config import SHIPPED, read

from tests.support.components.deployment import shipped
from tests.support.first_repository import first_repository
from tests.support.multi_kueue import multi_kueue_platform
from tests.support.policies.judging import judged

pytestmark = pytest.mark.policies

ROOT = Path(__file__).parents[2]
Description = dict[str, Any]


def description(stack: str) -> Description:
    return shipped(ROOT / "stacks" / f"Pulumi.{stack}.yaml")


def policies(stack: str) -> Any:
    return read(SHIPPED / f"{stack}.json")


@pytest.mark.parametrize("stack", ["local", "dev", "staging", "prod"])
def test_a_stack_is_clean_under_its_config(stack: str) -> None:
    assert [finding.message for finding in judged(policies(stack), description(stack))] == []


@pytest.mark.parametrize("environment", ["dev", "prod"])
@pytest.mark.parametrize(
    "answers",
    [
        {},
        {"topology": "4x4", "slices": "2"},
        {"slices": "0-2", "capacity": "spot"},
        {"slices": "0-1", "capacity": "flex-start", "location": "us-east5", "zone": "us-east5-b"},
        {"capacity": "reservation", "reservation": "ours", "reserved_chips": "8"},
        {"location": "us-central2-b", "generation": "v4", "topology": "2x2x2"},
    ],
    ids=str,
)
def test_a_first_repository_is_clean_under_its_config(
    environment: str, answers: dict[str, str], tmp_path: Path
) -> None:
    content = first_repository(**answers).content
    stack = tmp_path / "Pulumi.yaml"
    stack.write_text(content[f"stacks/Pulumi.{environment}.yaml"])
    config = json.loads(content[f"policies/config/{environment}.json"])
    assert [finding.message for finding in judged(config, shipped(stack))] == []


def public(platform: Description) -> None:
    platform["clusters"]["central"]["controlPlane"]["publicEndpoint"] = True


def no_protection(platform: Description) -> None:
    platform["clusters"]["central"]["deletionProtection"] = False


def no_cost_center(platform: Description) -> None:
    del platform["labels"]["cost-center"]


def many_more(platform: Description) -> None:
    platform["clusters"]["central"]["pools"]["pretrain"]["slices"] = 12


def no_repair(platform: Description) -> None:
    platform["clusters"]["central"]["pools"]["pretrain"]["autoRepair"] = False


def warm_on_demand(platform: Description) -> None:
    overnight = platform["clusters"]["lab"]["pools"]["overnight"]
    del overnight["capacity"], overnight["flexStart"]
    overnight["autoscaling"]["minSlices"] = 1


def more_than_a_laboratory(platform: Description) -> None:
    platform["clusters"]["lab"]["pools"]["overnight"]["autoscaling"]["maxSlices"] = 3
    platform["clusters"]["lab"]["autoProvisioning"]["limits"]["tpu"]["v6e"] = 68


def many_gpus(platform: Description) -> None:
    platform["clusters"]["central"]["gpuPools"]["open-models"]["autoscaling"]["maxNodes"] = 32


def warm_gpus(platform: Description) -> None:
    platform["clusters"]["central"]["gpuPools"]["small-models"].pop("capacity")
    platform["clusters"]["central"]["gpuPools"]["small-models"]["autoscaling"]["minNodes"] = 1


@pytest.mark.parametrize(
    ("stack", "change", "rules_broken", "said"),
    [
        ("prod", public, {"GKE002"}, "platform-central: privateClusterConfig.enablePrivateEndpoint is false"),
        ("prod", no_protection, {"GKE022", "PRJ010"}, "deletionProtection is false"),
        ("prod", no_cost_center, {"GKE021"}, "resourceLabels.cost-center is not set"),
        ("prod", many_more, {"TPU012", "TPU013"}, "chips; the stack's budget is 4096"),
        ("prod", many_gpus, {"TPU012"}, "GPUs; the stack's budget is 96"),
        ("staging", warm_gpus, {"TPU014"}, "autoscaling.minNodeCount is 1: on-demand GPUs"),
        ("prod", no_repair, {"GKE012"}, "platform-central-pretrain-0: management.autoRepair is false"),
        ("dev", warm_on_demand, {"TPU014"}, "autoscaling.minNodeCount is 4: on-demand chips"),
        ("dev", more_than_a_laboratory, {"TPU012"}, "chips; the stack's budget is 96"),
    ],
    ids=lambda parameter: parameter.__name__ if callable(parameter) else None,
)
def test_one_changed_line_fails_the_gate(
    stack: str, change: Callable[[Description], None], rules_broken: set[str], said: str
) -> None:
    platform = description(stack)
    change(platform)
    found = judged(policies(stack), platform)
    assert any(said in finding.message for finding in found), [finding.message for finding in found]
    assert {finding.rule.id for finding in found} == rules_broken


def test_an_add_on_that_no_stack_has_is_clean_too() -> None:
    platform = description("prod")
    addons = platform["clusters"]["central"]["addons"]
    addons["monitoring"] = {"frontend": {"image": f"mirror.example/frontend@sha256:{'0' * 64}"}}
    (team, *_) = (name for name, candidate in platform["teams"].items() if "central" in candidate["clusters"])
    addons["launchAgent"] = {"queues": ["tpu"], "teams": [team]}
    assert [finding.message for finding in judged(policies("prod"), platform)] == []


def test_the_queues_of_a_multikueue_manager_need_no_pools() -> None:
    assert judged({"all": "disabled", "KQ001": "mandatory", "KQ002": "mandatory"}, multi_kueue_platform()) == []
