"""Sizes that the cluster autoscaler gives to pools: behind the configuration, and kept."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tpuplane_twin.gcp.app import RECONCILER, resume
from tpuplane_twin.gcp.backend import BackendError, node_numbers
from tpuplane_twin.gcp.store import Store

from tests.support.gcp.twin_api import (
    CLUSTERS,
    COMPUTE,
    LOCATION,
    PROJECT,
    PROJECT_PATH,
    Api,
    MemoryBackend,
    serving,
    slice_pool,
)

pytestmark = pytest.mark.twin

POOLS = f"{CLUSTERS}/c1/nodePools"
KEY = f"projects/{PROJECT}/locations/{LOCATION}/clusters/c1/nodePools"
ZONE = "us-central1-b"


async def add_pool(api: Api, name: str = "cpu", **fields: Any) -> None:
    pool = {
        "name": name,
        "locations": [ZONE],
        "initialNodeCount": 2,
        "autoscaling": {"enabled": True, "minNodeCount": 1, "maxNodeCount": 5},
        **fields,
    }
    await api.done("POST", POOLS, {"nodePool": pool})


async def target_sizes(api: Api) -> list[int]:
    groups = await api.call("GET", f"{COMPUTE}/zones/{ZONE}/instanceGroupManagers")
    return [group["targetSize"] for group in groups["items"]]


async def test_a_resize_shows_in_the_instance_group_and_nowhere_else(cluster: Api) -> None:
    await add_pool(cluster)
    pool = await cluster.call("GET", f"{POOLS}/cpu")
    operations = await cluster.call("GET", f"{PROJECT_PATH}/operations")
    assert await cluster.app[RECONCILER].resize(f"{KEY}/cpu", {ZONE: [0, 1]}, {ZONE: [1, 2, 3]})
    assert cluster.backend.clusters["c1"].pools["cpu"] == {ZONE: 3}
    assert await target_sizes(cluster) == [3]
    assert await cluster.call("GET", f"{POOLS}/cpu") == pool
    assert await cluster.call("GET", f"{PROJECT_PATH}/operations") == operations
    assert (await cluster.call("GET", f"{CLUSTERS}/c1"))["currentNodeCount"] == 3


async def test_an_update_keeps_the_size_and_a_resize_by_hand_takes_the_last_nodes(cluster: Api) -> None:
    await add_pool(cluster)
    await cluster.app[RECONCILER].resize(f"{KEY}/cpu", {ZONE: [0, 1]}, {ZONE: [1, 2, 4]})
    await cluster.done("PUT", f"{POOLS}/cpu", {"labels": {"labels": {"team": "research"}}})
    assert node_numbers(cluster.store.get("nodePool", f"{KEY}/cpu") or {}) == {ZONE: [1, 2, 4]}
    await cluster.done("POST", f"{POOLS}/cpu:setAutoscaling", {"autoscaling": {"enabled": False}})
    assert await target_sizes(cluster) == [3]
    await cluster.done("POST", f"{POOLS}/cpu:setSize", {"nodeCount": 2})
    assert node_numbers(cluster.store.get("nodePool", f"{KEY}/cpu") or {}) == {ZONE: [1, 2]}
    assert (await cluster.call("GET", f"{POOLS}/cpu"))["initialNodeCount"] == 2


async def test_a_raised_minimum_adds_nodes(cluster: Api) -> None:
    await add_pool(cluster)
    await cluster.app[RECONCILER].resize(f"{KEY}/cpu", {ZONE: [0, 1]}, {ZONE: [1]})
    limits = {"autoscaling": {"enabled": True, "minNodeCount": 3, "maxNodeCount": 5}}
    await cluster.done("POST", f"{POOLS}/cpu:setAutoscaling", limits)
    assert node_numbers(cluster.store.get("nodePool", f"{KEY}/cpu") or {}) == {ZONE: [0, 1, 2]}


async def test_disabled_autoscaling_is_empty_as_in_the_answers_of_google(cluster: Api) -> None:
    await add_pool(cluster)
    # The request of `gcloud container node-pools update --no-enable-autoscaling`.
    zeros = {"enabled": False, "maxNodeCount": 0, "locationPolicy": "LOCATION_POLICY_UNSPECIFIED"}
    await cluster.done("POST", f"{POOLS}/cpu:setAutoscaling", {"autoscaling": zeros})
    assert (await cluster.call("GET", f"{POOLS}/cpu"))["autoscaling"] == {}
    await cluster.done(
        "POST", f"{POOLS}/cpu:setAutoscaling", {"autoscaling": {"enabled": True, "totalMaxNodeCount": 5}}
    )
    assert (await cluster.call("GET", f"{POOLS}/cpu"))["autoscaling"] == {"enabled": True, "totalMaxNodeCount": 5}


async def test_only_an_unchanged_pool_is_resized(cluster: Api) -> None:
    await add_pool(cluster)
    await add_pool(cluster, "fixed", autoscaling={})
    before = len(cluster.backend.calls)
    assert not await cluster.app[RECONCILER].resize(f"{KEY}/cpu", {ZONE: [0]}, {ZONE: []})
    assert not await cluster.app[RECONCILER].resize(f"{KEY}/fixed", {ZONE: [0, 1]}, {ZONE: [0]})
    assert not await cluster.app[RECONCILER].resize(f"{KEY}/gone", {ZONE: [0]}, {ZONE: [0, 1]})
    assert len(cluster.backend.calls) == before


@pytest.mark.parametrize("why", ["ZONE_RESOURCE_POOL_EXHAUSTED", "Internal error: KeyError: 'labels'"])
async def test_a_resize_that_fails_leaves_the_pool_as_it_was(cluster: Api, why: str) -> None:
    await add_pool(cluster)
    if why.startswith("Internal"):
        cluster.backend.crash.add("cpu")
    else:
        cluster.backend.reject["cpu"] = why
    with pytest.raises(BackendError, match=why):
        await cluster.app[RECONCILER].resize(f"{KEY}/cpu", {ZONE: [0, 1]}, {ZONE: [0, 1, 2]})
    assert await target_sizes(cluster) == [2]
    assert (await cluster.call("GET", f"{POOLS}/cpu"))["status"] == "RUNNING"


async def test_missing_nodes_are_created_again_unless_an_operation_runs(cluster: Api) -> None:
    await add_pool(cluster)
    cluster.backend.clusters["c1"].pools["cpu"] = {ZONE: 1}
    await cluster.app[RECONCILER].replace(f"{KEY}/cpu", {ZONE: [1]})
    assert cluster.backend.clusters["c1"].pools["cpu"] == {ZONE: 2}

    cluster.backend.hold()
    deleted = await cluster.call("DELETE", f"{POOLS}/cpu")
    await cluster.reached("delete_node_pool", "cpu")
    repaired = asyncio.create_task(cluster.app[RECONCILER].replace(f"{KEY}/cpu", {ZONE: [1]}))
    cluster.backend.go.set()
    await repaired
    await cluster.wait(deleted)
    assert cluster.backend.calls[-1] == ("delete_node_pool", "cpu")


async def test_sizes_survive_a_restart(tmp_path: Path) -> None:
    store = Store(tmp_path / "state.db")
    async with serving(store, MemoryBackend()) as api:
        await api.add_network()
        await api.add_cluster()
        await api.done("POST", POOLS, {"nodePool": slice_pool()})
        assert await api.app[RECONCILER].resize(f"{KEY}/slice", {ZONE: []}, {ZONE: [0, 1, 2, 3]})
    store.close()
    store = Store(tmp_path / "state.db")
    backend = MemoryBackend()
    async with serving(store, backend) as api:
        await resume(api.app)
        assert backend.clusters["c1"].pools["slice"] == {ZONE: 4}
        assert await target_sizes(api) == [4]
    store.close()
