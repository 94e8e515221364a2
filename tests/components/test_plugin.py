"""The package as a component plugin: its schema, and how values and rejections pass through the host."""

from __future__ import annotations

import json
from typing import Any

import pulumi
import pytest
import tpuplane
from pulumi.provider import ConstructResult
from tpuplane.plugin import PlatformProvider
from tpuplane.plugin.provider import components

from tests.support.components.deployment import Deployment, Inputs, deploy, known

pytestmark = pytest.mark.components


@pytest.fixture(scope="module")
def provider() -> PlatformProvider:
    return PlatformProvider()


@pytest.fixture(scope="module")
def schema(provider: PlatformProvider) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(provider.schema or "")
    return found


def test_every_exported_component_is_offered(schema: dict[str, Any]) -> None:
    assert {name.rpartition(":")[2] for name in schema["resources"]} == {
        component.__name__ for component in components()
    }
    assert tpuplane.Platform in components()


def test_nothing_is_without_a_type_or_a_description(schema: dict[str, Any]) -> None:
    parts = [*schema["resources"].items(), *schema["types"].items()]
    assert [name for name, part in parts if not part.get("description")] == []
    for name, part in parts:
        for field, entry in {**part.get("properties", {}), **part.get("inputProperties", {})}.items():
            assert entry.get("type") or entry.get("$ref"), (name, field)
            assert entry.get("$ref") != "pulumi.json#/Any", (name, field)
            assert entry.get("description"), (name, field)
            if entry.get("type") == "object":
                assert entry["additionalProperties"], (name, field)


def test_outputs_need_no_other_packages_schema(schema: dict[str, Any]) -> None:
    """A reference to Google's or Kubernetes' resources would make every user load those schemas."""
    assert not schema.get("dependencies")


def construct(provider: PlatformProvider, kind: str, name: str, inputs: Inputs) -> tuple[Deployment, ConstructResult]:
    made: list[ConstructResult] = []
    deployed = deploy(lambda: made.append(provider.construct(name, f"tpuplane:index:{kind}", inputs)))
    return deployed, made[0]


def test_numbers_that_arrive_as_floats_are_whole(provider: PlatformProvider, lab: Inputs) -> None:
    pools = lab["clusters"]["central1"]["pools"]
    pools["trainer"] |= {"slices": 2.0, "diskSizeGb": 120.0, "maxPodsPerNode": 16.0}
    deployed, result = construct(provider, "Platform", "platform", lab)
    pool = deployed.one(":NodePool", "platform-central1-trainer-1").inputs
    assert (pool["nodeConfig"]["diskSizeGb"], pool["maxPodsPerNode"]) == (120, 16)
    assert result.state["nodePools"]["central1"]["trainer"]["slices"] == 2


def test_outputs_are_spelled_as_the_schema_says(
    provider: PlatformProvider, schema: dict[str, Any], lab: Inputs
) -> None:
    _, result = construct(provider, "Platform", "platform", lab)
    assert set(result.state) == set(schema["resources"]["tpuplane:index:Platform"]["properties"])
    summary = schema["types"]["tpuplane:index:NodePoolSummary"]["properties"]
    assert set(result.state["nodePools"]["central1"]["trainer"]) == set(summary)


def test_a_rejection_names_the_inputs_as_the_program_spells_them(provider: PlatformProvider, lab: Inputs) -> None:
    lab["clusters"]["central1"]["pools"]["trainer"] |= {"diskSizeGb": 1.5, "topology": "4x5"}
    with pytest.raises(pulumi.InputPropertiesError) as rejection:
        construct(provider, "Platform", "platform", lab)
    assert [error["property_path"] for error in rejection.value.errors or ()] == [
        "clusters.central1.pools.trainer.diskSizeGb",
        "clusters.central1.pools.trainer.topology",
    ]


def test_an_advised_field_is_one_that_the_plugin_accepts(provider: PlatformProvider, lab: Inputs) -> None:
    lab["clusters"]["central1"]["pools"]["trainer"]["networkTags"] = "a"
    with pytest.raises(pulumi.InputPropertiesError) as rejection:
        construct(provider, "Platform", "platform", lab)
    (error,) = rejection.value.errors or ()
    assert error["reason"] == "'a' is not a list; write networkTags: [a]"


def test_what_is_not_known_yet_cannot_shape_the_plan(provider: PlatformProvider, lab: Inputs) -> None:
    lab["clusters"]["central1"]["pools"]["trainer"]["topology"] = known("4x4")
    with pytest.raises(pulumi.InputPropertiesError) as rejection:
        construct(provider, "Platform", "platform", lab)
    (error,) = rejection.value.errors or ()
    assert error["property_path"] == "clusters.central1.pools.trainer.topology"
    assert error["reason"].startswith("is a Pulumi output")


def test_a_cluster_may_have_outputs_but_not_be_one(provider: PlatformProvider) -> None:
    pool: Inputs = {"generation": "v6e", "topology": "4x4", "slices": 2.0}
    cluster: Inputs = {"project": "acme-ml", "location": "us-central1", "serviceAccount": "n@a.iam.gserviceaccount.com"}
    cluster["name"] = known("theirs")
    deployed, result = construct(provider, "TpuNodePool", "trainer", {"cluster": cluster, **pool})
    assert {resource.inputs["cluster"] for resource in deployed.all(":NodePool")} == {"theirs"}
    assert result.state["chips"] == 32
    whole = known(cluster)
    with pytest.raises(pulumi.InputPropertyError) as rejection:
        construct(provider, "TpuNodePool", "trainer", {"cluster": whole, **pool})
    assert rejection.value.property_path == "cluster"
    assert "write the fields instead" in rejection.value.reason


@pytest.mark.parametrize(
    ("part", "field", "hint"),
    [
        ("", "teamz", "; nearest: teams"),
        ("clusters.central1", "deletionProtecton", "; nearest: deletionProtection"),
        ("clusters.central1", "deletion_protection", "; nearest: deletionProtection"),
        ("clusters.central1.pools.trainer", "xyz", ""),
    ],
)
def test_an_unknown_input_is_rejected(
    provider: PlatformProvider, lab: Inputs, part: str, field: str, hint: str
) -> None:
    found = lab
    for key in filter(None, part.split(".")):
        found = found[key]
    found[field] = False
    with pytest.raises(pulumi.InputPropertyError) as rejection:
        construct(provider, "Platform", "platform", lab)
    assert rejection.value.property_path == ".".join(filter(None, (part, field)))
    reason = rejection.value.reason
    assert reason.startswith("unknown field; allowed: ")
    assert ("nearest" in reason, reason.endswith(hint)) == (hint != "", True)
    found[field] = None  # as a program writes an input that it omits
    construct(provider, "Platform", "platform", lab)


def test_an_entry_without_fields_is_rejected(provider: PlatformProvider, lab: Inputs) -> None:
    lab["clusters"]["central1"]["pools"]["trainer"] = None
    with pytest.raises(pulumi.InputPropertyError) as rejection:
        construct(provider, "Platform", "platform", lab)
    assert rejection.value.property_path == "clusters.central1.pools.trainer"
    assert rejection.value.reason == "nothing is not an object; write its fields, or remove it"
