"""Google's API on a loopback port, over a backend that keeps its nodes in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import aiohttp
import httplib2
from aiohttp import web
from google.oauth2.credentials import Credentials
from google_auth_httplib2 import AuthorizedHttp
from googleapiclient.discovery import build_from_document
from googleapiclient.discovery_cache import get_static_doc
from tpuplane_twin.clock.times import Times
from tpuplane_twin.daemon import described
from tpuplane_twin.daemon.clock import serve_clock
from tpuplane_twin.daemon.faults import Faults
from tpuplane_twin.daemon.fleet import context_name
from tpuplane_twin.failures.incidents import Incidents
from tpuplane_twin.failures.routes import Failures
from tpuplane_twin.failures.targets import Targets
from tpuplane_twin.failures.upgrades import AutoUpgrades
from tpuplane_twin.gcp.app import RECONCILER, create_app, upgrade
from tpuplane_twin.gcp.backend import (
    NO_ROTATION,
    ROTATION,
    BackendError,
    ClusterBackend,
    Endpoint,
    Instance,
    Numbers,
    node_counts,
)
from tpuplane_twin.gcp.store import Store

from tests.support.gcp.wire_types import check_answer

Json = dict[str, Any]

TOKEN = "a-token-of-this-test"
PROJECT = "acme"
LOCATION = "us-central1"
PROJECT_PATH = f"/v1beta1/projects/{PROJECT}/locations/{LOCATION}"
CLUSTERS = f"{PROJECT_PATH}/clusters"
COMPUTE = f"/compute/beta/projects/{PROJECT}"


def no_client(cluster: str) -> None:
    """A cluster without an API server."""


@dataclass
class MemoryCluster:
    """A control plane that is nothing but its nodes: pool → zone → count."""

    endpoint: Endpoint
    version: str
    pools: dict[str, dict[str, int]] = field(default_factory=dict)


class MemoryBackend:
    """A backend without processes. `hold` keeps work waiting, `reject` (by pool or cluster) and `crash` fail it."""

    def __init__(self) -> None:
        self.clusters: dict[str, MemoryCluster] = {}
        self.calls: list[tuple[str, str]] = []
        self.reject: dict[str, str] = {}
        self.crash: set[str] = set()
        self.lost: dict[str, list[int]] = {}
        self.applied: dict[str, Json] = {}
        self.go = asyncio.Event()
        self.go.set()

    def hold(self) -> None:
        self.go.clear()

    def step(self) -> None:
        """Let go what waits now; what comes after it is held again."""
        self.go.set()
        self.go.clear()

    async def create_cluster(self, cluster: Json) -> Endpoint:
        await self._step("create_cluster", cluster["name"])
        port = 6443 + len(self.clusters)
        found = self.clusters.setdefault(
            cluster["name"], MemoryCluster(Endpoint(f"127.0.0.1:{port}", ""), cluster["currentMasterVersion"])
        )
        rotation = cluster.get(ROTATION, NO_ROTATION)
        numbers = range(rotation["trusted"], rotation["serves"] - 1, -1)
        return replace(found.endpoint, ca_certificate="".join(f"certificate {number}\n" for number in numbers))

    async def update_cluster(self, cluster: Json) -> None:
        await self._step("update_cluster", cluster["name"])
        self.clusters[cluster["name"]].version = cluster["currentMasterVersion"]

    async def delete_cluster(self, cluster: Json) -> None:
        await self._step("delete_cluster", cluster["name"])
        self.clusters.pop(cluster["name"], None)

    async def apply_node_pool(self, cluster: Json, pool: Json) -> None:
        await self._step("apply_node_pool", pool["name"])
        self.applied[pool["name"]] = pool
        self.clusters[cluster["name"]].pools[pool["name"]] = node_counts(pool)

    async def delete_node_pool(self, cluster: Json, pool: Json) -> None:
        await self._step("delete_node_pool", pool["name"])
        self.clusters[cluster["name"]].pools.pop(pool["name"], None)

    async def broken(self, cluster: Json, pool: Json) -> Numbers:
        await self._step("broken", pool["name"])
        return {zone: self.lost.get(pool["name"], []) for zone in pool["locations"]}

    async def repair_node_pool(self, cluster: Json, pool: Json, broken: Numbers) -> None:
        await self._step("repair_node_pool", pool["name"])
        self.lost.pop(pool["name"], None)

    async def instances(self, cluster: Json, pool: str = "") -> list[Instance]:
        assert context_name(cluster).endswith(cluster["name"])  # the fleet finds a cluster by it
        if cluster["name"] in self.reject:
            raise BackendError(self.reject[cluster["name"]])
        return [
            Instance(f"{name}-{zone[-1]}-{number}", name, zone, "10.0.0.9", "2026-01-01T00:00:00Z")
            for name, zones in self.clusters[cluster["name"]].pools.items()
            if pool in ("", name)
            for zone, count in zones.items()
            for number in range(count)
        ]

    async def _step(self, call: str, name: str) -> None:
        self.calls.append((call, name))
        await self.go.wait()
        if name in self.reject:
            raise BackendError(self.reject[name])
        if name in self.crash:
            raise KeyError("labels")


@dataclass
class Api:
    """A client of the running API, and what lies behind it."""

    url: str
    session: aiohttp.ClientSession
    store: Store
    backend: MemoryBackend
    app: web.Application

    async def call(self, method: str, path: str, body: Any = None, *, status: int = 200) -> Json:
        """One request; the answer must have this status."""
        async with self.session.request(method, self.url + path, json=body) as response:
            answer: Json = await response.json()
            assert response.status == status, answer
            if status == 200 and not path.startswith("/twin/"):
                check_answer(method, path, answer)
            return answer

    async def rejected(self, method: str, path: str, body: Any, status: int) -> str:
        """One request that is rejected with this status; the message."""
        answer = await self.call(method, path, body, status=status)
        return str(answer["error"]["message"])

    async def wait(self, operation: Json) -> Json:
        """Poll an operation of GKE, as clients do, until it is DONE."""
        while operation["status"] != "DONE":
            await asyncio.sleep(0)
            operation = await self.call("GET", f"{PROJECT_PATH}/operations/{operation['name']}")
        return operation

    async def reached(self, call: str, name: str) -> None:
        """Wait until this is the last that was asked of the backend."""
        async with asyncio.timeout(120):
            while self.backend.calls[-1:] != [(call, name)]:
                await asyncio.sleep(0)

    async def done(self, method: str, path: str, body: Any = None) -> Json:
        """A GKE change, waited for; it must succeed."""
        operation = await self.wait(await self.call(method, path, body))
        assert "statusMessage" not in operation, operation
        return operation

    async def add_network(self) -> None:
        """A custom network with one subnetwork in LOCATION, ranges "pods" and "services"."""
        await self.call("POST", f"{COMPUTE}/global/networks", {"name": "net", "autoCreateSubnetworks": False})
        subnet = {
            "name": "sub",
            "network": f"projects/{PROJECT}/global/networks/net",
            "ipCidrRange": "10.0.0.0/20",
            "secondaryIpRanges": [
                {"rangeName": "pods", "ipCidrRange": "10.16.0.0/14"},
                {"rangeName": "services", "ipCidrRange": "10.32.0.0/20"},
            ],
        }
        await self.call("POST", f"{COMPUTE}/regions/{LOCATION}/subnetworks", subnet)

    async def add_cluster(self, name: str = "c1", **fields: Any) -> Json:
        """A cluster in that network without pools, made as the official provider makes it."""
        await self.done("POST", CLUSTERS, {"cluster": cluster_body(name, **fields)})
        await self.done("DELETE", f"{CLUSTERS}/{name}/nodePools/default-pool")
        return await self.call("GET", f"{CLUSTERS}/{name}")


def cluster_body(name: str = "c1", **fields: Any) -> Json:
    """What the provider sends for a cluster whose default pool goes at once."""
    return {
        "name": name,
        "initialNodeCount": 1,
        "network": f"projects/{PROJECT}/global/networks/net",
        "subnetwork": f"projects/{PROJECT}/regions/{LOCATION}/subnetworks/sub",
        "ipAllocationPolicy": {
            "useIpAliases": True,
            "clusterSecondaryRangeName": "pods",
            "servicesSecondaryRangeName": "services",
        },
        **fields,
    }


def slice_pool(name: str = "slice", **fields: Any) -> Json:
    """A v6e 4x4: four hosts in one zone, autoscaled as a whole."""
    return {
        "name": name,
        "config": {"machineType": "ct6e-standard-4t"},
        "locations": ["us-central1-b"],
        "placementPolicy": {"type": "COMPACT", "tpuTopology": "4x4"},
        "autoscaling": {"enabled": True, "maxNodeCount": 4, "locationPolicy": "ANY"},
        "management": {"autoRepair": True, "autoUpgrade": True},
        **fields,
    }


def googles_client(api: Api, service: str, version: str, root: str) -> Any:
    """The official client of a service with its root turned to the twin."""
    document = get_static_doc(service, version).replace(f"https://{service}.googleapis.com/", f"{api.url}/{root}")
    return build_from_document(document, http=AuthorizedHttp(Credentials(TOKEN), http=httplib2.Http()))


@asynccontextmanager
async def serving(store: Store, backend: ClusterBackend, speed: float = 10**5) -> AsyncIterator[Api]:
    """The application on a free port of 127.0.0.1. What takes minutes on GKE takes a moment."""
    times = Times(speed)
    app = create_app(store, backend, TOKEN, times)
    Faults(store, app).serve()
    Failures(Incidents(store, no_client, app[RECONCILER]), Targets(store, no_client)).serve(app)
    AutoUpgrades(store, partial(upgrade, app), times).serve(app)
    described.serve(app, store)
    serve_clock(app, times.clock, store, lambda: False)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    headers = {"Authorization": f"Bearer {TOKEN}"}
    try:
        async with aiohttp.ClientSession(headers=headers) as session:
            assert isinstance(backend, MemoryBackend)
            yield Api(f"http://{host}:{port}", session, store, backend, app)
    finally:
        await runner.cleanup()
