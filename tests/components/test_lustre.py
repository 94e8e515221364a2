"""Managed Lustre instances, the access of their network and the volumes of teams, as the program registers them."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tpuplane.diff import diff
from tpuplane.plan import plan
from tpuplane.preflight import needs
from tpuplane.spec import parse_platform

from tests.support.components.deployment import Deployment, deploy_platform

pytestmark = pytest.mark.components

SUBNETWORK = "projects/acme-host/regions/us-central1/subnetworks/one"
SHARED: dict[str, Any] = {
    "name": "lab",
    "project": "acme-lab",
    "teams": {
        "research": {"namespaces": ["research", "evals"], "clusters": {"main": {"pools": {"trainer": {"slices": 1}}}}},
        "serving": {"clusters": {"main": {}, "plain": {}}},
    },
    "storage": {
        "lustre": {
            "scratch": {
                "zone": "us-central1-b",
                "capacityGib": 36000,
                "throughput": 500,
                "writers": ["research"],
                "readers": ["serving"],
            }
        }
    },
    "clusters": {
        "main": {
            "location": "us-central1",
            "addons": {"kueue": {}},
            "storage": {"lustre": True},
            "pools": {"trainer": {"generation": "v6e", "topology": "4x4", "zone": "us-central1-b"}},
        },
        "plain": {
            "location": "us-central1",
            "network": {"nodesCidr": "10.0.48.0/20", "podsCidr": "10.8.0.0/14", "servicesCidr": "10.0.64.0/20"},
            "addons": {"kueue": {}},
        },
    },
}


def inputs(deployed: Deployment, kind: str) -> Any:
    (found,) = (each.inputs for each in deployed.all(kind))
    return found


def test_an_instance_is_made_after_the_access_of_its_network() -> None:
    shared = copy.deepcopy(SHARED)
    shared["clusters"]["plain"]["network"]["proxiesCidr"] = "10.2.0.0/23"
    deployed = deploy_platform(shared)
    address, firewall = inputs(deployed, ":GlobalAddress"), inputs(deployed, ":Firewall")
    assert (address["purpose"], address["addressType"], address["prefixLength"]) == ("VPC_PEERING", "INTERNAL", 20)
    assert firewall["allows"] == [{"protocol": "tcp", "ports": ["988"]}]
    assert firewall["sourceRanges"] == ["10.128.0.0/20"]
    connection = deployed.one("servicenetworking/connection:Connection")
    assert connection.inputs["reservedPeeringRanges"] == ["lab-services"]
    instance = deployed.one(":Instance")
    assert instance.inputs["instanceId"] == "lab-scratch"
    assert instance.inputs["network"] == "projects/acme-lab/global/networks/lab"
    assert (instance.inputs["capacityGib"], instance.inputs["perUnitStorageThroughput"]) == ("36000", "500")
    assert instance.request.protect
    assert instance.request.deleteBeforeReplace
    assert connection.urn in instance.request.dependencies
    network = deployed.one("compute/network:Network")
    waits = deployed.one(":GlobalAddress").request.dependencies
    assert {network.urn, *(subnet.urn for subnet in deployed.all(":Subnetwork"))} <= set(waits)
    assert len(deployed.all(":Subnetwork")) == 3


def test_teams_mount_an_instance_where_the_cluster_has_the_driver() -> None:
    deployed = deploy_platform(SHARED)
    volumes = {found.inputs["metadata"]["name"]: found.inputs["spec"] for found in deployed.all(":PersistentVolume")}
    assert set(volumes) == {"research.scratch", "evals.scratch", "serving.scratch"}
    assert volumes["evals.scratch"] == {
        "capacity": {"storage": "1Ti"},
        "accessModes": ["ReadWriteMany"],
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "",
        "mountOptions": [],
        "claimRef": {"namespace": "evals", "name": "scratch"},
        "csi": {
            "driver": "lustre.csi.storage.gke.io",
            "volumeHandle": "acme-lab/us-central1-b/lab-scratch",
            "volumeAttributes": {"filesystem": "scratch", "ip": "10.128.0.2"},
        },
    }
    assert volumes["serving.scratch"]["csi"]["readOnly"]
    assert volumes["serving.scratch"]["accessModes"] == ["ReadOnlyMany"]
    assert {found.name.split("-")[1] for found in deployed.all(":PersistentVolumeClaim")} == {"main"}


def test_an_existing_network_has_its_own_access() -> None:
    described = copy.deepcopy(SHARED)
    shared = {"existing": {"network": "projects/acme-host/global/networks/shared", "subnetwork": SUBNETWORK}}
    described["clusters"]["main"]["network"] = shared
    deployed = deploy_platform(described)
    assert inputs(deployed, ":Instance")["network"] == "projects/acme-host/global/networks/shared"
    assert not deployed.all(":GlobalAddress")


@pytest.mark.parametrize(
    ("changed", "done"),
    [
        ({"capacityGib": 54000}, set()),
        ({"throughput": 250}, {"replaced"}),  # another instance has another address
        ({"filesystem": "other"}, {"replaced"}),
        ({"name": "other"}, {"replaced"}),
        (None, {"deleted"}),
    ],
)
def test_diff_names_the_claims_of_an_instance_that_is_replaced(changed: dict[str, Any] | None, done: set[str]) -> None:
    after = copy.deepcopy(SHARED)
    if changed is None:
        del after["storage"]["lustre"]["scratch"]
    else:
        after["storage"]["lustre"]["scratch"] |= changed
    (change,) = diff(parse_platform(SHARED), parse_platform(after)).changes
    assert {claim.done for claim in change.claims} == done
    claims = {f"{claim.namespace}/{claim.claim}" for claim in change.claims}
    assert claims == ({"research/scratch", "evals/scratch", "serving/scratch"} if done else set())


def test_the_needs_are_those_of_the_registered_types() -> None:
    needed = needs(plan(parse_platform(SHARED)))
    google = {each.type for each in deploy_platform(SHARED).registrations.values() if each.type.startswith("gcp:")}
    assert google - set(needed.types) == set()
    assert {"lustre.googleapis.com", "servicenetworking.googleapis.com"} <= set(needed.apis)
    assert "lustre.instances.create" in needed.role["includedPermissions"]
