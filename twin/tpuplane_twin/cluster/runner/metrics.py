"""The metrics API (`kubectl top`): what the processes of pods use. A simulated pod runs nothing and uses nothing."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psutil
from aiohttp import web

from tpuplane_twin.cluster.api import Api, ApiError, Object
from tpuplane_twin.cluster.layout import Layout, LoopbackServer

PORT = "metrics"
PORT_INSIDE = 10250
"""Where the Service `metrics-server` leads, as on GKE."""

_GROUP = "metrics.k8s.io/v1beta1"
_INFO = {"title": _GROUP, "version": "v1beta1"}
# What discovery finds.
_RESOURCES: dict[str, Any] = {
    "groupVersion": _GROUP,
    "resources": [
        {"name": name, "singularName": "", "namespaced": name == "pods", "kind": kind, "verbs": ["get", "list"]}
        for name, kind in (("nodes", "NodeMetrics"), ("pods", "PodMetrics"))
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
        base = f"/apis/{_GROUP}"
        app.router.add_get(base, _document(kind="APIResourceList", apiVersion="v1", **_RESOURCES))
        # The API server requests a description again and again; it has nothing beyond discovery.
        app.router.add_get("/openapi/v2", _document(swagger="2.0", info=_INFO, paths={}))
        app.router.add_get("/openapi/v3", _document(paths={}))
        app.router.add_get(f"{base}/nodes", self._list_nodes)
        app.router.add_get(f"{base}/nodes/{{name}}", self._node)
        app.router.add_get(f"{base}/pods", self._list_pods)
        app.router.add_get(f"{base}/namespaces/{{namespace}}/pods", self._list_pods)
        app.router.add_get(f"{base}/namespaces/{{namespace}}/pods/{{name}}", self._pod)
        # Only the API server's aggregator is answered, which has authorized its client.
        await self.listen(app, PORT, self._layout.serving(PORT, self._layout.aggregator, hosts=(_HOST,)))

    async def _list_nodes(self, request: web.Request) -> web.Response:
        used = await self._used_by_node()
        nodes = await self._read("nodes", request)
        return _answer("NodeMetricsList", items=[_node(node, used) for node in nodes if _ready(node)])

    async def _node(self, request: web.Request) -> web.Response:
        node = await self._read_one("nodes", request)
        if not _ready(node):
            raise _not_found("nodes", request)
        return web.json_response(_node(node, await self._used_by_node()))

    async def _list_pods(self, request: web.Request) -> web.Response:
        used = await self._used()
        pods = await self._read("pods", request)
        return _answer("PodMetricsList", items=[_pod(pod, used) for pod in pods if _runs(pod)])

    async def _pod(self, request: web.Request) -> web.Response:
        pod = await self._read_one("pods", request)
        if not _runs(pod):
            raise _not_found("pods", request)
        return web.json_response(_pod(pod, await self._used()))

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

    async def _read(self, plural: str, request: web.Request) -> list[Object]:
        """The objects of a request."""
        selectors = {name: request.query[name] for name in ("labelSelector", "fieldSelector") if name in request.query}
        with self._answering() as api:
            return (await api.read_list(_path(plural, request), selectors))[0]

    async def _read_one(self, plural: str, request: web.Request) -> Object:
        with self._answering() as api:
            return await api.request("GET", f"{_path(plural, request)}/{request.match_info['name']}")

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
                spent = sum(it.user + it.system for it in (member.cpu_times() for member in family))
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
    usages = {it["name"]: used.get((uid, it["name"]), Usage()) for it in pod["spec"]["containers"]}
    containers = [{"name": name, "usage": usage.shown} for name, usage in usages.items()]
    return {**_measured("PodMetrics", pod, sum(usages.values(), Usage())), "containers": containers}


def _node(node: Object, used: Mapping[str, Usage]) -> Object:
    usage = used.get(node["metadata"]["name"], Usage())
    return {**_measured("NodeMetrics", node, usage), "usage": usage.shown}


def _measured(kind: str, item: Object, usage: Usage) -> Object:
    moment = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    kept = {key: item["metadata"][key] for key in ("name", "namespace", "labels") if key in item["metadata"]}
    return {
        "kind": kind,
        "apiVersion": _GROUP,
        "metadata": {**kept, "creationTimestamp": moment},
        "timestamp": moment,
        "window": f"{usage.seconds:.3f}s",
    }


def _ready(node: Object) -> bool:
    return any(it["type"] == "Ready" and it["status"] == "True" for it in node["status"].get("conditions", ()))


def _runs(pod: Object) -> bool:
    return bool(pod["status"].get("phase") == "Running")


def _path(plural: str, request: web.Request) -> str:
    namespace = request.match_info.get("namespace")
    return f"/api/v1/namespaces/{namespace}/{plural}" if namespace is not None else f"/api/v1/{plural}"


def _document(**document: Any) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(request: web.Request) -> web.Response:
        del request
        return web.json_response(document)

    return answer


def _answer(kind: str, **fields: Any) -> web.Response:
    return web.json_response({"kind": kind, "apiVersion": _GROUP, "metadata": {}, **fields})


def _not_found(plural: str, request: web.Request) -> web.HTTPException:
    name = request.match_info["name"]
    return _rejected(404, "NotFound", f'{plural}.metrics.k8s.io "{name}" not found: nothing of it runs')


def _rejected(code: int, reason: str, message: str) -> web.HTTPException:
    status = {"status": "Failure", "reason": reason, "message": message, "code": code}
    text = json.dumps({"kind": "Status", "apiVersion": "v1", "metadata": {}, **status})
    rejection = web.HTTPNotFound if code == 404 else web.HTTPServiceUnavailable if code >= 500 else web.HTTPBadRequest
    return rejection(text=text, content_type="application/json")
