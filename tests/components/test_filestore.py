"""Filestore: an instance in the network of its teams, and the claims with which their pods mount it."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane.diff import diff
from tpuplane.plan import plan
from tpuplane.preflight.needs import needs
from tpuplane.spec import parse_platform

from tests.support.components.deployment import deploy_platform
from tests.support.diff.every_field import platform, with_value

pytestmark = pytest.mark.components

HOME = ("storage", "filestore", "home")


def test_an_instance_is_connected_to_the_network_of_its_teams() -> None:
    deployed = deploy_platform(platform("company"))
    (instance,) = (found for found in deployed.all("filestore/instance:Instance") if found.name.endswith("-home"))
    assert instance.inputs["name"] == "company-home"
    assert (instance.inputs["location"], instance.inputs["tier"]) == ("us-east5-a", "BASIC_HDD")
    assert instance.inputs["fileShares"] == {"name": "share", "capacityGb": 2560}
    (network,) = instance.inputs["networks"]
    assert network == {"network": "company", "modes": ["MODE_IPV4"], "connectMode": "DIRECT_PEERING"}
    assert instance.request.deleteBeforeReplace
    assert deployed.one("compute/network:Network").urn in instance.request.dependencies


def test_teams_mount_an_instance_where_the_cluster_has_the_driver() -> None:
    deployed = deploy_platform(platform("company"))
    volumes = {found.inputs["metadata"]["name"]: found.inputs["spec"] for found in deployed.all(":PersistentVolume")}
    own = {name: spec for name, spec in volumes.items() if spec["csi"]["driver"] == "filestore.csi.storage.gke.io"}
    assert {(name, spec["accessModes"][0]) for name, spec in own.items()} >= {
        ("product.home", "ReadOnlyMany"),
        ("research.home", "ReadWriteMany"),
        ("product.notes", "ReadWriteMany"),
    }
    assert own["research.home"]["csi"] == {
        "driver": "filestore.csi.storage.gke.io",
        "volumeHandle": "modeInstance/us-east5-a/company-home/share",
        "volumeAttributes": {"volume": "share", "ip": "10.0.16.2"},
    }
    assert own["product.home"]["csi"]["readOnly"]


@pytest.mark.parametrize(
    ("field", "value", "done"),
    [
        ("capacityGib", 2561, set()),
        ("tier", "BASIC_SSD", {"replaced"}),  # another instance has another address
        ("share", "files", {"replaced"}),
        ("name", "files", {"replaced"}),
    ],
)
def test_diff_names_the_claims_of_an_instance_that_is_replaced(field: str, value: Any, done: set[str]) -> None:
    before = platform("company")
    after = with_value(before, (*HOME, field), value)
    (change,) = diff(parse_platform(before), parse_platform(after)).changes
    assert {claim.done for claim in change.claims} == done
    assert {claim.claim for claim in change.claims} == ({"home"} if done else set())


def test_the_needs_have_the_api_of_filestore() -> None:
    needed = needs(plan(parse_platform(platform("company"))))
    assert "file.googleapis.com" in needed.apis
    assert "file.instances.create" in needed.role["includedPermissions"]
