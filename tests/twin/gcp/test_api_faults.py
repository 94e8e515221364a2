"""Faults of Google's API: every kind, what it answers and leaves, and how rules are matched, stored and cleared."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import aiohttp
import psutil
import pytest
from tpuplane_twin.cli import app
from tpuplane_twin.gcp.app import METHODS, resume
from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.machine.paths import TwinPaths
from typer.testing import CliRunner

from tests.support.gcp.twin_api import (
    CLUSTERS,
    COMPUTE,
    PROJECT,
    PROJECT_PATH,
    TOKEN,
    Api,
    MemoryBackend,
    cluster_body,
    serving,
    slice_pool,
)

pytestmark = pytest.mark.twin

PAGE = Path(__file__).parents[3] / "docs" / "twin-api.md"
POOLS = f"{CLUSTERS}/c1/nodePools"
FIXED: dict[str, Any] = {"autoscaling": {}, "initialNodeCount": 4}
POOL = {"nodePool": slice_pool("trainer-0", **FIXED)}
KINDS: dict[str, Any] = data("faults")["kinds"]
LABELS = {"labels": {"labels": {"a": "b"}}}


async def fault(api: Api, kind: str, method: str = "nodePools.create", **fields: Any) -> list[Any]:
    """Add a fault; all of them."""
    found = await api.call("POST", "/twin/faults", {"kind": kind, "method": method, **fields})
    return list(found["faults"])


async def left(api: Api) -> dict[str, Any]:
    return await api.call("GET", "/twin/faults")


async def pool(api: Api) -> tuple[str, str]:
    found = await api.call("GET", f"{POOLS}/trainer-0")
    return found["status"], found.get("statusMessage", "")


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if "code" in kind])
async def test_an_error_answer_has_googles_code_reason_and_message(cluster: Api, kind: str) -> None:
    method, path, body = "nodePools.create", POOLS, POOL
    if kind == "conflict":
        method, path, body = "projects.setIamPolicy", f"/crm/v1/projects/{PROJECT}:setIamPolicy", {"policy": {}}
    assert len(await fault(cluster, kind, method)) == 1
    async with cluster.session.post(cluster.url + path, json=body) as response:
        error = (await response.json())["error"]
        assert response.headers.get("Retry-After") == ("2" if kind == "rate-limit" else None)
    assert (response.status, error["code"], error["status"]) == (
        KINDS[kind]["code"],
        KINDS[kind]["code"],
        KINDS[kind]["status"],
    )
    assert error["errors"][0]["reason"] == KINDS[kind].get("reason", "backendError")
    assert "{" not in error["message"]
    assert await left(cluster) == {"faults": [], "faultyOperations": []}
    assert (await cluster.call("GET", POOLS)).get("nodePools", []) == []
    await cluster.call("POST", path, body)


async def test_the_message_names_what_the_request_is_about(cluster: Api) -> None:
    await fault(cluster, "already-exists")
    message = await cluster.rejected("POST", POOLS, POOL, 409)
    assert message == f"Already exists: {PROJECT_PATH.removeprefix('/v1beta1/')}/clusters/c1/nodePools/trainer-0."
    await fault(cluster, "quota", message="Quota 'TPUS_PER_TPU_FAMILY' exceeded.")
    assert await cluster.rejected("POST", POOLS, POOL, 403) == "Quota 'TPUS_PER_TPU_FAMILY' exceeded."
    await fault(cluster, "quota", "networks.insert")
    error = (await cluster.call("POST", f"{COMPUTE}/global/networks", {"name": "n"}, status=403))["error"]
    assert "status" not in error


async def test_an_incompatible_operation_is_named_as_gke_names_it(cluster: Api) -> None:
    await fault(cluster, "incompatible-operation")
    error = (await cluster.call("POST", POOLS, POOL, status=400))["error"]
    assert re.fullmatch(r"Cluster is running incompatible operation operation-\d+-[0-9a-f-]+\.", error["message"])
    assert error["details"][0]["reason"] == "CLUSTER_ALREADY_HAS_OPERATION"


async def test_a_slow_answer_comes_late_and_has_done_its_work(cluster: Api) -> None:
    await fault(cluster, "slow", seconds=1)
    slow = asyncio.create_task(cluster.call("POST", POOLS, POOL))
    while not (await cluster.call("GET", POOLS)).get("nodePools"):
        pass
    assert not slow.done()
    assert "statusMessage" not in await cluster.wait(await slow)


@pytest.mark.parametrize(("kind", "pools"), [("cut", 0), ("lost-answer", 1)])
async def test_a_connection_ends_before_or_after_the_work(cluster: Api, kind: str, pools: int) -> None:
    await fault(cluster, kind)
    with pytest.raises(aiohttp.ClientConnectionError):
        await cluster.call("POST", POOLS, POOL)
    assert len((await cluster.call("GET", POOLS)).get("nodePools", [])) == pools


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


async def test_rules_are_matched_in_their_order_by_method_resource_count_and_after(cluster: Api) -> None:
    await fault(cluster, "unavailable", "nodePools.list", after=1)
    await fault(cluster, "internal", "container.projects.locations.clusters.nodePools.list", count=2)
    await fault(cluster, "quota", "*", resource="clusters/c2/*", count="always")
    codes = []
    for _ in range(4):
        async with cluster.session.get(cluster.url + POOLS) as response:
            codes.append(response.status)
    assert codes == [500, 503, 500, 200]
    for _ in range(2):
        await cluster.rejected("GET", f"{CLUSTERS}/c2/nodePools", None, 403)
    assert [rule["kind"] for rule in (await left(cluster))["faults"]] == ["quota"]


async def test_a_rejected_request_does_not_use_the_fault_of_an_operation(cluster: Api) -> None:
    await fault(cluster, "operation-fails-error")
    wrong = {"nodePool": slice_pool("trainer-0", placementPolicy={"type": "COMPACT", "tpuTopology": "3x3"})}
    await cluster.rejected("POST", POOLS, wrong, 400)
    assert len((await left(cluster))["faults"]) == 1


async def test_the_named_faults_are_cleared(api: Api) -> None:
    await fault(api, "quota")
    await fault(api, "quota", "nodePools.delete")
    await fault(api, "internal")
    kept = (await api.call("DELETE", "/twin/faults", {"kind": "quota", "method": "nodePools.create"}))["faults"]
    assert [(rule["kind"], rule["method"]) for rule in kept] == [
        ("quota", "nodePools.delete"),
        ("internal", "nodePools.create"),
    ]


async def test_a_batch_has_the_fault_of_its_part(project: Api) -> None:
    await fault(project, "rate-limit", "networks.get")
    part = f"GET {COMPUTE}/global/networks/net HTTP/1.1\r\n\r\n"
    body = f"--b\r\nContent-Type: application/http\r\nContent-ID: <1>\r\n\r\n{part}\r\n--b--\r\n"
    headers = {"Content-Type": "multipart/mixed; boundary=b"}
    async with project.session.post(f"{project.url}/batch/compute/v1", data=body, headers=headers) as response:
        text = await response.text()
    assert "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 2\r\n" in text


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "a fault needs kind, and method or resource"),
        ({"kind": "quota"}, "a fault needs kind, and method or resource"),
        ({"kind": "qota", "method": "*"}, r"'qota' is not a kind of fault; allowed: quota, .*; nearest: quota"),
        (
            {"kind": "quota", "method": "nodePool.create"},
            "'nodePool.create' matches no method that the twin serves; nearest: nodePools.create, .*",
        ),
        (
            {"kind": "operation-hangs", "method": "nodePools.list"},
            r"'nodePools.list' is not a method of operation-hangs; allowed: clusters.create, .*; nearest: .*",
        ),
        (
            {"kind": "operation-aborts", "method": "nodePools.create"},
            "'nodePools.create' is not a method of operation-aborts; allowed: nodePools.update",
        ),
        ({"kind": "quota", "method": "*", "times": 2}, "'times' is not a field of a fault; allowed: kind, method, .*"),
        ({"kind": "quota", "method": "*", "count": 0}, "count is '0'; allowed: always, or a whole number from 1"),
        ({"kind": "quota", "method": "*", "count": "two"}, "count is 'two'; allowed: always, .*"),
        ({"kind": "quota", "method": "*", "after": -1}, "after is '-1'; allowed: a whole number from 0"),
        ({"kind": "quota", "method": "*", "seconds": 3}, "quota has no seconds; kinds with it: slow"),
        ({"kind": "slow", "method": "*", "seconds": 0.5}, "seconds is '0.5'; allowed: a whole number from 0 to 9999"),
        ({"kind": "cut", "method": "*", "message": "x"}, "cut has no message; kinds with it: quota, .*"),
        ({"kind": "quota", "resource": ""}, "resource is ''; allowed: a text"),
    ],
)
async def test_a_rule_that_can_match_nothing_is_rejected(api: Api, body: dict[str, Any], message: str) -> None:
    assert re.fullmatch(message, await api.rejected("POST", "/twin/faults", body, 400))
    assert (await left(api))["faults"] == []


async def test_unknown_names_clear_nothing(api: Api) -> None:
    assert "'qota' is not a kind" in await api.rejected("DELETE", "/twin/faults", {"kind": "qota"}, 400)


async def test_the_commands_of_the_page_run(api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path / "twins"))
    paths = TwinPaths.of("local").make()
    record = {"pid": os.getpid(), "created": psutil.Process().create_time(), "api": api.url}
    paths.record.write_text(json.dumps(record))
    paths.token_file.write_text(TOKEN)
    commands = re.findall(r"^tpuplane-twin (fault .*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    for command in commands:
        said = await asyncio.to_thread(CliRunner().invoke, app, [*shlex.split(command), "--name", "local"])
        assert said.exit_code == 0, said.output
    assert [rule["kind"] for rule in (await left(api))["faults"]] == [
        "rate-limit",
        "operation-fails-error",
        "unavailable",
        "cut",
    ]
    assert "fault: unavailable, always after 5 more, for operations.get of *" in " ".join(said.output.split())
    said = await asyncio.to_thread(CliRunner().invoke, app, ["fault", "--kind", "cut", "--clear", "--json"])
    assert len(json.loads(said.stdout)["faults"]) == 3
    said = await asyncio.to_thread(CliRunner().invoke, app, ["fault", "--kind", "quota", "--count", "many"])
    assert "error: count is 'many'; allowed: always, or a whole number from 1" in said.stderr


async def test_the_operations_of_every_method_are_known(api: Api) -> None:
    starting = {name.rpartition(".")[2] for name, starts in api.app[METHODS].items() if starts}
    assert {"create", "delete", "update", "setSize", "setResourceLabels", "rollback"} <= starting
    assert {"get", "list", "completeUpgrade"}.isdisjoint(starting)
