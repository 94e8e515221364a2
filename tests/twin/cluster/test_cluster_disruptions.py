"""Faults of a control plane: an API server that restarts or hangs, a full etcd, webhooks that are late or gone."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from tpuplane_twin.cluster.api import Api, ApiError
from tpuplane_twin.failures.disruptions import Disruptions
from tpuplane_twin.gcp.errors import ApiError as Rejected

from tests.support.cluster.cluster_objects import JOBSETS, KEY, PATIENCE, Cluster, jobset
from tests.support.eventually import eventually

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

KUEUE = "kueue-system"
SPACE = "database space exceeded"


class Twin(TestClient[web.Request, web.Application]):
    """The twin's routes for one cluster."""

    async def disruptions(self, method: str = "GET", **asked: str) -> list[str]:
        async with self.request(method, "/twin/disruptions", json=asked) as answer:
            body: dict[str, Any] = await answer.json()
            assert answer.status == 200, body
            return [found["disruption"] for found in body["disruptions"]]


@pytest_asyncio.fixture(loop_scope="session")
async def twin(cluster: Cluster) -> AsyncIterator[Twin]:
    """What is disrupted is cleared after the test."""

    @web.middleware
    async def answering(request: web.Request, handler: Any) -> web.StreamResponse:
        try:
            response: web.StreamResponse = await handler(request)
            return response
        except Rejected as error:
            return web.json_response({"error": error.message}, status=error.http_code)

    app = web.Application(middlewares=[answering])
    Disruptions({KEY: cluster.plane}).serve(app)
    async with Twin(TestServer(app)) as client:
        yield client
        assert await client.disruptions("DELETE") == []


async def config_map(api: Api, namespace: str, name: str) -> str:
    """Why the API server rejects a new ConfigMap; empty if it does not."""
    try:
        await api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}})
    except ApiError as error:
        return str(error)
    return ""


async def why_rejected(api: Api, namespace: str) -> str:
    """Why the webhook of Kueue's operator does not let a JobSet pass; empty if it does."""
    url = f"{JOBSETS}/{namespace}/jobsets"
    try:
        await api.request("POST", url, body=jobset("judged", "4x4", 4, 1))
    except ApiError as error:
        assert "failed calling webhook" in str(error)
        return str(error)
    await api.request("DELETE", f"{url}/judged")
    return ""


async def test_an_api_server_starts_again(cluster: Cluster, twin: Twin, api: Api, namespace: str) -> None:
    def restarts() -> int:
        (found,) = cluster.processes.status(prefix=f"{KEY}/kube-apiserver")
        return found.restarts

    before = restarts()
    assert await twin.disruptions("POST", kind="api-server-restart") == []

    async def again() -> bool:
        return restarts() > before and await config_map(api, namespace, "again") == ""

    await eventually(again, within=PATIENCE)


async def test_a_late_api_server_answers_when_it_is_cleared(twin: Twin, api: Api, namespace: str) -> None:
    assert await twin.disruptions("POST", kind="api-server-late", cluster="trainers") == ["kube-apiserver is stopped"]
    assert await twin.disruptions("DELETE", cluster="trainers") == []
    assert await config_map(api, namespace, "later") == ""


async def test_a_full_etcd_rejects_writes_and_serves_reads(twin: Twin, api: Api, namespace: str) -> None:
    assert await twin.disruptions("POST", kind="etcd-full") == ["etcd has the alarm NOSPACE"]
    assert SPACE in await config_map(api, namespace, "full")
    assert await api.list("ConfigMap", namespace)
    assert await twin.disruptions() == ["etcd has the alarm NOSPACE"]
    assert await twin.disruptions("DELETE") == []
    assert await config_map(api, namespace, "space") == ""


async def test_a_late_webhook_times_out(twin: Twin, api: Api, namespace: str) -> None:
    """The operator may have lost its lease meanwhile: then it starts again before its webhook answers."""
    assert await twin.disruptions("POST", kind="webhook-late", namespace=KUEUE)
    assert re.search(r"kueue.*(deadline exceeded|timed out|Timeout)", await why_rejected(api, namespace))
    assert await twin.disruptions("DELETE") == []

    async def accepted() -> bool:
        return await why_rejected(api, namespace) == ""

    await eventually(accepted, within=PATIENCE)


async def test_a_webhook_that_is_gone_is_rejected_until_it_returns(cluster: Cluster, api: Api, namespace: str) -> None:
    scale = ("scale", "deployment/kueue-controller-manager", "-n", KUEUE)

    async def accepted() -> bool:
        return await why_rejected(api, namespace) == ""

    async def rejected() -> bool:
        return not await accepted()

    await cluster.kubectl(*scale, "--replicas=0")
    try:
        await eventually(rejected)
    finally:
        await cluster.kubectl(*scale, "--replicas=1")
    await eventually(accepted, within=PATIENCE)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"kind": "webhook-lat", "namespace": KUEUE}, "'webhook-lat' is not a disruption; allowed: api-server-restart"),
        ({"kind": "webhook-late", "namespace": "kueue"}, "the namespace of a running operator; allowed: "),
        ({"kind": "etcd-full", "cluster": "other"}, "'other' is not a cluster; allowed: trainers"),
        ({"kind": "api-server-late", "namespace": KUEUE}, "is a fault of the control plane; leave out --namespace"),
    ],
)
async def test_a_mistake_is_named(twin: Twin, asked: dict[str, str], message: str) -> None:
    async with twin.request("POST", "/twin/disruptions", json=asked) as answer:
        assert answer.status == 400
        assert message in json.dumps(await answer.json(), ensure_ascii=False)
