"""Changes that are admitted while the backend is at work: none of them is written over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tpuplane_twin.gcp.app import RECONCILER, resume
from tpuplane_twin.gcp.store import Store

from tests.support.gcp.twin_api import (
    CLUSTERS,
    LOCATION,
    PROJECT,
    Api,
    MemoryBackend,
    cluster_body,
    serving,
    slice_pool,
)

pytestmark = pytest.mark.twin

CLUSTER = f"{CLUSTERS}/c1"
POOL = f"{CLUSTER}/nodePools/tpu"
POOL_KEY = f"projects/{PROJECT}/locations/{LOCATION}/clusters/c1/nodePools/tpu"
UPGRADE = {"update": {"desiredMasterVersion": "latest"}}
LABELS = {"labels": {"labels": {"team": "research"}}}


@pytest.fixture
async def spot(cluster: Api) -> Api:
    """A cluster with an autoscaled pool `tpu` of four spot hosts."""
    config = {"machineType": "ct6e-standard-4t", "spot": True}
    await cluster.done(
        "POST", f"{CLUSTER}/nodePools", {"nodePool": slice_pool("tpu", config=config, initialNodeCount=4)}
    )
    return cluster


@asynccontextmanager
async def coming_back(folder: Path) -> AsyncIterator[Api]:
    """A second twin on the state of a first, while its backend starts the first's cluster and is held at that."""
    path = folder / "state.db"
    async with serving(Store(path), MemoryBackend()) as api:
        await api.add_network()
        await api.add_cluster()

    backend = MemoryBackend()
    backend.hold()
    async with serving(Store(path), backend) as api:
        await api.reached("create_cluster", "c1")
        yield api


async def test_an_update_of_a_cluster_that_is_being_made_is_part_of_it(project: Api) -> None:
    project.backend.hold()
    created = await project.call("POST", CLUSTERS, {"cluster": cluster_body()})
    await project.reached("create_cluster", "c1")
    updated = await project.call("PUT", CLUSTER, UPGRADE)
    project.backend.go.set()
    assert "statusMessage" not in await project.wait(created)
    assert "statusMessage" not in await project.wait(updated)
    found = await project.call("GET", CLUSTER)
    assert found["currentMasterVersion"] > found["initialClusterVersion"]
    assert project.backend.clusters["c1"].version == found["currentMasterVersion"]
    assert found["endpoint"] == found["privateClusterConfig"]["publicEndpoint"] == "127.0.0.1:6443"


async def test_a_cluster_that_is_deleted_while_it_is_made_stays_stopping(project: Api) -> None:
    project.backend.hold()
    created = await project.call("POST", CLUSTERS, {"cluster": cluster_body()})
    await project.reached("create_cluster", "c1")
    deleted = await project.call("DELETE", CLUSTER)
    project.backend.step()
    await project.reached("apply_node_pool", "default-pool")
    project.backend.step()
    await project.wait(created)
    assert (await project.call("GET", CLUSTER))["status"] == "STOPPING"
    project.backend.go.set()
    assert "statusMessage" not in await project.wait(deleted)
    await project.rejected("GET", CLUSTER, None, 404)


async def test_a_cluster_that_could_not_be_made_is_deleted_without_complaint(project: Api) -> None:
    project.backend.hold()
    await project.call("POST", CLUSTERS, {"cluster": cluster_body()})
    deleted = await project.call("DELETE", CLUSTER)
    project.backend.reject["c1"] = "port 6443 is taken"
    project.backend.go.set()
    assert "statusMessage" not in await project.wait(deleted)
    await project.rejected("GET", CLUSTER, None, 404)


async def test_an_update_that_fails_leaves_a_deletion_stopping(cluster: Api) -> None:
    cluster.backend.hold()
    updated = await cluster.call("PUT", CLUSTER, UPGRADE)
    await cluster.reached("update_cluster", "c1")
    await cluster.call("DELETE", CLUSTER)
    cluster.backend.reject["c1"] = "the disk is full"
    cluster.backend.step()
    assert (await cluster.wait(updated))["statusMessage"] == "the disk is full"
    assert (await cluster.call("GET", CLUSTER))["status"] == "STOPPING"


@pytest.mark.parametrize("comes_back", [True, False])
async def test_changes_to_a_cluster_that_is_coming_back_are_kept(tmp_path: Path, comes_back: bool) -> None:
    async with coming_back(tmp_path) as api:
        backend = api.backend
        updated = await api.call("PUT", CLUSTER, UPGRADE)
        if comes_back:
            backend.go.set()
            await resume(api.app)
            await api.wait(updated)
            assert backend.clusters["c1"].version == "1.35.4-gke.1200000"
        else:
            backend.reject["c1"] = "port 6443 is taken"
            backend.go.set()
            assert (await api.wait(updated))["statusMessage"] == "port 6443 is taken"
        assert (await api.call("GET", CLUSTER))["currentMasterVersion"] == "1.35.4-gke.1200000"


@pytest.mark.parametrize("comes_back", [True, False])
async def test_a_cluster_that_is_deleted_while_it_comes_back_stays_stopping(tmp_path: Path, comes_back: bool) -> None:
    async with coming_back(tmp_path) as api:
        backend = api.backend
        await api.call("DELETE", CLUSTER)
        if not comes_back:
            backend.reject["c1"] = "port 6443 is taken"
        backend.step()
        await api.reached("delete_cluster", "c1")
        assert (await api.call("GET", CLUSTER))["status"] == "STOPPING"


async def test_an_update_of_a_pool_whose_hosts_are_taken_back_is_kept(spot: Api) -> None:
    spot.backend.hold()
    reclaimed = asyncio.create_task(spot.app[RECONCILER].reclaim(POOL_KEY))
    await spot.reached("delete_node_pool", "tpu")
    updated = await spot.call("PUT", POOL, LABELS)
    spot.backend.go.set()
    await reclaimed
    await spot.wait(updated)
    assert (await spot.call("GET", POOL))["config"]["labels"] == {"team": "research"}


async def test_a_pool_that_is_deleted_meanwhile_gets_no_new_hosts(spot: Api) -> None:
    spot.backend.hold()
    reclaimed = asyncio.create_task(spot.app[RECONCILER].reclaim(POOL_KEY))
    await spot.reached("delete_node_pool", "tpu")
    deleted = await spot.call("DELETE", POOL)
    spot.backend.calls.clear()
    spot.backend.go.set()
    await reclaimed
    await spot.wait(deleted)
    assert spot.backend.calls == [("delete_node_pool", "tpu")]
    await spot.rejected("GET", POOL, None, 404)
