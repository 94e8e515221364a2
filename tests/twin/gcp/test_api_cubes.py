"""Cubes for dynamic slicing: the labels of their nodes, as Kueue's topology needs them."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane.plan.flavors import CUBE_TOPOLOGY
from tpuplane_twin.cluster.nodes import Pool

from tests.support.gcp.twin_api import CLUSTERS, COMPUTE, LOCATION, Api

pytestmark = pytest.mark.twin

CLUSTER = f"{CLUSTERS}/c1"
BLOCK, PARTITION, _, *PARTS, _ = CUBE_TOPOLOGY.levels
TOPOLOGY = "cloud.google.com/gke-tpu-topology"


def cube(name: str) -> dict[str, Any]:
    reserved = "projects/acme/reservations/cubes/reservationBlocks/one"
    return {
        "name": name,
        "initialNodeCount": 16,
        "locations": ["us-central1-c"],
        "placementPolicy": {"policyName": "wp"},
        "config": {
            "machineType": "tpu7x-standard-4t",
            "reservationAffinity": {
                "consumeReservationType": "SPECIFIC_RESERVATION",
                "key": "compute.googleapis.com/reservation-name",
                "values": [reserved],
            },
        },
    }


async def labels(api: Api, name: str, mode: str) -> list[dict[str, str]]:
    """The labels of the nodes of such a cube, as its control plane gets it."""
    policies = f"{COMPUTE}/regions/{LOCATION}/resourcePolicies"
    workload = {"type": "HIGH_THROUGHPUT", "acceleratorTopology": "4x4x4", "acceleratorTopologyMode": mode}
    body = cube(name)
    body["placementPolicy"]["policyName"] = mode.lower().replace("_", "-")
    found = await api.call("GET", policies)
    if body["placementPolicy"]["policyName"] not in {item["name"] for item in found.get("items", [])}:
        await api.call("POST", policies, {"name": body["placementPolicy"]["policyName"], "workloadPolicy": workload})
    await api.done("POST", f"{CLUSTER}/nodePools", {"nodePool": body})
    shown = await api.call("GET", f"{CLUSTER}/nodePools/{name}")
    assert not [field for field in shown if field.startswith("twin")]
    pool = Pool(api.backend.applied[name], await api.call("GET", CLUSTER))
    return [pool.labels(place, "host") for place in pool.places]


@pytest.fixture(autouse=True)
async def _reserved(cluster: Api) -> None:
    machines = {"count": "32", "instanceProperties": {"machineType": "tpu7x-standard-4t"}}
    reservations = f"{COMPUTE}/zones/us-central1-c/reservations"
    await cluster.call("POST", reservations, {"name": "cubes", "specificReservation": machines})


async def test_cubes_of_a_block_have_distinct_labels(cluster: Api) -> None:
    hosts, others = await labels(cluster, "first", "PROVISION_ONLY"), await labels(cluster, "second", "PROVISION_ONLY")
    for own in (*hosts, *others):
        assert set(CUBE_TOPOLOGY.levels) <= own.keys()
        assert TOPOLOGY not in own
    assert len({own[BLOCK] for own in (*hosts, *others)}) == 1
    assert len({own[PARTITION] for own in (*hosts, *others)}) == 2
    # Hosts with the same small partition have the same larger ones.
    counts = [len({tuple(own[level] for level in PARTS[: depth + 1]) for own in hosts}) for depth in range(len(PARTS))]
    assert counts == [len({own[level] for own in hosts}) for level in PARTS] == [2, 4, 8, 16]


async def test_a_cube_that_is_joined_at_once_is_no_part_of_anything(cluster: Api) -> None:
    for own in await labels(cluster, "whole", "AUTO_CONNECT"):
        assert not {BLOCK, PARTITION} & own.keys()
        assert own[TOPOLOGY] == "4x4x4"
