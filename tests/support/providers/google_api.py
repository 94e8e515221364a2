"""Google's API of the twin on a loopback port, in a thread of its own, writing down every request."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import urllib3
from aiohttp import web
from tpuplane_twin.clock.times import Times
from tpuplane_twin.daemon import described
from tpuplane_twin.daemon.faults import Faults
from tpuplane_twin.gcp.app import create_app
from tpuplane_twin.gcp.backend import BackendError, Endpoint, Instance, node_counts
from tpuplane_twin.gcp.store import Store

Json = dict[str, Any]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

TOKEN = "a-token-of-this-test"
PROJECT = "acme"


class MemoryBackend:
    """Clusters without a process behind them; `reject` makes the work on a name fail with a message."""

    def __init__(self, authority: str = "a PEM certificate") -> None:
        self.reject: dict[str, str] = {}
        self.authority = authority
        """What every cluster has as its certificate authority."""
        self.pools: dict[tuple[str, str], tuple[Json, Json]] = {}
        """Every pool with its cluster, as the API last gave them, by the names of cluster and pool."""

    async def create_cluster(self, cluster: Json) -> Endpoint:
        self._step(cluster["name"])
        return Endpoint("127.0.0.1:6443", self.authority)

    async def update_cluster(self, cluster: Json) -> None:
        self._step(cluster["name"])

    async def delete_cluster(self, cluster: Json) -> None:
        self._step(cluster["name"])

    async def apply_node_pool(self, cluster: Json, pool: Json) -> None:
        self._step(pool["name"])
        self.pools[cluster["name"], pool["name"]] = (pool, cluster)

    async def delete_node_pool(self, cluster: Json, pool: Json) -> None:
        self._step(pool["name"])
        self.pools.pop((cluster["name"], pool["name"]), None)

    async def instances(self, cluster: Json, pool: str = "") -> list[Instance]:
        """The machines of the pools that were applied."""
        return [
            Instance(f"{name}-{zone}-{number}", name, zone, "10.0.0.9", "2026-01-01T00:00:00Z")
            for (of, name), (applied, _) in self.pools.items()
            if of == cluster["name"] and pool in ("", name)
            for zone, count in node_counts(applied).items()
            for number in range(count)
        ]

    def _step(self, name: str) -> None:
        if name in self.reject:
            raise BackendError(self.reject[name])


@dataclass
class Request:
    """One request as it came in: `path` without host, query and token."""

    method: str
    path: str
    body: Any


@dataclass
class GoogleApi:
    """The running API: its address, its backend, what it was asked."""

    url: str
    backend: MemoryBackend
    requests: list[Request] = field(default_factory=list)
    meet: Callable[[web.Request, Handler], Awaitable[web.StreamResponse]] | None = None
    """Answers the requests instead of the API, which is its second argument."""
    dropped: str = ""
    """Requests whose path contains this get no answer: the connection ends. Empty: none."""

    @property
    def config(self) -> Json:
        """Provider configuration that points at this API and nowhere else."""
        return {
            "project": PROJECT,
            "region": "us-central1",
            "accessToken": TOKEN,
            "pollInterval": "10ms",
            "containerCustomEndpoint": f"{self.url}/v1beta1/",
            "computeCustomEndpoint": f"{self.url}/compute/beta/",
            "iamBetaCustomEndpoint": f"{self.url}/iam/v1/",
            "resourceManagerCustomEndpoint": f"{self.url}/crm/v1/",
            "artifactRegistryCustomEndpoint": f"{self.url}/artifactregistry/v1/",
            "filestoreCustomEndpoint": f"{self.url}/file/v1/",
            "lustreCustomEndpoint": f"{self.url}/lustre/v1/",
            "serviceNetworkingCustomEndpoint": f"{self.url}/servicenetworking/v1/",
            "kmsCustomEndpoint": f"{self.url}/kms/v1/",
            "loggingCustomEndpoint": f"{self.url}/logging/v2/",
            "monitoringCustomEndpoint": f"{self.url}/monitoring/",
            "storageCustomEndpoint": f"{self.url}/storage/v1/",
            "serviceUsageCustomEndpoint": f"{self.url}/serviceusage/v1beta1/",
        }

    def taken(self) -> list[str]:
        """The requests since the last look as "METHOD path", polls of one operation as one line."""
        lines: list[str] = []
        for request in self.requests:
            path = re.sub(r"/operations/[^/]+$", "/operations/O", request.path)
            line = f"{request.method} {path}"
            if not (lines and lines[-1] == line and path.endswith("/operations/O")):
                lines.append(line)
        self.requests.clear()
        return lines

    def fault(self, kind: str, method: str, **fields: Any) -> None:
        """Add a fault."""
        self._twin("POST", {"kind": kind, "method": method, **fields})

    async def afflict(self, kind: str) -> None:
        """Give a fault to the operation of the next request, from the thread of the API."""
        await asyncio.to_thread(self._twin, "POST", {"kind": kind, "resource": "*"})

    def clear_faults(self) -> None:
        """Remove all faults, also those of running operations."""
        self._twin("DELETE", {})

    def _twin(self, method: str, body: Json) -> None:
        self.ask(method, "/twin/faults", body)

    def ask(self, method: str, path: str, body: Json | None = None) -> Any:
        """The answer to a request, which must succeed."""
        headers = {"Authorization": f"Bearer {TOKEN}"}
        answer = urllib3.request(method, self.url + path, json=body, headers=headers)
        assert answer.status == 200, answer.data
        return answer.json()

    def body(self, method: str, ending: str) -> Any:
        """The body of the one request of that method whose path ends so."""
        found = [item.body for item in self.requests if item.method == method and item.path.endswith(ending)]
        assert len(found) == 1, [(item.method, item.path) for item in self.requests]
        return found[0]


@contextmanager
def google_api(folder: Path, port: int = 0, backend: MemoryBackend | None = None) -> Iterator[GoogleApi]:
    """Serve until the block ends, on a free port unless one is given."""
    backend = backend or MemoryBackend()
    api = GoogleApi("", backend)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        runner = asyncio.run_coroutine_threadsafe(_start(api, folder, port), loop).result()
        try:
            yield api
        finally:
            asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _start(api: GoogleApi, folder: Path, port: int) -> web.AppRunner:
    @web.middleware
    async def record(request: web.Request, handler: Handler) -> web.StreamResponse:
        raw = await request.read()
        api.requests.append(Request(request.method, request.path, json.loads(raw) if raw else None))
        if api.dropped and api.dropped in request.path and request.transport is not None:
            request.transport.close()
        return await (api.meet(request, handler) if api.meet is not None else handler(request))

    store = Store(folder / "api.db")
    app = create_app(store, api.backend, TOKEN, Times(10**4))
    Faults(store, app).serve()
    described.serve(app, store)
    app.middlewares.insert(0, record)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    host, port = runner.addresses[0][:2]
    api.url = f"http://{host}:{port}"
    return runner
