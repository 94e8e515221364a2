"""The metrics API (`kubectl top`): what the processes of pods use. A simulated pod runs nothing and uses nothing."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psutil
from aiohttp import web

from tpuplane_twin.cluster.api import Api, ApiError, Object, has_condition, timestamp
from tpuplane_twin.cluster.layout import Layout, LoopbackServer

PORT = "metrics"
_GROUP = "metrics.k8s.io/v1beta1"
_BASE = f"/apis/{_GROUP}"
_KINDS = {"nodes": "NodeMetrics", "pods": "PodMetrics"}
_INFO = {"title": _GROUP, "version": "v1beta1"}
# What discovery finds.
_RESOURCES: dict[str, Any] = {
    "groupVersion": _GROUP,
    "resources": [
        {"name": name, "singularName": "", "namespaced": name == "pods", "kind": kind, "verbs": ["get", "list"]}
        for name, kind in _KINDS.items()
    ],
}
_HOST = "metrics-server.kube-system.svc"
_SAMPLE_SECONDS = 15.0  # metrics-server's own resolution

Processes = Callable[[], Iterable[tuple[Object, Mapping[str, int]]]]
"""The pods that are real processes, each with the process of each container that runs."""


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU in nanocores over `seconds`, memory in KiB, as kubelets measure them."""

    cpu: int = 0
    memory: int = 0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.cpu + other.cpu, self.memory + other.memory, max(self.seconds, other.seconds))

    @property
    def shown(self) -> dict[str, str]:
        """As the API writes it."""
        return {"cpu": f"{self.cpu}n", "memory": f"{self.memory}Ki"}


class Metrics(LoopbackServer):
    """Serves the metrics API to the API server alone. Nothing is measured between requests."""

    def __init__(self, layout: Layout, processes: Processes) -> None:
        super().__init__(layout)
        self._processes = processes
        self._api: Api | None = None
        self._meter = _Meter()

    async def start(self, api: Api) -> None:
        """Listen. Raises `OSError` where the port is taken."""
        self._api = api
        app = web.Application()
        app.router.add_get(_BASE, _document(kind="APIResourceList", apiVersion="v1", **_RESOURCES))
        # The API server requests a description again and again; it has nothing beyond discovery.
        app.router.add_get("/openapi/v2", _document(swagger="2.0", info=_INFO, paths={}))
        app.router.add_get("/openapi/v3", _document(paths={}))
        for items in ("{plural:nodes|pods}", "namespaces/{namespace}/{plural:pods}"):
            app.router.add_get(f"{_BASE}/{items}", self._list)
        for item in ("{plural:nodes}/{name}", "namespaces/{namespace}/{plural:pods}/{name}"):
            app.router.add_get(f"{_BASE}/{item}", self._one)
        # Only the API server's aggregator is answered, which has authorized its client.
        await self.listen(app, PORT, self._layout.serving(PORT, self._layout.aggregator, hosts=(_HOST,)))

    async def _list(self, request: web.Request) -> web.Response:
        selectors = {name: request.query[name] for name in ("labelSelector", "fieldSelector") if name in request.query}
        with self._answering() as api:
            found, _ = await api.read_list(_core_path(request), selectors)
        plural = request.match_info["plural"]
        items = await self._measured(plural, found)
        kind = f"{_KINDS[plural]}List"
        return web.json_response({"kind": kind, "apiVersion": _GROUP, "metadata": {}, "items": items})

    async def _one(self, request: web.Request) -> web.Response:
        with self._answering() as api:
            found = await api.request("GET", _core_path(request))
        plural, name = request.match_info["plural"], request.match_info["name"]
        for item in await self._measured(plural, [found]):
            return web.json_response(item)
        raise _rejected(404, "NotFound", f'{plural}.metrics.k8s.io "{name}" not found: it is not running or Ready')

    async def _measured(self, plural: str, items: Iterable[Object]) -> list[Object]:
        """The metrics of those nodes or pods that run."""
        if plural == "nodes":
            by_node = await self._used_by_node()
            return [_node(node, by_node) for node in items if has_condition(node, "Ready")]
        used = await self._used()
        return [_pod(pod, used) for pod in items if pod["status"].get("phase") == "Running"]

    async def _used(self) -> dict[tuple[str, str], Usage]:
        """What runs, by the pod's uid and the container's name."""
        wanted = {
            (pod["metadata"]["uid"], name): pid
            for pod, processes in self._processes()
            for name, pid in processes.items()
        }
        return await asyncio.to_thread(self._meter.read, wanted)

    async def _used_by_node(self) -> dict[str, Usage]:
        nodes = {pod["metadata"]["uid"]: pod["spec"]["nodeName"] for pod, _ in self._processes()}
        used: dict[str, Usage] = {}
        for (uid, _), usage in (await self._used()).items():
            used[nodes[uid]] = used.get(nodes[uid], Usage()) + usage
        return used

    @contextmanager
    def _answering(self) -> Iterator[Api]:
        """The cluster's API server, whose rejections are the answer."""
        if self._api is None:
            raise web.HTTPServiceUnavailable
        try:
            yield self._api
        except ApiError as error:
            raise _rejected(error.status, error.reason, str(error)) from error


class _Meter:
    """CPU and memory of processes with all their children. CPU is that since the last sample, or since the start."""

    def __init__(self) -> None:
        self._samples: dict[int, tuple[float, float]] = {}

    def read(self, wanted: Mapping[tuple[str, str], int]) -> dict[tuple[str, str], Usage]:
        """What each process uses; one that has ended is left out."""
        found: dict[tuple[str, str], Usage] = {}
        samples: dict[int, tuple[float, float]] = {}
        for key, pid in wanted.items():
            try:
                process = psutil.Process(pid)
                family = [process, *process.children(recursive=True)]
                spent = sum(times.user + times.system for times in (member.cpu_times() for member in family))
                memory = sum(member.memory_info().rss for member in family)
                born = process.create_time()
            except psutil.Error:
                continue
            now = time.time()
            at, before = self._samples.get(pid, (born, 0.0))
            seconds = max(now - at, 1e-3)
            found[key] = Usage(int(1e9 * max(spent - before, 0) / seconds), memory // 1024, seconds)
            samples[pid] = (now, spent) if seconds > _SAMPLE_SECONDS else (at, before)
        self._samples = samples
        return found


def _pod(pod: Object, used: Mapping[tuple[str, str], Usage]) -> Object:
    uid = pod["metadata"]["uid"]
    usages = {container["name"]: used.get((uid, container["name"]), Usage()) for container in pod["spec"]["containers"]}
    containers = [{"name": name, "usage": usage.shown} for name, usage in usages.items()]
    return {**_metrics("pods", pod, sum(usages.values(), Usage())), "containers": containers}


def _node(node: Object, used: Mapping[str, Usage]) -> Object:
    usage = used.get(node["metadata"]["name"], Usage())
    return {**_metrics("nodes", node, usage), "usage": usage.shown}


def _metrics(plural: str, item: Object, usage: Usage) -> Object:
    moment = timestamp()
    kept = {key: item["metadata"][key] for key in ("name", "namespace", "labels") if key in item["metadata"]}
    return {
        "kind": _KINDS[plural],
        "apiVersion": _GROUP,
        "metadata": {**kept, "creationTimestamp": moment},
        "timestamp": moment,
        "window": f"{usage.seconds:.3f}s",
    }


def _core_path(request: web.Request) -> str:
    """Where the nodes or pods of a request are: their metrics have the same path in a group of their own."""
    return f"/api/v1{request.path.removeprefix(_BASE)}"


def _document(**document: Any) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(_: web.Request) -> web.Response:
        return web.json_response(document)

    return answer


def _rejected(code: int, reason: str, message: str) -> web.HTTPException:
    status = {"status": "Failure", "reason": reason, "message": message, "code": code}
    text = json.dumps({"kind": "Status", "apiVersion": "v1", "metadata": {}, **status})
    rejection = web.HTTPNotFound if code == 404 else web.HTTPServiceUnavailable if code >= 500 else web.HTTPBadRequest
    return rejection(text=text, content_type="application/json")
