"""Arguments of components in a program: their spellings, None, and the cluster."""

from __future__ import annotations

from typing import Any, cast

import pulumi
import pytest
from tpuplane import (
    ComputeClass,
    ExistingCluster,
    GpuNodePool,
    Multislice,
    Network,
    SpecError,
    SystemNodePool,
    TpuNodePool,
)

from tests.support.components.deployment import deploy
from tests.support.components.every_part import REF

pytestmark = pytest.mark.components

V6E = {"generation": "v6e", "topology": "2x2"}


@pytest.mark.parametrize(
    ("kind", "args"),
    [
        (Network, {"project": "acme-ml", "subnets": {"east": {"region": "us-east5"}}, "network_name": None}),
        (TpuNodePool, {"cluster": REF, **V6E, "pool_name": None, "labels": None}),
        (Multislice, {**V6E, "namespace": "research", "image": "x:1", "command": ["a"], "env": None, "zone": None}),
    ],
)
def test_an_argument_that_is_none_counts_as_omitted(kind: Any, args: dict[str, Any]) -> None:
    def inputs(given: dict[str, Any]) -> dict[str, Any]:
        return {resource.name: resource.inputs for resource in deploy(lambda: kind("mine", given)).custom()}

    assert inputs(args) == inputs({key: value for key, value in args.items() if value is not None})


@pytest.mark.parametrize(
    ("whole", "message"),
    [
        (lambda: pulumi.Output.from_input(REF), "is an output as a whole; pass a mapping, in which location is "),
        (lambda: ExistingCluster("theirs", REF), "is the cluster itself; pass its ref"),
        (lambda: "theirs", "required: location, name, project, service_account"),
    ],
)
def test_a_cluster_that_is_not_a_mapping_is_rejected_with_the_cause(whole: Any, message: str) -> None:
    with pytest.raises(SpecError, match=f"^TpuNodePool x: cluster: {message}"):
        deploy(lambda: TpuNodePool("x", cast(Any, {"cluster": whole(), "generation": "v6e", "topology": "4x4"})))


@pytest.mark.parametrize(
    ("kind", "args", "at"),
    [(ExistingCluster, REF, "name"), (TpuNodePool, {"cluster": REF, **V6E, "zone": "us-central1-b"}, "cluster.name")],
)
def test_a_coroutine_is_rejected_because_several_resources_read_the_value(kind: Any, args: Any, at: str) -> None:
    async def called() -> str:
        return "theirs"

    name = called()
    args = {**args, "cluster": {**REF, "name": name}} if "cluster" in args else {**args, "name": name}
    with pytest.raises(SpecError, match=rf"^{kind.__name__} x: {at}: is a coroutine, .*; pass it in pulumi.Output"):
        deploy(lambda: kind("x", args))
    with pytest.raises(SpecError, match=r"^TpuNodePool x: topology: .* is not a string"):
        deploy(lambda: TpuNodePool("x", {"cluster": REF, **V6E, "topology": name}))  # type: ignore[typeddict-item]
    name.close()


def test_an_exported_reference_is_that_of_a_cluster_in_another_stack() -> None:
    """A stack's output has plain values in place of objects."""
    exported: Any = {**REF, "multi_networking": False, "default_compute_class": False, "guard": {"protected": True}}
    args: Any = {"cluster": exported, "generation": "v6e", "topology": "4x4", "zone": "us-central1-b"}
    assert deploy(lambda: TpuNodePool("x", args)).one(":NodePool").inputs["cluster"] == "theirs"


@pytest.mark.parametrize(
    ("kind", "args"),
    [
        (SystemNodePool, {"poolName": "theirs"}),
        (TpuNodePool, {"poolName": "theirs", "generation": "v6e", "topology": "2x2", "zone": "us-central1-b"}),
        (GpuNodePool, {"poolName": "theirs", "accelerator": "nvidia-l4", "zones": ["us-central1-a"]}),
        (ComputeClass, {"className": "theirs", "priorities": [{"nodepools": ["theirs"]}]}),
    ],
)
def test_a_name_can_be_spelled_as_in_a_file(kind: Any, args: dict[str, Any]) -> None:
    (made,) = deploy(lambda: kind("x", {"cluster": REF, **args})).custom()
    inputs = made.inputs
    assert inputs.get("name", inputs.get("metadata", {}).get("name")) == "theirs"
