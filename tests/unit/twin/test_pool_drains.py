"""Nodes of a pool that go, and what Kubernetes may have against it."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest
from tpuplane_twin.cluster.api import Api, ApiError
from tpuplane_twin.cluster.pools import NodePools

pytestmark = pytest.mark.unit

Json = dict[str, Any]
POD = "/api/v1/namespaces/research/pods/train"
CLUSTER: Json = {
    "name": "trainers",
    "location": "us-east5",
    "currentMasterVersion": "1.35.4-gke.1000000",
    "clusterIpv4Cidr": "10.64.0.0/14",
    "selfLink": "https://container.googleapis.com/v1beta1/projects/acme/locations/us-east5/clusters/trainers",
}


def pool(nodes: int) -> Json:
    return {
        "name": "web",
        "locations": ["us-east5-b"],
        "initialNodeCount": nodes,
        "config": {"machineType": "e2-standard-4"},
        "instanceGroupUrls": ["https://gce/zones/us-east5-b/instanceGroupManagers/gke-web-grp"],
    }


class OneServer(Api):
    """An API server with nodes and one pod; what it rejects is written down by method and address."""

    def __init__(self) -> None:
        super().__init__("http://127.0.0.1:1", tls=ssl.create_default_context(), token="token")
        self.nodes: dict[str, Json] = {}
        self.pods: dict[str, Json] = {}
        self.reject: dict[tuple[str, str], int] = {}

    async def request(
        self,
        method: str,
        url: str,
        *,
        body: Json | None = None,
        params: dict[str, str] | None = None,
        content_type: str = "application/json",
    ) -> Json:
        status = self.reject.get((method, url))
        if status is not None:
            raise ApiError(status, "", f"rejected with {status}")
        place = self.pods if "/pods" in url else self.nodes
        if method == "GET":
            return {"metadata": {}, "items": [item for item in place.values() if _selected(item, params or {})]}
        if method == "DELETE":
            place.pop(url)
        elif url.endswith("/nodes"):
            assert body is not None
            self.nodes[f"{url}/{body['metadata']['name']}"] = {"spec": {}, **body}
        elif method == "PATCH":
            assert body is not None
            self.nodes[url]["spec"] |= body["spec"]
        else:
            self.pods.pop(url.removesuffix("/eviction"))
        return {}

    def closed(self) -> list[bool]:
        """Which nodes take no new pods."""
        return [bool(node["spec"].get("unschedulable")) for node in self.nodes.values()]


def _selected(item: Json, params: dict[str, str]) -> bool:
    """Whether the selectors of the request, each of one value, select the object."""
    label, _, pool = params.get("labelSelector", "").partition("=")
    node = params.get("fieldSelector", "").removeprefix("spec.nodeName=")
    return item["metadata"].get("labels", {}).get(label, "") == pool and node in ("", item["spec"].get("nodeName"))


@pytest.fixture
async def server() -> AsyncIterator[OneServer]:
    """Two nodes of the pool, and a pod on the second."""
    async with aclosing(OneServer()) as server:
        await NodePools(server).apply(pool(2), CLUSTER)
        _, second = (node["metadata"]["name"] for node in server.nodes.values())
        metadata = {"name": "train", "namespace": "research", "uid": "1"}
        server.pods[POD] = {"metadata": metadata, "spec": {"nodeName": second}, "status": {"phase": "Running"}}
        yield server


async def test_a_node_that_the_twin_did_not_create_is_left_alone(server: OneServer) -> None:
    server.nodes["/api/v1/nodes/bare"] = {"metadata": {"name": "bare"}, "spec": {}}
    await NodePools(server).apply(pool(1), CLUSTER)
    assert len(server.nodes) == 2
    assert "/api/v1/nodes/bare" in server.nodes


@pytest.mark.parametrize("status", [403, 404, 429, 500])
async def test_a_rejected_eviction_does_not_hold_a_node(server: OneServer, status: int) -> None:
    server.reject["POST", f"{POD}/eviction"] = status
    await NodePools(server).apply(pool(1), CLUSTER)
    assert len(server.nodes) == 1
    assert not server.pods


async def test_nodes_that_could_not_go_take_pods_again(server: OneServer) -> None:
    server.reject["POST", f"{POD}/eviction"] = 400
    with pytest.raises(ApiError, match="rejected with 400"):
        await NodePools(server).apply(pool(0), CLUSTER)
    assert server.closed() == [False, False]


async def test_a_persons_own_cordon_stays(server: OneServer) -> None:
    next(iter(server.nodes.values()))["spec"]["unschedulable"] = True
    server.reject["POST", f"{POD}/eviction"] = 400
    with pytest.raises(ApiError, match="rejected with 400"):
        await NodePools(server).apply(pool(0), CLUSTER)
    assert server.closed() == [True, False]
