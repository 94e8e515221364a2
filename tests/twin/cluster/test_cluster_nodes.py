"""What a node pool's nodes look like, and where their pods' addresses come from. Pure."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tpuplane_twin.cluster.addresses import Addresses, AddressesExhausted, node_address, pod_range
from tpuplane_twin.cluster.api import ClusterError, Object
from tpuplane_twin.cluster.machines import allocatable_cpu, allocatable_memory, architecture, machine
from tpuplane_twin.cluster.nodes import Pool
from tpuplane_twin.gcp.views import ClusterView, PoolView

from tests.support.cluster.cluster_objects import CLUSTER, VERSION, pool, slice_pool

pytestmark = pytest.mark.unit


def nodes(item: Object) -> list[Object]:
    found, addresses = Pool(item, CLUSTER), Addresses("10.64.0.0/10", [])
    made: dict[str, Object] = {}
    for place in found.places:
        name = found.new_name(place.zone, made)
        made[name] = found.node(place, name, addresses.take(found.pods))
    return list(made.values())


def test_a_slices_nodes_say_what_gke_says_of_them() -> None:
    item = slice_pool("trainer", "ct6e-standard-4t", "4x4", 4)
    item["config"].update(spot=True, labels={"team": "a"}, taints=[{"key": "k", "value": "v", "effect": "NO_EXECUTE"}])
    four = nodes(item)
    assert len({node["metadata"]["name"] for node in four}) == 4
    node = four[0]
    assert node["metadata"]["name"].startswith("gke-trainers-trainer-0a1b2c3d-")
    assert len(node["metadata"]["name"].rpartition("-")[2]) == 4
    labels = node["metadata"]["labels"]
    assert (
        labels.items()
        >= {
            "cloud.google.com/gke-nodepool": "trainer",
            "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
            "cloud.google.com/gke-tpu-topology": "4x4",
            "cloud.google.com/gke-accelerator-count": "4",
            "cloud.google.com/gke-spot": "true",
            "cloud.google.com/gke-provisioning": "spot",
            "cloud.google.com/machine-family": "ct6e",
            "node.kubernetes.io/instance-type": "ct6e-standard-4t",
            "topology.kubernetes.io/zone": "us-east5-b",
            "topology.kubernetes.io/region": "us-east5",
            "kubernetes.io/hostname": node["metadata"]["name"],
            "team": "a",
        }.items()
    )
    assert node["spec"]["taints"] == [
        {"key": "k", "value": "v", "effect": "NoExecute"},
        {"key": "google.com/tpu", "value": "present", "effect": "NoSchedule"},
    ]
    assert node["spec"]["providerID"] == f"gce://acme/us-east5-b/{node['metadata']['name']}"
    status = node["status"]
    assert status["capacity"]["google.com/tpu"] == status["allocatable"]["google.com/tpu"] == "4"
    assert status["capacity"]["cpu"] == "180"
    assert status["nodeInfo"]["kubeletVersion"] == f"v{VERSION}"


@pytest.mark.parametrize(
    ("config", "capacity"),
    [
        ({}, "on-demand"),
        ({"spot": True}, "spot"),
        ({"reservationAffinity": {"consumeReservationType": "SPECIFIC_RESERVATION"}}, "reservation"),
        ({"flexStart": True, "reservationAffinity": {"consumeReservationType": "NO_RESERVATION"}}, "flex-start"),
    ],
)
def test_a_pool_has_one_provisioning_model(config: dict[str, object], capacity: str) -> None:
    assert PoolView({"config": config}).capacity == capacity


def test_flex_start_nodes_say_how_long_they_run_and_that_they_are_queued_for() -> None:
    item = pool("sweeps", "tpu7x-standard-4t", 1)
    item["config"].update(flexStart=True, maxRunDuration="43200s")
    item["config"]["reservationAffinity"] = {"consumeReservationType": "NO_RESERVATION"}
    (plain,) = nodes(item)
    assert (
        plain["metadata"]["labels"].items()
        >= {
            "cloud.google.com/gke-provisioning": "flex-start",
            "cloud.google.com/gke-flex-start": "true",
            "cloud.google.com/gke-max-run-duration-seconds": "43200",
        }.items()
    )
    assert "cloud.google.com/gke-queued" not in plain["metadata"]["labels"]
    item["queuedProvisioning"] = {"enabled": True}
    (queued,) = nodes(item)
    assert queued["metadata"]["labels"]["cloud.google.com/gke-queued"] == "true"
    taint = {"key": "cloud.google.com/gke-queued", "value": "true", "effect": "NoSchedule"}
    assert queued["spec"]["taints"] == [*plain["spec"]["taints"], taint]


def test_reserved_nodes_say_where_they_come_from() -> None:
    def labels(value: str) -> dict[str, str]:
        item = pool("steady", "ct6e-standard-8t", 1)
        item["config"]["reservationAffinity"] = {
            "consumeReservationType": "SPECIFIC_RESERVATION",
            "key": "compute.googleapis.com/reservation-name",
            "values": [value],
        }
        (node,) = nodes(item)
        found = node["metadata"]["labels"].items()
        return {name.removeprefix("cloud.google.com/reservation-"): v for name, v in found if "/reservation-" in name}

    assert labels("nightly") == {"affinity": "specific", "name": "nightly"}
    assert labels("projects/bank/reservations/nightly/reservationBlocks/b1/reservationSubBlocks/s2") == {
        "affinity": "specific",
        "project": "bank",
        "name": "nightly",
        "blocks": "b1",
        "subblocks": "s2",
    }


def test_a_single_host_pool_has_its_machines_topology() -> None:
    (node,) = nodes(pool("serve", "ct6e-standard-8t", 1))
    assert node["metadata"]["labels"]["cloud.google.com/gke-tpu-topology"] == "2x4"
    assert not Pool(pool("serve", "ct6e-standard-8t", 1), CLUSTER).is_slice


def test_a_pool_without_tpus_has_nothing_of_them() -> None:
    (node,) = nodes(pool("web", "e2-standard-4", 1))
    assert "google.com/tpu" not in node["status"]["capacity"]
    assert not [label for label in node["metadata"]["labels"] if "tpu" in label or "accelerator" in label]
    assert node["spec"]["taints"] == []
    assert node["metadata"]["labels"]["cloud.google.com/gke-provisioning"] == "standard"


def test_nodes_are_spread_over_the_pools_zones() -> None:
    zones = ("us-east5-a", "us-east5-b")
    found = [
        node["metadata"]["labels"]["topology.kubernetes.io/zone"]
        for node in nodes(pool("a", "e2-small", 2, zones=zones))
    ]
    assert sorted(found) == ["us-east5-a", "us-east5-a", "us-east5-b", "us-east5-b"]


def test_thousands_of_nodes_of_one_pool_have_different_names() -> None:
    names = {node["metadata"]["name"] for node in nodes(pool("serve", "ct6e-standard-1t", 4000))}
    assert len(names) == 4000
    assert max(map(len, names)) <= 63


@pytest.mark.parametrize(
    ("name", "millicores", "gib"),
    # Allocatable as GKE's page works it out: 16 GB is 2.6 GiB reserved and 100 MiB for eviction.
    [("e2-standard-4", 3920, 16 - 2.6 - 100 / 1024), ("n2-standard-32", 31850, 128 - 9.32 - 100 / 1024)],
)
def test_pods_have_what_gke_leaves_them(name: str, millicores: int, gib: float) -> None:
    assert allocatable_cpu(machine(name)) == millicores
    assert allocatable_memory(machine(name)) == pytest.approx(gib * 1024**3, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "expected"), [("e4a-standard-4", "arm64"), ("n2-custom-4-8192", "amd64"), ("ct6e-standard-4t", "amd64")]
)
def test_a_node_has_the_architecture_of_its_family(name: str, expected: str) -> None:
    assert architecture(machine(name)) == expected


@pytest.mark.parametrize(
    ("name", "pods", "millicores"), [("e2-medium", 110, 940), ("e2-medium", 111, 540), ("n2-standard-32", 256, 31450)]
)
def test_shared_cores_and_many_pods_leave_fewer_cores_to_pods(name: str, pods: int, millicores: int) -> None:
    assert allocatable_cpu(machine(name), pods) == millicores


def test_an_unknown_machine_type_is_named() -> None:
    with pytest.raises(ClusterError, match="machineType: 'z9-standard-4' is not a machine type"):
        machine("z9-standard-4")


@given(st.lists(st.integers(8, 256), min_size=1, max_size=60))
def test_ranges_are_disjoint_and_hold_the_pods_and_the_node(sizes: list[int]) -> None:
    addresses = Addresses("10.64.0.0/14", [])
    taken = [addresses.take(pods) for pods in sizes]
    for number, (pods, network) in enumerate(zip(sizes, taken, strict=True)):
        assert network.subnet_of(ipaddress.IPv4Network("10.64.0.0/14"))
        # kwok gives pods the second address and those after it.
        assert ipaddress.IPv4Address(node_address(network)) > network.network_address + pods
        assert not any(network.overlaps(other) for other in taken[:number])
    again = Addresses("10.64.0.0/14", map(str, taken))
    assert not any(again.take(8).overlaps(other) for other in taken)


@pytest.mark.parametrize(
    ("pods", "prefix"),
    # https://cloud.google.com/kubernetes-engine/docs/how-to/flexible-pod-cidr#cidr_ranges_for_clusters
    [(8, 28), (9, 27), (16, 27), (32, 26), (64, 25), (110, 24), (128, 24), (129, 23), (256, 23)],
)
def test_a_nodes_range_is_as_large_as_gke_makes_it(pods: int, prefix: int) -> None:
    assert Addresses("10.64.0.0/14", []).take(pods).prefixlen == prefix


def test_freed_ranges_are_used_again_when_the_range_is_full() -> None:
    halves = ["10.64.0.0/15", "10.66.0.0/15"]
    assert Addresses("10.64.0.0/14", [halves[1]]).take(110).subnet_of(ipaddress.IPv4Network(halves[0]))
    with pytest.raises(AddressesExhausted, match=r"10\.64\.0\.0/14 has no room for another node of 110 pods"):
        Addresses("10.64.0.0/14", halves).take(110)
    with pytest.raises(AddressesExhausted, match="a /24"):
        Addresses("10.64.0.0/26", []).take(110)


def test_addresses_come_from_the_clusters_ranges_and_the_pools_own() -> None:
    cluster = {"clusterIpv4Cidr": "10.64.0.0/14", "servicesIpv4Cidr": "10.32.0.0/20"}
    assert (pod_range(cluster), ClusterView(cluster).services) == ("10.64.0.0/14", "10.32.0.0/20")
    assert pod_range(cluster, {"networkConfig": {"podIpv4CidrBlock": "10.72.0.0/16"}}) == "10.72.0.0/16"
    assert pod_range(cluster, {"networkConfig": {}}) == "10.64.0.0/14"
