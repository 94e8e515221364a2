"""Who owns what, what it is called, and what each component reports."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from typing import Any, cast

import pytest
from tpuplane import Platform, PlatformArgs

from tests.support.components.deployment import Deployment, deploy, deploy_platform

pytestmark = pytest.mark.components


def test_every_resource_belongs_to_a_component(deployed: Deployment) -> None:
    orphans = [
        registration.urn
        for registration in deployed.registrations.values()
        if registration.type != "tpuplane:index:Platform"
        and not ((owner := deployed.parent(registration)) and owner.type.startswith("tpuplane:index:"))
    ]
    assert orphans == []


def test_every_component_registers_its_outputs(deployed: Deployment) -> None:
    components = [
        registration for registration in deployed.registrations.values() if registration.type.startswith("tpuplane:")
    ]
    assert {component.type.rpartition(":")[2] for component in components} == {
        "Cluster",
        "Network",
        "NodeServiceAccount",
        "Platform",
        "SystemNodePool",
        "TpuNodePool",
    }
    assert [component.urn for component in components if not deployed.outputs(component)] == []


def test_names_say_platform_cluster_and_pool(deployed: Deployment) -> None:
    assert {pool.name for pool in deployed.all(":NodePool")} == {
        "platform-central1-system",
        "platform-central1-trainer-0",
        "platform-central1-trainer-1",
        "platform-central1-burst-0",
        "platform-central1-burst-1",
        "platform-central1-notebooks",
        "platform-central1-serving",
        "platform-central1-ironwood-0",
        "platform-central1-ironwood-eval-0",
        "platform-central2-system",
        "platform-central2-cubes-0",
    }


def test_two_platforms_share_a_stack(lab: dict[str, Any]) -> None:
    other = deepcopy(lab) | {"name": "prod"}
    both = deploy(lambda: (Platform("a", cast(PlatformArgs, lab)), Platform("b", cast(PlatformArgs, other))))
    made = Counter(
        (resource.type, resource.inputs.get("name"))
        for resource in both.custom()
        if resource.type.startswith("gcp:compute")
    )
    assert made.most_common(1)[0][1] == 1
    assert len(both.all(":NodePool")) == 2 * len(deploy_platform(lab).all(":NodePool"))


def test_explicit_names_are_deleted_before_they_are_replaced(deployed: Deployment) -> None:
    """Google rejects a second resource of the same name, so the default order could never work."""
    named = [
        resource
        for resource in deployed.custom()
        if resource.type.startswith("gcp:") and {"name", "accountId"} & resource.inputs.keys()
    ]
    assert len(named) > 20
    assert [resource.urn for resource in named if not resource.request.deleteBeforeReplace] == []


def test_the_platform_reports_clusters_pools_and_kubeconfigs(deployed: Deployment) -> None:
    outputs = deployed.outputs(deployed.one(":Platform"))
    assert outputs["clusters"]["central2"] == {
        "name": "lab-central2",
        "location": "us-central2-b",
        "endpoint": "lab-central2.example",
    }
    assert outputs["nodePools"]["central1"]["trainer"] == {
        "shape": "v6e 4x4",
        "names": ["trainer-0", "trainer-1"],
        "slices": 2,
        "hosts": 8,
        "chips": 32,
    }
    assert outputs["nodePools"]["central1"]["serving"] == {
        "shape": "v6e 1x1",
        "names": ["serving"],
        "slices": 5,
        "hosts": 5,
        "chips": 5,
    }
    assert outputs["kubeconfigs"].keys() == {"central1", "central2"}
