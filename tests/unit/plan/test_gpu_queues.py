"""Teams with quota in GPU pools: flavors as the nodes are, quotas in GPUs, and TPU quotas untouched by them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tpuplane.labels import GPU, TPU
from tpuplane.plan import plan
from tpuplane.plan.queue_model import FlavorQuotaPlan, QueuesPlan
from tpuplane.spec import parse_platform

pytestmark = pytest.mark.unit

ZONES = ["us-central1-a", "us-central1-b"]
GPU_POOLS: dict[str, Any] = {
    "l4s": {"accelerator": "nvidia-l4", "gpus": 2, "zones": ZONES, "nodes": 3},
    "h100s": {"machineType": "a3-highgpu-8g", "zones": ZONES[:1], "capacity": "spot", "autoscaling": {"maxNodes": 2}},
    "shared": {
        "machineType": "a2-highgpu-1g",
        "zones": ZONES[:1],
        "partitionSize": "1g.5gb",
        "sharing": {"strategy": "TIME_SHARING", "maxClients": 2},
    },
}
TRAINER = {"generation": "v6e", "topology": "4x4"}


def queues_of(teams: dict[str, Any], gpu_pools: dict[str, Any] | None = None) -> QueuesPlan:
    """The queues of one cluster whose teams have these shares."""
    cluster = {
        "location": "us-central1",
        "addons": {"kueue": {}},
        "pools": {"trainer": {**TRAINER, "zone": "us-central1-b"}},
        "gpuPools": gpu_pools or GPU_POOLS,
    }
    found = plan(
        parse_platform(
            {
                "name": "lab",
                "project": "tpuplane-lab",
                "teams": {name: {"clusters": {"main": share}} for name, share in teams.items()},
                "clusters": {"main": cluster},
            }
        )
    )
    queues = found.clusters[0].queues
    assert queues is not None
    return queues


def amounts(quotas: tuple[FlavorQuotaPlan, ...], flavor: str) -> dict[str, float]:
    (quota,) = (quota_ for quota_ in quotas if quota_.flavor == flavor)
    return {resource.resource: resource.nominal for resource in quota.resources}


def test_flavors_are_machine_types_as_they_are_shared_and_bought() -> None:
    queues = queues_of({"a": {"gpuPools": {name: {"nodes": 1} for name in GPU_POOLS}}})
    by_name = {flavor.name: flavor for flavor in queues.flavors}
    assert {name: pool.topology for name, pool in by_name.items()} == {
        "cpu": "slices",
        "cpu-elastic": None,
        "a2-highgpu-1g-1g.5gb-time-sharing-2": "slices",
        "g2-standard-24": "slices",
        "a3-highgpu-8g-spot-elastic": None,
    }
    assert by_name["a2-highgpu-1g-1g.5gb-time-sharing-2"].node_labels == {
        "cloud.google.com/gke-accelerator": "nvidia-tesla-a100",
        "cloud.google.com/gke-accelerator-count": "1",
        "node.kubernetes.io/instance-type": "a2-highgpu-1g",
        "cloud.google.com/gke-gpu-partition-size": "1g.5gb",
        "cloud.google.com/gke-gpu-sharing-strategy": "time-sharing",
        "cloud.google.com/gke-max-shared-clients-per-gpu": "2",
        "cloud.google.com/gke-provisioning": "standard",
        "tpuplane-flavor": "a2-highgpu-1g-1g.5gb-time-sharing-2",
    }
    assert {flavor.tolerated_taints for flavor in queues.flavors[2:]} == {("nvidia.com/gpu",)}


def test_a_quota_has_its_part_of_the_node_with_each_gpu() -> None:
    queues = queues_of({"a": {"gpuPools": {"l4s": {"gpus": 3}, "h100s": {"nodes": 1}}}})
    own, elastic = (cluster_queue.flavors for cluster_queue in queues.cluster_queues)
    # A g2-standard-24 has 2 L4s, 24 vCPUs and 96 GB; an a3-highgpu-8g has 16 local SSDs of 375 GB.
    assert amounts(own, "g2-standard-24") == {TPU: 0, "cpu": 36, "memory": 144, "ephemeral-storage": 150, GPU: 3}
    assert amounts(elastic, "a3-highgpu-8g-spot-elastic")["ephemeral-storage"] == 6000
    assert amounts(own, "cpu")[GPU] == 0
    # Three nodes in each of two zones.
    assert amounts(queues.shared, "g2-standard-24")[GPU] == 9


def test_a_shared_gpu_has_less_than_a_core_and_all_together_have_no_more_than_the_node() -> None:
    """A g2-standard-4 has 4 vCPUs and 16 GB; a part of its GPU has a whole number of neither with 24 clients."""
    sharing = {"strategy": "TIME_SHARING", "maxClients": 24}
    pool = {"machineType": "g2-standard-4", "zones": ZONES[:1], "nodes": 1, "sharing": sharing}
    queues = queues_of({f"team-{index}": {"gpuPools": {"one": {"gpus": 1}}} for index in range(20)}, {"one": pool})
    first = queues.cluster_queues[0].flavors[1]
    assert {part.resource: part.quantity(part.nominal) for part in first.resources} == {
        TPU: "0",
        "cpu": "166m",
        "memory": "682Mi",
        "ephemeral-storage": "4Gi",
        GPU: "1",
    }
    left = amounts(queues.shared, first.flavor)
    assert 3.9 < 20 * amounts((first,), first.flavor)["cpu"] + left["cpu"] <= 4


def test_limits_are_on_gpus_alone_and_in_the_unit_of_the_quota() -> None:
    share = {"h100s": {"nodes": 2, "borrowingLimit": 0, "lendingLimit": 1}}
    (_, quota) = queues_of({"a": {"gpuPools": share}}).cluster_queues[-1].flavors
    limits = {resource.resource: (resource.borrowing_limit, resource.lending_limit) for resource in quota.resources}
    assert limits.pop(GPU) == (0, 8)
    assert set(limits.values()) == {(None, None)}


def test_gpus_are_covered_only_where_a_team_has_some() -> None:
    without = queues_of({"a": {"pools": {"trainer": {"slices": 1}}}})
    assert GPU not in without.covered
    beside = queues_of({"a": {"pools": {"trainer": {"slices": 1}}}, "b": {"gpuPools": {"l4s": {"gpus": 1}}}})
    assert beside.covered == (*without.covered, GPU)
    for queue in beside.cluster_queues:
        assert all(
            tuple(resource.resource for resource in quota.resources) == beside.covered for quota in queue.flavors
        )
    assert amounts(beside.cluster_queues[0].flavors, "v6e-4x4")[TPU] == 16


def test_a_pool_without_nodes_has_nothing_to_share() -> None:
    empty = {"l4s": {**GPU_POOLS["l4s"], "nodes": 0}}
    queues = queues_of({"a": {"gpuPools": {"l4s": {"gpus": 0}}}}, empty)
    assert amounts(queues.cluster_queues[0].flavors, "g2-standard-24")[GPU] == 0
    assert queues.shared == ()


@given(nodes=st.integers(1, 6), parts=st.lists(st.integers(0, 24), min_size=1, max_size=4))
def test_teams_and_the_cohort_together_have_every_gpu_once(nodes: int, parts: list[int]) -> None:
    shares: list[int] = []
    for part in parts:
        shares.append(min(part, 4 * nodes - sum(shares)))
    teams = {f"team-{index}": {"gpuPools": {"l4s": {"gpus": share}}} for index, share in enumerate(shares)}
    queues = queues_of(teams, {"l4s": {**GPU_POOLS["l4s"], "nodes": nodes}})
    everything = [*(quota for queue in queues.cluster_queues for quota in queue.flavors), *queues.shared]
    held = [amounts((quota,), "g2-standard-24") for quota in everything if quota.flavor == "g2-standard-24"]
    assert sum(usage[GPU] for usage in held) == 4 * nodes
    assert sum(usage["cpu"] for usage in held) == 48 * nodes
