"""Faults of Google's API: what each kind answers, and how rules are matched, rejected and cleared."""

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
from tpuplane_twin.gcp.app import METHODS
from tpuplane_twin.machine.paths import TwinPaths
from typer.testing import CliRunner

from tests.support.gcp.api_faults import KINDS, POOL, POOLS, fault, left
from tests.support.gcp.twin_api import CLUSTERS, COMPUTE, PROJECT, PROJECT_PATH, TOKEN, Api, slice_pool

pytestmark = pytest.mark.twin

PAGE = Path(__file__).parents[3] / "docs" / "twin-api.md"


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
        ({}, "a fault needs a kind, and a method or a resource; [*] matches all"),
        ({"kind": "quota"}, "a fault needs a kind, and a method or a resource; [*] matches all"),
        ({"kind": "qota", "method": "*"}, r"'qota' is not a kind of fault; allowed: quota, .*; nearest: quota"),
        (
            {"kind": "quota", "method": "nodePool.create"},
            "'nodePool.create' matches no method that the twin serves; nearest: nodePools.create, .*",
        ),
        (
            {"kind": "operation-hangs", "method": "nodePools.list"},
            r"'nodePools.list' is not a method that can have the fault operation-hangs; allowed: clusters.create, .*",
        ),
        (
            {"kind": "operation-aborts", "method": "nodePools.create"},
            "'nodePools.create' is not a method that can have the fault operation-aborts; allowed: nodePools.update",
        ),
        ({"kind": "quota", "method": "*", "times": 2}, "'times' is not a field of a fault; allowed: kind, method, .*"),
        ({"kind": "quota", "method": "*", "count": 0}, "count is '0'; allowed: always, or a whole number from 1"),
        ({"kind": "quota", "method": "*", "count": "two"}, "count is 'two'; allowed: always, .*"),
        ({"kind": "quota", "method": "*", "after": -1}, "after is '-1'; allowed: a whole number from 0"),
        ({"kind": "quota", "method": "*", "seconds": 3}, "quota has no seconds; kinds with it: slow"),
        ({"kind": "slow", "method": "*", "seconds": 0.5}, "seconds is '0.5'; allowed: a whole number from 0 to 9999"),
        ({"kind": "cut", "method": "*", "message": "x"}, "cut has no message; kinds with it: quota, .*"),
        ({"kind": "quota", "resource": ""}, "resource is ''; allowed: any text that is not empty"),
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
    assert "fault: unavailable, always, after 5 more matching requests, for operations.get of *" in " ".join(
        said.output.split()
    )
    said = await asyncio.to_thread(CliRunner().invoke, app, ["fault", "--kind", "cut", "--clear", "--json"])
    assert len(json.loads(said.stdout)["faults"]) == 3
    said = await asyncio.to_thread(CliRunner().invoke, app, ["fault", "--kind", "quota", "--count", "many"])
    assert "error: count is 'many'; allowed: always, or a whole number from 1" in said.stderr


async def test_the_operations_of_every_method_are_known(api: Api) -> None:
    starting = {name.rpartition(".")[2] for name, starts in api.app[METHODS].items() if starts}
    assert {"create", "delete", "update", "setSize", "setResourceLabels", "rollback"} <= starting
    assert {"get", "list", "completeUpgrade"}.isdisjoint(starting)
