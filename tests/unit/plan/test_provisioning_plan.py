"""Queued capacity is asked for by ProvisioningRequest: admission checks and topologies follow from the pools."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tpuplane.plan import plan
from tpuplane.plan.queue_model import FlavorPlan, QueuesPlan
from tpuplane.spec import parse_platform

pytestmark = pytest.mark.unit

FLEX: dict[str, Any] = {
    "generation": "v6e",
    "topology": "4x4",
    "capacity": "flex-start",
    "autoscaling": {"maxSlices": 2},
}
QUEUED: dict[str, Any] = {**FLEX, "flexStart": {"queued": True, "maxRunDuration": "12h"}}
FIXED: dict[str, Any] = {"generation": "v6e", "topology": "4x4", "slices": 2}
GPUS: dict[str, Any] = {
    "machineType": "a3-highgpu-8g",
    "capacity": "flex-start",
    "flexStart": {"queued": True},
    "autoscaling": {"maxNodes": 2},
}


def queues_of(gpu_pools: dict[str, Any] | None = None, **pools: dict[str, Any]) -> QueuesPlan:
    """The queues of a cluster with these pools, of which the team `a` has one slice or node each."""
    cluster = {"location": "us-east5-a", "addons": {"kueue": {}}, "pools": pools, "gpuPools": gpu_pools or {}}
    quotas = {
        "pools": {name: {"slices": 1} for name in pools},
        "gpuPools": {name: {"nodes": 1} for name in gpu_pools or ()},
    }
    spec = parse_platform(
        {
            "name": "lab",
            "project": "tpuplane-lab",
            "teams": {"a": {"clusters": {"main": quotas}}},
            "clusters": {"main": cluster},
        }
    )
    found = plan(spec).clusters[0].queues
    assert found is not None
    return found


def queued(queues: QueuesPlan) -> list[FlavorPlan]:
    """The flavors whose work waits for a ProvisioningRequest."""
    return [flavor for flavor in queues.flavors if flavor.provisioning is not None]


def test_work_for_queued_hosts_waits_for_their_request_and_other_work_does_not() -> None:
    queues = queues_of(later=QUEUED, now=FIXED)
    (check,) = queued(queues)
    assert check.name == "v6e-4x4-flex-start-queued"
    assert check.provisioning is not None
    assert check.provisioning.managed_resources == ("google.com/tpu",)
    assert check.provisioning.max_run_seconds == 43200
    (queue,) = queues.cluster_queues
    assert [(use.check, use.flavors) for use in queue.checks] == [(check.name, (check.name,))]
    assert {quota.flavor for quota in queue.flavors} == {"cpu", "v6e-4x4", check.name}


def test_only_the_queue_with_queued_hosts_waits_for_requests() -> None:
    queues = queues_of(later=QUEUED, soon=FLEX)
    (check,) = queued(queues)
    assert {
        cluster_queue.name: [use.flavors for use in cluster_queue.checks] for cluster_queue in queues.cluster_queues
    } == {"a": [(check.name,)], "a-elastic": []}


def test_flex_start_alone_asks_for_nothing() -> None:
    queues = queues_of(soon=FLEX)
    assert queued(queues) == []
    assert queues.cluster_queues[0].checks == ()


def test_work_is_promised_no_more_time_than_any_pool_of_the_flavor_gives() -> None:
    shorter = {**QUEUED, "flexStart": {"queued": True, "maxRunDuration": "90m"}}
    (check,) = queued(queues_of(long=QUEUED, short=shorter))
    assert check.provisioning is not None
    assert check.provisioning.max_run_seconds == 5400


def test_a_request_for_gpus_is_a_check_of_its_own() -> None:
    queues = queues_of({"h100s": GPUS}, later=QUEUED)
    assert {flavor.name: flavor.provisioning.managed_resources for flavor in queued(queues) if flavor.provisioning} == {
        "a3-highgpu-8g-flex-start-queued": ("nvidia.com/gpu",),
        "v6e-4x4-flex-start-queued": ("google.com/tpu",),
    }


def test_only_queued_nodes_have_the_label_and_the_taint_of_queueing() -> None:
    flavors = {flavor.name: flavor for flavor in queues_of(later=QUEUED, soon=FLEX).flavors}
    queued, plain = flavors["v6e-4x4-flex-start-queued"], flavors["v6e-4x4-flex-start-elastic"]
    assert queued.node_labels == {
        **plain.node_labels,
        "cloud.google.com/gke-queued": "true",
        "tpuplane-flavor": queued.name,
    }
    assert set(queued.tolerated_taints) - set(plain.tolerated_taints) == {"cloud.google.com/gke-queued"}


def test_hosts_that_a_request_brings_are_placed_by_topology() -> None:
    queues = queues_of(now=FIXED, later=QUEUED, soon=FLEX)
    assert {flavor.name: flavor.topology for flavor in queues.flavors} == {
        "cpu": "slices",
        "cpu-elastic": None,
        "v6e-4x4": "slices",
        "v6e-4x4-flex-start-elastic": None,
        "v6e-4x4-flex-start-queued": "slices",
    }
    assert [topology.name for topology in queues.topologies] == ["slices"]


def test_cubes_for_dynamic_slicing_are_joined_within_their_block() -> None:
    cube = {
        "generation": "tpu7x",
        "topology": "4x4x4",
        "capacity": "reservation",
        "reservation": {"name": "nightly", "block": "one"},
        "slices": 2,
    }
    pools = {"joined": {**cube, "slices": 1}, "cubes": {**cube, "acceleratorTopologyMode": "PROVISION_ONLY"}}
    spec = parse_platform(
        {
            "name": "lab",
            "project": "tpuplane-lab",
            "reservations": {"nightly": {"generation": "tpu7x", "zone": "us-central1-c", "chips": 192}},
            "teams": {"a": {"clusters": {"main": {"pools": {name: {"slices": 1} for name in pools}}}}},
            "clusters": {"main": {"location": "us-central1-c", "addons": {"kueue": {}}, "pools": pools}},
        }
    )
    cluster = plan(spec).clusters[0]
    queues = cluster.queues
    assert queues is not None
    levels = {topology.name: topology.levels for topology in queues.topologies}
    placed = {flavor.name: levels[flavor.topology or ""] for flavor in queues.flavors}
    assert placed["tpu7x-4x4x4-reservation-nightly"] == placed["cpu"]
    pool, host = placed["cpu"]
    sizes = [re.sub(".*-partition-(.*)-id", r"\1", level) for level in placed["tpu7x-4x4x4-reservation-nightly-cubes"]]
    assert sizes == ["cloud.google.com/gce-topology-block", "4x4x4", pool, "2x4x4", "2x2x4", "2x2x2", "2x2x1", host]

    # A cube is offered whatever its state, and its hosts are upgraded at once.
    (labels,) = (flavor.node_labels for flavor in queues.flavors if flavor.topology == "cubes")
    assert labels["cloud.google.com/gke-tpu-accelerator"] == "tpu7x"
    assert not [key for key in labels if "topology" in key or "partition" in key]
    upgrades = {pool.pool: (pool.upgrade.max_surge, pool.upgrade.max_unavailable) for pool in cluster.tpu_pools}
    assert upgrades == {"joined": (0, 1), "cubes": (0, 16)}
