"""Operations: one at a time per cluster, resumed after a kill, honest about failure."""

from __future__ import annotations

from pathlib import Path

import pytest
from tpuplane_twin.daemon.status import describe_store
from tpuplane_twin.gcp.app import resume
from tpuplane_twin.gcp.backend import BackendError
from tpuplane_twin.gcp.store import Store

from tests.support.gcp.twin_api import CLUSTERS, PROJECT_PATH, Api, MemoryBackend, cluster_body, serving, slice_pool

pytestmark = pytest.mark.twin

POOLS = f"{CLUSTERS}/c1/nodePools"


async def running(api: Api, name: str) -> str:
    return str((await api.call("GET", f"{PROJECT_PATH}/operations/{name}"))["status"])


async def test_a_busy_cluster_queues_the_next_operation(cluster: Api) -> None:
    cluster.backend.hold()
    first = await cluster.call("POST", POOLS, {"nodePool": {"name": "a", "initialNodeCount": 1}})
    second = await cluster.call("POST", POOLS, {"nodePool": {"name": "b", "initialNodeCount": 1}})
    assert await running(cluster, first["name"]) == "RUNNING"
    assert await running(cluster, second["name"]) == "PENDING"
    assert (await cluster.call("GET", f"{POOLS}/b"))["status"] == "PROVISIONING"
    cluster.backend.go.set()
    await cluster.wait(second)
    assert await running(cluster, first["name"]) == "DONE"
    assert cluster.backend.calls[-2:] == [("apply_node_pool", "a"), ("apply_node_pool", "b")]


async def test_clusters_do_not_wait_for_each_other(cluster: Api) -> None:
    cluster.backend.hold()
    slow = await cluster.call("POST", POOLS, {"nodePool": {"name": "a", "initialNodeCount": 1}})
    other = await cluster.call("POST", CLUSTERS, {"cluster": cluster_body("c2")})
    assert await running(cluster, slow["name"]) == "RUNNING"
    assert await running(cluster, other["name"]) == "RUNNING"


async def test_unknown_operations_are_not_found(api: Api) -> None:
    await api.rejected("GET", f"{PROJECT_PATH}/operations/operation-1", None, 404)


async def test_operations_are_listed(cluster: Api) -> None:
    found = await cluster.call("GET", f"{PROJECT_PATH}/operations")
    assert [operation["operationType"] for operation in found["operations"]] == ["CREATE_CLUSTER", "DELETE_NODE_POOL"]
    assert await cluster.call("GET", "/v1beta1/projects/acme/locations/-/operations") == found
    for elsewhere in ("acme/locations/us-east5", "other/locations/-"):
        assert (await cluster.call("GET", f"/v1beta1/projects/{elsewhere}/operations"))["operations"] == []


async def test_a_failed_cluster_fails_its_queued_operations(project: Api) -> None:
    project.backend.hold()
    created = await project.call("POST", CLUSTERS, {"cluster": cluster_body()})
    pool = await project.call("POST", POOLS, {"nodePool": {"name": "a", "initialNodeCount": 1}})
    project.backend.reject["c1"] = "port 6443 is taken"
    project.backend.go.set()
    assert (await project.wait(created))["statusMessage"] == "port 6443 is taken"
    assert (await project.wait(pool))["statusMessage"]
    await project.rejected("GET", f"{CLUSTERS}/c1", None, 404)
    await project.rejected("GET", f"{POOLS}/a", None, 404)
    project.backend.reject.clear()
    await project.done("POST", CLUSTERS, {"cluster": cluster_body()})


async def test_an_unexpected_failure_leaves_no_control_plane(project: Api) -> None:
    project.backend.crash.add("default-pool")
    created = await project.wait(await project.call("POST", CLUSTERS, {"cluster": cluster_body()}))
    assert created["statusMessage"] == "Internal error: KeyError: 'labels'"
    project.backend.crash = {"c2"}
    created = await project.wait(await project.call("POST", CLUSTERS, {"cluster": cluster_body("c2")}))
    assert created["statusMessage"] == "Internal error: KeyError: 'labels'"
    deletions = [call for call in project.backend.calls if call[0] == "delete_cluster"]
    assert deletions == [("delete_cluster", "c1"), ("delete_cluster", "c2")]


async def test_changes_of_a_cluster_in_error_are_rejected(cluster: Api) -> None:
    cluster.backend.reject["c1"] = "its folder cannot be removed"
    deleted = await cluster.wait(await cluster.call("DELETE", f"{CLUSTERS}/c1"))
    assert deleted["statusMessage"] == "its folder cannot be removed"
    changes = [
        ("POST", POOLS, {"nodePool": {"name": "a", "initialNodeCount": 1}}),
        ("PUT", f"{CLUSTERS}/c1", {"update": {"desiredMasterVersion": "latest"}}),
    ]
    for method, path, body in changes:
        error = (await cluster.call(method, path, body, status=400))["error"]
        # Clients try again for hours where a precondition failed: it may pass, and ERROR does not.
        assert error["status"] == "INVALID_ARGUMENT"
        assert error["message"].endswith("is in status ERROR, and can only be deleted. its folder cannot be removed")
    cluster.backend.reject.clear()
    await cluster.done("DELETE", f"{CLUSTERS}/c1")


async def test_a_stop_in_the_middle_is_finished_by_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    backend = MemoryBackend()
    async with serving(Store(path), backend) as api:
        await api.add_network()
        await api.add_cluster("c0")
        await api.done("POST", f"{CLUSTERS}/c0/nodePools", {"nodePool": slice_pool(autoscaling={}, initialNodeCount=4)})
        backend.hold()
        operation = await api.call("POST", CLUSTERS, {"cluster": cluster_body()})
        waiting = await api.call("POST", POOLS, {"nodePool": {"name": "a", "initialNodeCount": 1}})

    # The machine comes back empty: nothing is remembered but what the store says.
    backend = MemoryBackend()
    async with serving(Store(path), backend) as api:
        await resume(api.app)
        assert backend.clusters["c0"].pools == {"slice": {"us-central1-b": 4}}
        assert "statusMessage" not in await api.wait(operation)
        assert "statusMessage" not in await api.wait(waiting)
        assert (await api.call("GET", f"{CLUSTERS}/c1"))["status"] == "RUNNING"
        assert set(backend.clusters["c1"].pools) == {"default-pool", "a"}


async def test_a_cluster_that_does_not_come_back_is_degraded_until_it_does(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    async with serving(Store(path), MemoryBackend()) as api:
        await api.add_network()
        await api.add_cluster()

    broken = MemoryBackend()
    broken.reject["c1"] = "port 6443 is taken"
    async with serving(Store(path), broken) as api:
        with pytest.raises(BackendError, match=r"clusters/c1: port 6443 is taken"):
            await resume(api.app)
        found = await api.call("GET", f"{CLUSTERS}/c1")
        assert (found["status"], found["statusMessage"]) == ("DEGRADED", "port 6443 is taken")

    async with serving(Store(path), MemoryBackend()) as api:
        await resume(api.app)
        assert (await api.call("GET", f"{CLUSTERS}/c1"))["status"] == "RUNNING"


async def test_a_pool_that_does_not_come_back_keeps_none_of_the_others_away(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    async with serving(Store(path), MemoryBackend()) as api:
        await api.add_network()
        await api.add_cluster()
        for name in ("a", "b"):
            await api.done("POST", POOLS, {"nodePool": {"name": name, "initialNodeCount": 1}})

    broken = MemoryBackend()
    broken.reject["a"] = "IP_SPACE_EXHAUSTED"
    async with serving(Store(path), broken) as api:
        await resume(api.app)
        assert set(broken.clusters["c1"].pools) == {"b"}
        pool = await api.call("GET", f"{POOLS}/a")
        assert (pool["status"], pool["statusMessage"]) == ("RUNNING_WITH_ERROR", "IP_SPACE_EXHAUSTED")
        assert (await api.call("GET", f"{CLUSTERS}/c1"))["status"] == "RUNNING"

    async with serving(Store(path), MemoryBackend()) as api:
        await resume(api.app)
        pool = await api.call("GET", f"{POOLS}/a")
        assert (pool["status"], pool.get("statusMessage")) == ("RUNNING", None)


async def test_status_names_clusters_pools_and_running_operations(cluster: Api) -> None:
    await cluster.done("POST", POOLS, {"nodePool": slice_pool("s", autoscaling={}, initialNodeCount=4)})
    cluster.backend.hold()
    operation = await cluster.call("POST", POOLS, {"nodePool": slice_pool("t")})
    await cluster.call("GET", CLUSTERS)
    reader = Store(cluster.store.path, read_only=True)
    seen = describe_store(reader)
    reader.close()
    (found,) = seen["clusters"]
    assert (found["name"], found["status"], found["endpoint"]) == ("c1", "RUNNING", "127.0.0.1:6443")
    pools = {pool["name"]: pool for pool in found["nodePools"]}
    assert (pools["s"]["nodes"], pools["s"]["chips"], pools["s"]["slice"]) == (4, 16, "v6e 4x4")
    assert (pools["t"]["nodes"], pools["t"]["status"]) == (0, "PROVISIONING")
    assert [work["name"] for work in seen["operations"]] == [operation["name"]]
    assert seen["operations"][0]["target"].endswith("/nodePools/t")
