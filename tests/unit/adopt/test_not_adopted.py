"""What stays outside of the stack: clusters, node pools, fields, taints and settings."""

from __future__ import annotations

import pytest
from tpuplane.adopt import Facts, describe

from tests.support.existing import Json, adopted, cluster, left, spec

pytestmark = pytest.mark.unit


def test_taints_of_the_user_are_reported_and_their_cpu_pool_is_not_the_system_pool() -> None:
    found = cluster("svc")
    small, tpus = found["nodePools"]
    taint = {"key": "team", "value": "batch", "effect": "NO_SCHEDULE"}
    batch = {**small, "name": "batch", "initialNodeCount": 5, "config": {**small["config"], "taints": [taint]}}
    tpus["config"]["taints"] = [taint, {"key": "google.com/tpu", "value": "present", "effect": "NO_SCHEDULE"}]
    found["nodePools"] = [batch, small, tpus]
    result = adopted(found)
    assert result.config["clusters"]["svc"]["systemPool"]["adopted"]["names"] == ["pool-1"]
    assert left(result) == [
        "cluster svc, node pool batch: a stack file describes only one CPU pool, which is pool-1",
        "cluster svc, node pool t, taint team=batch:NoSchedule: the stack file does not have it; "
        "pods must tolerate it, and new node pools are without it",
    ]


def test_the_taint_of_spot_nodes_is_the_users_and_gke_taints_queued_nodes() -> None:
    found = cluster("svc")
    taints = [{"key": f"cloud.google.com/gke-{kind}", "value": "true"} for kind in ("spot", "queued")]
    found["nodePools"][1]["config"]["taints"] = [taint | {"effect": "NO_SCHEDULE"} for taint in taints]
    (line,) = left(adopted(found))
    assert line.startswith("cluster svc, node pool t, taint cloud.google.com/gke-spot=true:NoSchedule: ")


def settings_left(found: Json) -> list[str]:
    """What an import of the cluster `svc` leaves, without the reasons."""
    return [line.partition(": ")[0].removeprefix("cluster svc, ") for line in left(adopted(found))]


def test_settings_that_a_stack_file_does_not_have_are_reported() -> None:
    found = cluster("svc")
    found |= {"verticalPodAutoscaling": {"enabled": True}, "notificationConfig": {"pubsub": {}}}
    variant = {"loggingConfig": {"variantConfig": {"variant": "MAX_THROUGHPUT"}}}
    system, tpus = (pool["config"] for pool in found["nodePools"])
    plain = {"insecureKubeletReadonlyPortEnabled": False, "maxParallelImagePulls": 3}  # as Google answers
    system |= {"kubeletConfig": plain | {"cpuManagerPolicy": "none", "cpuCfsQuota": True}, "loggingConfig": {}}
    system["linuxNodeConfig"] = {"cgroupMode": "CGROUP_MODE_UNSPECIFIED", "hugepages": {}}
    tpus["kubeletConfig"] = {"cpuManagerPolicy": "static", "cpuCfsQuota": False}
    tpus["linuxNodeConfig"] = {"hugepages": {"hugepageSize1g": 2}, "cgroupMode": "CGROUP_MODE_V1"}
    tpus |= variant | {"confidentialNodes": {"enabled": True}}
    of_pool, pool = "it stays on these nodes, and new node pools are without it", "cluster svc, node pool t, "
    settings = ["kubeletConfig.cpuCfsQuota", "kubeletConfig.cpuManagerPolicy"]
    settings += ["linuxNodeConfig.cgroupMode", "linuxNodeConfig.hugepages"]
    inherited = ["confidentialNodes.enabled", "loggingConfig.variantConfig.variant"]
    of_cluster = (
        "cluster svc, verticalPodAutoscaling.enabled: the stack file does not have it; it stays on the cluster, "
    )
    assert left(adopted(found)) == [
        f"{of_cluster}and a new cluster is without it",
        *(
            f"{pool}{setting}: the stack file does not have it; {of_pool}"
            for setting in sorted([*settings, *inherited], key=str)
        ),
    ]
    found |= {"confidentialNodes": {"enabled": True}, "nodePoolDefaults": {"nodeConfigDefaults": variant}}
    assert settings_left(found) == [
        "confidentialNodes.enabled",
        "nodePoolDefaults.nodeConfigDefaults.loggingConfig.variantConfig.variant",
        "verticalPodAutoscaling.enabled",
        *(f"node pool t, {setting}" for setting in settings),
    ]


def test_settings_that_the_provider_computes_are_reported() -> None:
    found = cluster("svc")
    system, tpus = found["nodePools"]
    found["ipAllocationPolicy"] |= {"clusterSecondaryRangeName": "p"}
    found["addonsConfig"] = {"httpLoadBalancing": {"disabled": True}, "gkeBackupAgentConfig": {"enabled": True}}
    found["networkConfig"] |= {"defaultSnatStatus": {"disabled": True}, "serviceExternalIpsConfig": {"enabled": False}}
    found["nodePoolAutoConfig"] = {"networkTags": {"tags": ["auto"]}}
    system |= {"networkConfig": {"podRange": "p"}, "nodeDrainConfig": {"respectPdbDuringNodePoolDeletion": True}}
    system["config"] |= {"minCpuPlatform": "Intel Ice Lake", "localSsdCount": 1}
    tpus["networkConfig"] = {"podRange": "more"}
    assert settings_left(found) == [
        "addonsConfig.gkeBackupAgentConfig.enabled",
        "addonsConfig.httpLoadBalancing.disabled",
        "networkConfig.defaultSnatStatus.disabled",
        "nodePoolAutoConfig.networkTags.tags",
        "node pool pool-1, localSsdCount",
        "node pool pool-1, minCpuPlatform",
        "node pool pool-1, nodeDrainConfig.respectPdbDuringNodePoolDeletion",
        "node pool t, networkConfig.podRange",
    ]


def test_settings_of_a_cpu_pool_that_a_stack_file_has_only_for_other_pools_are_reported() -> None:
    found = cluster("svc")
    system, tpus = found["nodePools"]
    subnetwork = "projects/host-net-prj/regions/us-east5/subnetworks/own"
    network = {"subnetwork": subnetwork, "additionalNodeNetworkConfigs": [{"network": "n", "subnetwork": "s"}]}
    for pool in (system, tpus):
        pool["networkConfig"] = {**network, "enablePrivateNodes": True}
        pool["config"] |= {
            "gcfsConfig": {"enabled": True},
            "kubeletConfig": {"insecureKubeletReadonlyPortEnabled": True},
        }
        pool["maxPodsConstraint"] = {"maxPodsPerNode": "64"}
    named = [line.partition(": ")[0].removeprefix("cluster svc, node pool ") for line in left(adopted(found))]
    other = ["kubeletConfig.insecureKubeletReadonlyPortEnabled", "networkConfig.subnetwork"]
    own = ["gcfsConfig.enabled", "maxPodsConstraint.maxPodsPerNode", "networkConfig.additionalNodeNetworkConfigs"]
    assert named == [*(f"pool-1, {name}" for name in (*other, *own)), *(f"t, {name}" for name in other)]
    of_cluster = {"nodeKubeletConfig": {"insecureKubeletReadonlyPortEnabled": True}}
    found |= {"nodePoolDefaults": {"nodeConfigDefaults": of_cluster}}
    found |= {"defaultMaxPodsConstraint": {"maxPodsPerNode": "64"}}
    found["networkConfig"]["subnetwork"] = subnetwork
    assert settings_left(found) == [
        "defaultMaxPodsConstraint.maxPodsPerNode",
        "nodePoolDefaults.nodeConfigDefaults.nodeKubeletConfig.insecureKubeletReadonlyPortEnabled",
        "node pool pool-1, gcfsConfig.enabled",
        "node pool pool-1, networkConfig.additionalNodeNetworkConfigs",
    ]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"autopilot": {"enabled": True}}, "it is an Autopilot cluster, whose nodes Google manages"),
        ({"status": "PROVISIONING"}, "its status is PROVISIONING; adopt it when it is RUNNING"),
        ({"ipAllocationPolicy": {}}, "it is routes-based, and tpuplane's clusters are VPC-native"),
        ({"location": "mars-north1"}, "'mars-north1' is not"),
    ],
)
def test_a_cluster_that_cannot_be_adopted(change: Json, why: str) -> None:
    found = describe(Facts("acme-ml", ({**cluster("svc"), **change},)), "svc")
    assert (found.places, found.config["clusters"]) == ({}, {})
    assert any(why in text for text in left(found)), left(found)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"status": "RUNNING_WITH_ERROR"}, "its status is RUNNING_WITH_ERROR; adopt it when it is RUNNING"),
        ({"autoscaling": {"autoprovisioned": True}}, "GKE created it by node auto-provisioning"),
        ({"locations": ["us-east5-a", "us-east5-b"]}, "a TPU pool of tpuplane has one zone"),
        ({"placementPolicy": {"tpuTopology": "4x5"}}, "'4x5' is not a v6e topology"),
        ({"config": {"machineType": "ct9x-standard-4t"}}, "'ct9x-standard-4t' is not"),
        ({"placementPolicy": {"policyName": "gone"}}, "its resource policy gone does not have a topology"),
    ],
)
def test_a_node_pool_that_cannot_be_adopted(change: Json, why: str) -> None:
    found = cluster("svc")
    (pool,) = (node_pool for node_pool in found["nodePools"] if node_pool["name"] == "t")
    pool |= change
    result = adopted(found)
    assert "pools" not in result.config["clusters"]["svc"]
    (line,) = left(result)
    assert line.startswith(("cluster svc, node pool t: ", "clusters.svc.pools.t: "))
    assert why in line
    assert not any(place.endswith("/t") for place in result.places)


def test_a_field_that_the_rules_reject_is_left_out() -> None:
    found = {**cluster("svc"), "securityPostureConfig": {"mode": "ENTERPRISE"}}
    result = adopted(found)
    assert spec(result).clusters["svc"].security.posture == "BASIC"
    (line,) = left(result)
    assert line.startswith("clusters.svc.security.posture: 'ENTERPRISE' is not")


def test_a_pool_that_is_left_out_says_enough_of_its_fields() -> None:
    found = cluster("xpk-test")
    found["nodePools"] = found["nodePools"][:2]
    found["nodePools"][1]["config"]["flexStart"] = True
    found["nodePools"][1]["autoscaling"] = {"enabled": True, "minNodeCount": 4, "maxNodeCount": 4}
    (line,) = left(adopted(found))
    assert line.startswith("clusters.xpk-test.pools.xpk-test-np")


def test_a_value_that_google_does_not_specify_is_left_out() -> None:
    found = {**cluster("svc"), "binaryAuthorization": {"evaluationMode": "EVALUATION_MODE_UNSPECIFIED"}}
    assert left(adopted(found)) == []


def test_open_networks_of_the_control_plane_stay_out_of_the_file() -> None:
    everyone = {"enabled": True, "cidrBlocks": [{"cidrBlock": "0.0.0.0/0", "displayName": "all"}]}
    result = adopted({**cluster("gke-tpu-v6e"), "masterAuthorizedNetworksConfig": everyone})
    plane = spec(result).clusters["gke-tpu-v6e"].control_plane
    assert (plane.authorized_networks, plane.public_endpoint, plane.master_cidr) == ((), False, "172.16.0.32/28")
    (line,) = left(result)
    assert "'0.0.0.0/0'" in line


def test_only_the_ranges_that_the_rules_reject_are_left_out() -> None:
    ranges = ["203.0.113.8/24", "198.51.100.0/24", "0.0.0.0/0", "192.0.2.0/24"]
    networks = {"enabled": True, "cidrBlocks": [{"cidrBlock": block} for block in ranges]}
    found = {**cluster("gke-tpu-v6e"), "masterAuthorizedNetworksConfig": networks}
    before = spec(adopted(cluster("gke-tpu-v6e"))).clusters["gke-tpu-v6e"].control_plane
    result = adopted(found)
    plane = spec(result).clusters["gke-tpu-v6e"].control_plane
    own = [(network.cidr, network.name) for network in plane.authorized_networks]
    assert own == [("198.51.100.0/24", None), ("192.0.2.0/24", None)]
    assert (plane.public_endpoint, plane.master_cidr) == (True, "172.16.0.32/28")
    assert plane == before.model_copy(update={"authorized_networks": plane.authorized_networks})
    at = "clusters.gke-tpu-v6e.controlPlane.authorizedNetworks"
    last, first = left(result)
    assert last.startswith(f"{at}[2]: '0.0.0.0/0' ")
    assert first.startswith(f"{at}[0]: '203.0.113.8/24' ")


def test_a_pool_with_an_impossible_reservation_is_left() -> None:
    found = cluster("gke-tpu-v6e")
    found["nodePools"][1]["locations"] = ["us-west4-a"]  # has no v6e
    result = adopted(found)
    assert [place.rpartition("/")[2] for place in result.places] == ["gke-tpu-v6e", "system"]
    assert all(
        text.startswith(("clusters.gke-tpu-v6e.pools.gke-tpu-v6e-pool: ", "reservations.v6e-res: "))
        for text in left(result)
    )


def test_a_cluster_without_any_valid_part_ends() -> None:
    found = {**cluster("svc"), "networkConfig": {"network": "???", "subnetwork": "???"}, "location": "nowhere"}
    result = describe(Facts("acme-ml", (cluster("z"), found)), "two")
    assert set(spec(result).clusters) == {"z"}
