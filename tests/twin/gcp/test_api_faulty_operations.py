"""Faults of operations, and creations without capacity: what they leave, and what they keep away."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tpuplane_twin.gcp.app import resume
from tpuplane_twin.gcp.store import Store

from tests.support.gcp.api_faults import LABELS, POOL, POOLS, fault, left, pool
from tests.support.gcp.twin_api import CLUSTERS, Api, MemoryBackend, cluster_body, serving

pytestmark = pytest.mark.twin


@pytest.mark.parametrize(
    ("kind", "status", "nodes"),
    [
        ("operation-fails-running", "RUNNING", 4),
        ("operation-fails-running-with-error", "RUNNING_WITH_ERROR", 4),
        ("operation-fails-error", "ERROR", None),
        ("operation-stockout", "ERROR", None),
        ("operation-fails-absent", None, None),
    ],
)
async def test_a_failed_creation_leaves_the_pool_as_the_kind_says(
    cluster: Api, kind: str, status: str | None, nodes: int | None
) -> None:
    await fault(cluster, kind)
    operation = await cluster.wait(await cluster.call("POST", POOLS, POOL))
    code = "GCE_STOCKOUT" if kind == "operation-stockout" else "GCE_QUOTA_EXCEEDED"
    assert f"[{code}]: Instance 'gke-trainer-0' creation failed" in operation["statusMessage"]
    assert cluster.backend.clusters["c1"].pools.get("trainer-0") == ({"us-central1-b": nodes} if nodes else None)
    if status is None:
        await cluster.rejected("GET", f"{POOLS}/trainer-0", None, 404)
        await cluster.done("POST", POOLS, POOL)
        return
    assert await pool(cluster) == (status, "" if status == "RUNNING" else operation["statusMessage"])
    if status != "RUNNING":
        (condition,) = (await cluster.call("GET", f"{POOLS}/trainer-0"))["conditions"]
        assert (condition["code"], condition["canonicalCode"]) == (code, "RESOURCE_EXHAUSTED")
    await cluster.done("DELETE", f"{POOLS}/trainer-0")


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("operation-fails-running", "RUNNING"),
        ("operation-fails-running-with-error", "RUNNING_WITH_ERROR"),
        ("operation-fails-error", "ERROR"),
        ("operation-fails-absent", None),
    ],
)
async def test_a_failed_deletion_leaves_the_pool_as_the_kind_says(cluster: Api, kind: str, status: str | None) -> None:
    await cluster.done("POST", POOLS, POOL)
    await fault(cluster, kind, "nodePools.delete")
    operation = await cluster.wait(await cluster.call("DELETE", f"{POOLS}/trainer-0"))
    assert operation["statusMessage"]
    assert ("trainer-0" in cluster.backend.clusters["c1"].pools) == (status is not None)
    if status is None:
        await cluster.rejected("GET", f"{POOLS}/trainer-0", None, 404)
    else:
        assert (await pool(cluster))[0] == status
        await cluster.done("DELETE", f"{POOLS}/trainer-0")


@pytest.mark.parametrize(("kind", "labels"), [("operation-fails-running", {"a": "b"}), ("operation-aborts", None)])
async def test_a_failed_update_is_done_or_undone(cluster: Api, kind: str, labels: Any) -> None:
    await cluster.done("POST", POOLS, POOL)
    await fault(cluster, kind, "nodePools.update")
    operation = await cluster.wait(await cluster.call("PUT", f"{POOLS}/trainer-0", LABELS))
    assert operation["statusMessage"]
    found = await cluster.call("GET", f"{POOLS}/trainer-0")
    assert (found["status"], found["config"].get("labels")) == ("RUNNING", labels)
    await cluster.done("PUT", f"{POOLS}/trainer-0", LABELS)


@pytest.mark.parametrize("status", ["RUNNING", "ERROR", None])
async def test_a_failed_creation_of_a_cluster_leaves_it_as_the_kind_says(project: Api, status: str | None) -> None:
    await fault(project, f"operation-fails-{(status or 'absent').lower()}", "clusters.create", resource="clusters/c?")
    operation = await project.wait(await project.call("POST", CLUSTERS, {"cluster": cluster_body()}))
    assert operation["statusMessage"]
    if status is None:
        await project.rejected("GET", f"{CLUSTERS}/c1", None, 404)
        return
    found = await project.call("GET", f"{CLUSTERS}/c1")
    assert [found["status"], *(node_pool["status"] for node_pool in found["nodePools"])] == [status, status]
    assert bool(found.get("endpoint")) == (status == "RUNNING")
    await project.done("DELETE", f"{CLUSTERS}/c1")


async def test_a_failed_deletion_of_a_cluster_leaves_its_pools(cluster: Api) -> None:
    await cluster.done("POST", POOLS, POOL)
    await fault(cluster, "operation-fails-running", "clusters.delete")
    await cluster.wait(await cluster.call("DELETE", f"{CLUSTERS}/c1"))
    assert (await pool(cluster))[0] == "RUNNING"
    assert (await cluster.call("GET", f"{CLUSTERS}/c1"))["status"] == "RUNNING"


async def test_an_operation_hangs_until_the_fault_is_cleared_and_keeps_changes_away(cluster: Api) -> None:
    await fault(cluster, "operation-hangs")
    operation = await cluster.call("POST", POOLS, POOL)
    await held(cluster)
    message = f"Cluster is running incompatible operation {operation['name']}."
    for method, path, body in (
        ("POST", POOLS, {"nodePool": {"name": "b", "initialNodeCount": 1}}),
        ("DELETE", f"{POOLS}/trainer-0", None),
        ("PUT", f"{CLUSTERS}/c1", {"update": {"desiredMasterVersion": "latest"}}),
        ("DELETE", f"{CLUSTERS}/c1", None),
    ):
        assert await cluster.rejected(method, path, body, 400) == message
    assert (await pool(cluster))[0] == "PROVISIONING"
    assert (await cluster.call("GET", f"{CLUSTERS}/c1"))["status"] == "RUNNING"
    (hanging,) = (await left(cluster))["faultyOperations"]
    assert (hanging["operation"], hanging["kind"]) == (operation["name"], "operation-hangs")
    # Other clusters are free.
    await cluster.done("POST", CLUSTERS, {"cluster": cluster_body("c2")})
    assert (await cluster.call("DELETE", "/twin/faults"))["faultyOperations"] == []
    assert "statusMessage" not in await cluster.wait(operation)
    await cluster.done("DELETE", f"{POOLS}/trainer-0")


async def held(api: Api) -> None:
    """Wait until an operation holds the cluster."""
    while not api.store.values("held"):
        await asyncio.sleep(0)


async def test_a_creation_without_capacity_holds_the_cluster_until_there_is_some(tmp_path: Path) -> None:
    # 4 minutes are a quarter of a second, and 35 minutes are more than the test needs.
    async with serving(Store(tmp_path / "state.db"), MemoryBackend(), speed=1000) as api:
        await api.add_network()
        await api.add_cluster()
        await api.call("POST", "/twin/stockouts", {"zone": "us-central1-b", "generation": "v6e"})
        operation = await api.call("POST", POOLS, POOL)
        await held(api)
        message = f"Cluster is running incompatible operation {operation['name']}."
        assert await api.rejected("DELETE", f"{POOLS}/trainer-0", None, 400) == message
        assert (await pool(api))[0] == "PROVISIONING"
        await api.call("DELETE", "/twin/stockouts")
        assert "statusMessage" not in await api.wait(operation)
        assert (await pool(api))[0] == "RUNNING"
        await api.done("DELETE", f"{POOLS}/trainer-0")


async def test_a_twin_is_busy_while_a_creation_that_waited_for_capacity_is_tried_again(tmp_path: Path) -> None:
    """A rehearsal moves the clock while the twin is not busy."""
    backend = MemoryBackend()
    async with serving(Store(tmp_path / "state.db"), backend) as api:
        await api.add_network()
        await api.add_cluster()
        await api.call("POST", "/twin/clock", {"seconds": 0})
        await api.call("POST", "/twin/stockouts", {"zone": "us-central1-b", "generation": "v6e"})
        operation = await api.call("POST", POOLS, POOL)
        await held(api)
        waiting = await api.call("GET", "/twin/clock")
        assert not waiting["busy"]
        await api.call("DELETE", "/twin/stockouts")
        backend.hold()
        await api.call("POST", "/twin/clock", {"seconds": waiting["due"]})
        await api.reached("apply_node_pool", "trainer-0")
        assert (await api.call("GET", "/twin/clock"))["busy"]
        backend.go.set()
        await api.wait(operation)
        assert not (await api.call("GET", "/twin/clock"))["busy"]


async def test_rules_hanging_operations_and_the_hold_survive_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    async with serving(Store(path), MemoryBackend()) as api:
        await api.add_network()
        await api.add_cluster()
        await fault(api, "operation-hangs")
        await fault(api, "quota", "clusters.*", count=3, after=1)
        operation = await api.call("POST", POOLS, POOL)
        await held(api)
    async with serving(Store(path), MemoryBackend()) as api:
        await resume(api.app)
        assert operation["name"] in await api.rejected("DELETE", f"{POOLS}/trainer-0", None, 400)
        found = await left(api)
        (rule,), (hanging,) = found["faults"], found["faultyOperations"]
        assert rule == {"kind": "quota", "method": "clusters.*", "resource": "*", "count": 3, "after": 1}
        assert hanging["operation"] == operation["name"]
        await api.call("DELETE", "/twin/faults")
        assert "statusMessage" not in await api.wait(operation)
