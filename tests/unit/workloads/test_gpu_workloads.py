"""Ray on GPU nodes: pods that fit the nodes of the pool they describe, as many as it has room for, and no others."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tpuplane.gpu import GpuMachine, gpu_catalogue
from tpuplane.workloads import GpuGroupSpec, RayClusterSpec, pod_spec, ray_cluster_manifest
from tpuplane_twin.cluster.addresses import Addresses
from tpuplane_twin.cluster.nodes import Pool
from tpuplane_twin.elasticity.objects import Node, Pod
from tpuplane_twin.elasticity.simulation import Simulation

pytestmark = pytest.mark.unit

L4 = {"accelerator": "nvidia-l4", "image": "rayproject/ray:2.60.0-py311-gpu"}
CLUSTER = {
    "name": "main",
    "location": "us-central1-a",
    "locations": ["us-central1-a"],
    "currentMasterVersion": "1.35.4-gke.1000000",
    "clusterIpv4Cidr": "10.64.0.0/14",
}
SHARING = st.sampled_from([None, *((way, clients) for way in ("TIME_SHARING", "MPS") for clients in (2, 6))])


def node(machine: GpuMachine, partition: str | None = None, sharing: tuple[str, int] | None = None) -> Node:
    """A node of a GPU pool, as the twin makes it from Google's JSON."""
    gpus: dict[str, Any] = {"acceleratorType": machine.accelerator.name, "acceleratorCount": str(machine.gpus)}
    if partition:
        gpus["gpuPartitionSize"] = partition
    if sharing:
        gpus["gpuSharingConfig"] = {"gpuSharingStrategy": sharing[0], "maxSharedClientsPerGpu": str(sharing[1])}
    config = {"machineType": machine.name, "diskSizeGb": 100, "accelerators": [gpus]}
    url = (
        "https://www.googleapis.com/compute/v1/projects/a/zones/us-central1-a/instanceGroupManagers/gke-a-0a1b2c3d-grp"
    )
    item = {"name": "gpus", "locations": ["us-central1-a"], "initialNodeCount": 1, "config": config}
    pool = Pool({**item, "instanceGroupUrls": [url]}, CLUSTER)
    (place,) = pool.places
    made = pool.node(place, "gke-a-0a1b2c3d-x1y2", Addresses("10.64.0.0/10", []).take(pool.pods))
    return Node.parse(made)


def pods(group: GpuGroupSpec, count: int) -> list[Pod]:
    """Pods of a group that wait for a node."""
    names = [{"name": f"pod-{number}", "namespace": "research", "uid": str(number)} for number in range(count)]
    found = (Pod.parse({"metadata": name, "spec": pod_spec(group, "ray-worker")}) for name in names)
    return [pod for pod in found if pod is not None]


@st.composite
def divided(draw: st.DrawFn) -> tuple[GpuMachine, str | None, tuple[str, int] | None]:
    """A machine, and how its GPUs are divided."""
    machine = draw(st.sampled_from(gpu_catalogue().machines))
    return machine, draw(st.sampled_from([None, *machine.accelerator.partitions])), draw(SHARING)


@given(division=divided())
def test_a_node_has_room_for_just_its_pods(division: tuple[GpuMachine, str | None, tuple[str, int] | None]) -> None:
    machine, partition, sharing = division
    words = {"strategy": sharing[0], "maxClients": sharing[1]} if sharing else None
    group = GpuGroupSpec.model_validate(
        {"machineType": machine.name, "partitionSize": partition, "sharing": words, "image": "i"}
    )
    mine = node(machine, partition, sharing)
    # A node takes 110 pods unless its pool says otherwise; a node's parts of GPUs can be more.
    *waiting, further = pods(group, min(group.per_host, 110) + 1)
    if group.per_host <= 110:
        there = Simulation([mine], [])
        assert [there.place(pod, [0]) for pod in waiting] == [0] * group.per_host
        assert there.place(further, [0]) is None
    assert further.wants(mine)
    assert further.repelled_by(mine) is None
    # Nodes whose GPUs are divided in another way are not for these pods.
    for other in {(None, None), (partition, None), (None, ("TIME_SHARING", 3)), (partition, ("MPS", 3))}:
        if other != (partition, sharing):
            assert not further.wants(node(machine, *other)), other


def cluster(**changes: Any) -> dict[str, Any]:
    """A Ray cluster on one GPU node."""
    return {"namespace": "research", "gpuWorkers": {"gpu": L4}} | changes


def test_a_worker_of_ray_is_a_node_with_all_of_its_gpus() -> None:
    two = {**L4, "gpus": 2, "replicas": 3}
    (group,) = ray_cluster_manifest("t", RayClusterSpec.model_validate(cluster(gpuWorkers={"gpu": two})))["spec"][
        "workerGroupSpecs"
    ]
    assert (group["groupName"], group["replicas"], group["numOfHosts"]) == ("gpu", 3, 1)
    pod = group["template"]["spec"]
    (container,) = pod["containers"]
    # A g2-standard-24: 24 vCPUs, 96 GB.
    assert container["resources"]["limits"] == {"cpu": "19", "memory": "76Gi", "nvidia.com/gpu": "2"}
    assert pod["nodeSelector"] == {"cloud.google.com/gke-accelerator": "nvidia-l4"}
    assert pod["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    assert "ports" not in container


@pytest.mark.parametrize(("strategy", "shared"), [("MPS", True), ("TIME_SHARING", None)])
def test_pods_that_share_a_gpu_with_mps_share_memory_with_its_server_on_the_node(
    strategy: str, shared: bool | None
) -> None:
    group = GpuGroupSpec.model_validate({**L4, "sharing": {"strategy": strategy, "maxClients": 2}})
    assert pod_spec(group, "ray-worker").get("hostIPC") == shared


def test_slices_and_gpus_are_groups_of_one_cluster() -> None:
    tpu = {"generation": "v6e", "topology": "4x4", "image": "rayproject/ray:2.60.0-py311-tpu"}
    spec = RayClusterSpec.model_validate(cluster(workers={"tpu": tpu}, gpuWorkers={"gpu": L4}))
    body = ray_cluster_manifest("both", spec)["spec"]
    assert [group["groupName"] for group in body["workerGroupSpecs"]] == ["tpu", "gpu"]
    (head,) = body["headGroupSpec"]["template"]["spec"]["containers"]
    assert head["image"] == tpu["image"]


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        ({"computeClass": "cheap"}, {"cloud.google.com/compute-class": "cheap"}),
        ({"capacity": "spot"}, {"cloud.google.com/gke-spot": "true"}),
        ({"capacity": "reservation", "reservation": "r"}, {"cloud.google.com/reservation-name": "r"}),
        ({"machineType": "g2-standard-12"}, {"node.kubernetes.io/instance-type": "g2-standard-12"}),
    ],
)
def test_one_word_moves_a_group_and_nothing_else_changes(changes: dict[str, Any], label: dict[str, str]) -> None:
    before = pod_spec(GpuGroupSpec.model_validate(L4), "c")
    after = pod_spec(GpuGroupSpec.model_validate({**L4, **changes}), "c")
    assert after.pop("nodeSelector") == before.pop("nodeSelector") | label
    assert after == before


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"accelerator": "nvidia-l5"}, "accelerator: 'nvidia-l5' is not a supported GPU"),
        ({"accelerator": None}, "machineType: '' is not a machine type"),
        ({"gpus": 3}, "gpus: '3' GPUs of nvidia-l4 .*; allowed: 1, 2, 4, 8"),
        ({"machineType": "a3-highgpu-8g"}, "accelerator: 'nvidia-l4' is not the GPU of a3-highgpu-8g"),
        ({"partitionSize": "1g.5gb"}, "partitionSize: '1g.5gb' is not a partition of nvidia-l4; allowed: none"),
        (
            {"accelerator": "nvidia-h200-141gb", "capacity": "on-demand"},
            "capacity: 'on-demand' is not offered for a3-ultragpu-8g; allowed: reservation, spot, flex-start",
        ),
        ({"cpu": 12}, "12 .*; allowed: less than the 12 of g2-standard-12"),
        (
            {"memoryGb": 12, "sharing": {"strategy": "MPS", "maxClients": 4}},
            "less than the 12 of g2-standard-12 for each of its 4 pods",
        ),
        ({"sharing": {"strategy": "MPS", "maxClients": 1}}, "greater than or equal to 2"),
        ({"capacity": "spot", "computeClass": "cheap"}, "capacity: not allowed with computeClass"),
        ({"replicas": 2, "maxReplicas": 1}, "replicas: 2 is not between minReplicas 2 and maxReplicas 1"),
        (
            {"replicas": 0},
            "gpuWorkers.gpu.replicas: 0 stays 0 without autoscaling; set autoscaling: true, or 1 or more",
        ),
        *(({name: 100_001}, "less than or equal to 100000") for name in ("replicas", "minReplicas", "maxReplicas")),
        ({"minReplicas": 0}, "gpuWorkers.gpu: minReplicas and maxReplicas differ; set autoscaling: true"),
    ],
)
def test_what_no_gpu_node_can_run_is_rejected(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        RayClusterSpec.model_validate(cluster(gpuWorkers={"gpu": {**L4, **changes}}))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"gpuWorkers": {}}, "workers: empty"),
        (
            {"workers": {"gpu": {"generation": "v6e", "topology": "4x4", "image": "i"}}},
            "gpuWorkers.gpu: a group in workers has this name",
        ),
        ({"autoscaling": True, "queue": "default"}, "queue: 'default' is not allowed with autoscaling"),
        ({"idleTimeoutSeconds": 60}, "idleTimeoutSeconds: has no effect without autoscaling"),
    ],
)
def test_a_cluster_that_cannot_be_is_rejected(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        RayClusterSpec.model_validate(cluster(**changes))
