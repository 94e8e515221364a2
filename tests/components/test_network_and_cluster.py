"""The network and the clusters: private, least privileged, and safe from accidents."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.components.deployment import Deployment, Inputs, deploy_platform

pytestmark = pytest.mark.components

CENTRAL1 = "platform-central1"
CENTRAL2 = "platform-central2"


Description = dict[str, Any]


def cluster(deployed: Deployment, name: str) -> Inputs:
    return deployed.one("container/cluster:Cluster", name).inputs


def test_the_cluster_takes_its_ranges_from_its_own_subnetwork(deployed: Deployment) -> None:
    subnet = deployed.one(":Subnetwork", "platform-lab-central2")
    ranges = {
        secondary_range["rangeName"]: secondary_range["ipCidrRange"]
        for secondary_range in subnet.inputs["secondaryIpRanges"]
    }
    made = deployed.one("container/cluster:Cluster", CENTRAL2)
    policy = made.inputs["ipAllocationPolicy"]
    assert ranges[policy["clusterSecondaryRangeName"]] == "10.68.0.0/14"
    assert ranges[policy["servicesSecondaryRangeName"]] == "10.32.16.0/20"
    assert subnet.inputs["ipCidrRange"] == "10.0.16.0/20"
    assert subnet.inputs["region"] == "us-central2"
    assert list(made.request.propertyDependencies["subnetwork"].urns) == [subnet.urn]
    assert made.inputs["networkingMode"] == "VPC_NATIVE"


def test_the_first_pool_that_an_interrupted_creation_has_left_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    described = {"name": "lab", "project": "acme-lab", "clusters": {"main": {"location": "us-central1-a"}}}
    deploy_platform(described, hosts={"default-pool": 1})
    (record,) = caplog.records
    assert (record.levelname, "`tpuplane check FILE --online" in record.getMessage()) == ("WARNING", True)
    caplog.clear()
    deploy_platform(described)
    assert not caplog.records


def test_the_vpc_has_no_automatic_subnetworks_and_reaches_google_privately(deployed: Deployment) -> None:
    assert deployed.one("compute/network:Network").inputs["autoCreateSubnetworks"] is False
    for subnet in deployed.all(":Subnetwork"):
        assert subnet.inputs["privateIpGoogleAccess"] is True
        assert subnet.inputs["logConfig"]


def test_pools_that_gke_makes_are_as_closed_as_declared_ones() -> None:
    limits = {"cpu": 4000, "memoryGb": 16000, "tpu": {"v6e": 64}}
    deployed = deploy_platform(
        {
            "name": "lab",
            "project": "tpuplane-lab",
            "clusters": {
                "main": {
                    "location": "us-central1",
                    "autoProvisioning": {"limits": limits},
                    "pools": {"a": {"generation": "v6e", "topology": "4x4"}},
                }
            },
        }
    )
    autoscaling = cluster(deployed, "platform-main")["clusterAutoscaling"]
    defaults = autoscaling["autoProvisioningDefaults"]
    pool = deployed.one(":NodePool", "platform-main-a-0").inputs
    declared, upgrade = pool["nodeConfig"], pool["upgradeSettings"]
    for field in ("serviceAccount", "oauthScopes", "imageType", "shieldedInstanceConfig"):
        assert defaults[field] == declared[field]
    assert defaults["management"] == pool["management"]
    assert {name: defaults["upgradeSettings"][name] for name in upgrade} == upgrade
    assert autoscaling["autoProvisioningLocations"] == ["us-central1-b"]
    asked = {limit["resourceType"]: limit["maximum"] for limit in autoscaling["resourceLimits"]}
    assert asked == {"cpu": 4000, "memory": 16000, "tpu-v6e-slice": 64}


def test_without_auto_provisioning_no_limits_are_sent(deployed: Deployment) -> None:
    """The provider remembers limits that are not mentioned, and would send them again."""
    assert cluster(deployed, CENTRAL1)["clusterAutoscaling"] == {
        "enabled": False,
        "resourceLimits": [],
        "defaultComputeClassEnabled": False,
    }


def test_each_region_has_one_nat_and_clusters_wait_for_it(deployed: Deployment) -> None:
    nats = deployed.all(":RouterNat")
    assert sorted(nat.inputs["region"] for nat in nats) == ["us-central1", "us-central2"]
    for made in deployed.all("container/cluster:Cluster"):
        assert {nat.urn for nat in nats} <= set(made.request.dependencies)


def test_nodes_are_private_and_the_control_plane_is_closed_by_default(deployed: Deployment) -> None:
    made = cluster(deployed, CENTRAL1)
    assert made["privateClusterConfig"] == {
        "enablePrivateNodes": True,
        "enablePrivateEndpoint": True,
        "masterGlobalAccessConfig": {"enabled": False},
    }
    assert made["masterAuthorizedNetworksConfig"] == {"gcpPublicCidrsAccessEnabled": False, "cidrBlocks": []}


def test_a_public_endpoint_is_open_to_the_named_networks_only(deployed: Deployment) -> None:
    made = cluster(deployed, CENTRAL2)
    assert made["privateClusterConfig"] == {
        "enablePrivateNodes": True,
        "enablePrivateEndpoint": False,
        "masterIpv4CidrBlock": "172.16.0.0/28",
        "masterGlobalAccessConfig": {"enabled": False},
    }
    assert made["masterAuthorizedNetworksConfig"] == {
        "gcpPublicCidrsAccessEnabled": False,
        "cidrBlocks": [{"cidrBlock": "203.0.113.0/24", "displayName": "office"}],
    }


@pytest.mark.parametrize("name", [CENTRAL1, CENTRAL2])
def test_every_cluster_is_hardened(deployed: Deployment, name: str) -> None:
    made = cluster(deployed, name)
    expected = {
        "workloadIdentityConfig": {"workloadPool": "tpuplane-lab.svc.id.goog"},
        "enableShieldedNodes": True,
        "datapathProvider": "ADVANCED_DATAPATH",
        "enableIntranodeVisibility": True,
        "enableLegacyAbac": False,
        "masterAuth": {"clientCertificateConfig": {"issueClientCertificate": False}},
        "removeDefaultNodePool": True,
        "initialNodeCount": 1,
        "releaseChannel": {"channel": "REGULAR"},
    }
    assert {key: made[key] for key in expected} == expected
    assert {"SYSTEM_COMPONENTS", "WORKLOADS"} <= set(made["loggingConfig"]["enableComponents"])
    assert "SYSTEM_COMPONENTS" in made["monitoringConfig"]["enableComponents"]
    assert made["monitoringConfig"]["managedPrometheus"] == {"enabled": True}
    assert made["resourceLabels"] == {"environment": "test", "tpuplane-platform": "lab"}


def test_deletion_protection_is_google_s_and_pulumi_s(deployed: Deployment) -> None:
    for name, wanted in ((CENTRAL1, True), (CENTRAL2, False)):
        made = deployed.one("container/cluster:Cluster", name)
        assert (made.inputs["deletionProtection"], made.request.protect) == (wanted, wanted)


def test_the_ray_add_on_is_switched_off_in_so_many_words(deployed: Deployment) -> None:
    """The provider leaves an add-on running that a program merely stops mentioning."""
    for name, wanted in ((CENTRAL1, True), (CENTRAL2, False)):
        (ray,) = cluster(deployed, name)["addonsConfig"]["rayOperatorConfigs"]
        assert ray == {
            "enabled": wanted,
            "rayClusterLoggingConfig": {"enabled": wanted},
            "rayClusterMonitoringConfig": {"enabled": wanted},
        }


def test_a_zonal_cluster_does_not_name_its_own_zone_again(deployed: Deployment) -> None:
    assert "nodeLocations" not in cluster(deployed, CENTRAL2)
    assert set(cluster(deployed, CENTRAL1)["nodeLocations"]) == set(
        deployed.one(":NodePool", "platform-central1-system").inputs["nodeLocations"]
    )


def test_the_pool_that_gke_insists_on_cannot_replace_the_cluster_later(deployed: Deployment) -> None:
    made = deployed.one("container/cluster:Cluster", CENTRAL2)
    assert made.inputs["nodeConfig"]["machineType"] == "n2-standard-4"  # us-central2-b has no e2
    assert list(made.request.ignoreChanges) == ["nodeConfig", "initialNodeCount", "removeDefaultNodePool"]


def test_nodes_have_an_account_of_their_own_with_nothing_but_node_roles(deployed: Deployment) -> None:
    granted = {(resource.inputs["member"], resource.inputs["role"]) for resource in deployed.all(":IAMMember")}
    assert granted == {
        (f"serviceAccount:lab-{key}@tpuplane-lab.iam.gserviceaccount.com", role)
        for key in ("central1", "central2")
        for role in ("roles/container.defaultNodeServiceAccount", "roles/artifactregistry.reader")
    }
    for made in (*deployed.all(":NodePool"), *deployed.all("container/cluster:Cluster")):
        key = made.name.split("-")[1]
        assert made.inputs["nodeConfig"]["serviceAccount"] == f"lab-{key}@tpuplane-lab.iam.gserviceaccount.com"


def test_nodes_wait_for_the_roles_of_their_account(deployed: Deployment) -> None:
    for made in (*deployed.all(":NodePool"), *deployed.all("container/cluster:Cluster")):
        key = made.name.split("-")[1]
        roles = {
            resource.urn for resource in deployed.all(":IAMMember") if resource.name.startswith(f"platform-{key}-nodes")
        }
        assert len(roles) == 2
        assert roles <= set(made.request.dependencies)


def test_maintenance_is_set_only_where_it_was_configured(deployed: Deployment, lab: Description) -> None:
    assert "maintenancePolicy" not in cluster(deployed, CENTRAL1)
    lab["clusters"]["central1"]["maintenance"] = {
        "window": {"days": ["SA", "SU"], "start": "02:00", "hours": 6},
        "exclusions": {
            "holidays": {"start": "2026-12-20", "end": "2027-01-03", "scope": "NO_UPGRADES"},
            "run": {"start": "2026-12-01", "untilEndOfSupport": True},
        },
    }
    assert cluster(deploy_platform(lab), CENTRAL1)["maintenancePolicy"] == {
        "recurringWindow": {
            "startTime": "2024-01-06T02:00:00Z",
            "endTime": "2024-01-06T08:00:00Z",
            "recurrence": "FREQ=WEEKLY;BYDAY=SA,SU",
        },
        "maintenanceExclusions": [
            {
                "exclusionName": "holidays",
                "startTime": "2026-12-20T00:00:00Z",
                "endTime": "2027-01-03T00:00:00Z",
                "exclusionOptions": {"scope": "NO_UPGRADES"},
            },
            {
                "exclusionName": "run",
                "startTime": "2026-12-01T00:00:00Z",
                "exclusionOptions": {"scope": "NO_MINOR_OR_NODE_UPGRADES", "endTimeBehavior": "UNTIL_END_OF_SUPPORT"},
            },
        ],
    }
