"""Serves the page on 127.0.0.1: its files, clusters and timeline as server-sent events, jobs, logs, use; only reads."""

import contextlib
import json
import threading
import time
from collections.abc import Iterable
from dataclasses import replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tpuplane.status.finding import Found, in_status
from tpuplane.status.job import explain
from tpuplane.status.job_text import rows, title
from tpuplane.status.node_pools import NodePools
from tpuplane.status.objects import Job, Pod
from tpuplane.status.reading import Cluster, Unreachable
from tpuplane.status.watching import State
from tpuplane.ui.timeline import NoTimeline, read_timeline
from tpuplane.ui.use import Use
from tpuplane.ui.view import view

_FILES = {
    "/": ("index.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    **{f"/{name}.js": (f"{name}.js", "text/javascript") for name in ("page", "slices", "panels", "detail")},
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_PODS = 64  # shown pods of a job, each with a link to its log
_LINES, _BYTES = 500, 256 * 1024  # shown of a log, at most
_FAILED_SECONDS = 10.0  # until the failed pods of a namespace are read again, while the page shows a job
_ALIVE_SECONDS = 2.0  # until the timeline is read again, and a comment is sent: it fails if the page was closed


class Page(ThreadingHTTPServer):
    """The page of clusters at `http://127.0.0.1:PORT/`."""

    daemon_threads = True

    def __init__(
        self, port: int = 0, pools: NodePools | None = None, clusters: Iterable[Cluster] = (), file: Path | None = None
    ) -> None:
        """Bind the port; 0 is a free one. `file` has the timeline. Raises `OSError` if the port is taken."""
        super().__init__(("127.0.0.1", port), _Handler)
        self.hosts = {f"{name}:{self.server_port}" for name in ("127.0.0.1", "localhost")}
        self.changed = threading.Condition()
        self.clusters: list[dict[str, Any]] = []
        self._pools = pools or NodePools()
        self._sources = {cluster.context: cluster for cluster in clusters}
        self._file = file
        self._use = Use()
        self._read: dict[str, tuple[State, dict[str, Any]]] = {}
        self._failed: dict[tuple[str, str], tuple[float, list[Pod]]] = {}

    @property
    def address(self) -> str:
        """The address to open."""
        return f"http://127.0.0.1:{self.server_port}/"

    def show(self, states: Iterable[State]) -> None:
        """Show these clusters on each open page."""
        read: dict[str, tuple[State, dict[str, Any]]] = {}
        for state in states:
            nodes = state.objects.nodes if state.objects else ()
            read[state.context] = (state, self._pools.complete(state.described(), nodes))
        clusters = [view(state, status) for state, status in read.values()]
        with self.changed:
            self._use.look(clusters)
            self._read, self.clusters = read, clusters
            self.changed.notify_all()

    def why(self, context: str = "", kind: str = "", namespace: str = "", job: str = "") -> dict[str, Any] | None:
        """The answer of `tpuplane why` for a job; None if the cluster is unknown."""
        state, status = self._read.get(context, (None, {}))
        if state is None or (objects := state.objects) is None:
            return None
        shown = objects.owners.named(kind, namespace, job)
        if not isinstance(shown, Job):
            others = in_status(status, job, namespace, kind)
            shown = others[0].job if others else Job.model_construct(namespace=namespace, name=job)
        if shown.uid and context in self._sources:
            try:
                objects = replace(objects, ended=self._failed_pods(context, namespace))
            except Unreachable as error:
                status = {**status, "problems": [*status["problems"], f"its failed pods cannot be read: {error}"]}
        found = explain(objects, status, Found(kind, shown))
        named = {(pod.namespace, pod.name): pod for pod in (*objects.pods, *objects.ended)}
        pods = [named[namespace, name] for name in found["podNames"][:_PODS]]
        return {
            "title": title(found),
            "rows": list(rows(found)),
            "helps": found["helps"],
            "pods": [
                {
                    "name": pod.name,
                    "node": pod.spec.node_name,
                    "ready": pod.is_true("Ready"),
                    "containers": [container.name for container in pod.spec.containers if container.name],
                }
                for pod in pods
            ],
            "more": len(found["podNames"]) - len(pods),
        }

    def _failed_pods(self, context: str, namespace: str) -> list[Pod]:
        """The failed pods of a namespace, which are not watched: a cluster can keep thousands of them."""
        at, pods = self._failed.get((context, namespace), (float("-inf"), []))
        if time.monotonic() - at > _FAILED_SECONDS:
            with self._sources[context].asking() as asked:
                pods = asked.failed(namespace)
            self._failed[context, namespace] = (time.monotonic(), pods)
        return pods

    def log(self, context: str = "", namespace: str = "", pod: str = "", container: str = "") -> str | None:
        """The end of the log of a container in a pod that the page shows; None if the page does not show the pod."""
        state, _ = self._read.get(context, (None, {}))
        _, failed = self._failed.get((context, namespace), (0.0, []))
        pods = (*state.objects.pods, *failed) if state and state.objects else ()
        shown = next((other for other in pods if (other.namespace, other.name) == (namespace, pod)), None)
        containers = [other.name for other in shown.spec.containers] if shown else []
        if shown is None or container not in containers or context not in self._sources:
            return None
        try:
            return self._sources[context].log(shown, container, lines=_LINES, most=_BYTES)
        except Unreachable as error:
            return f"The log cannot be read: {error}"

    def use(self) -> dict[str, Any]:
        """The use of chips since the page started."""
        with self.changed:
            self._use.look(self.clusters)
            return self._use.described()

    def timeline(self) -> dict[str, Any] | None:
        """The rehearsal in the file, or why it cannot be read now; None while there is no file."""
        try:
            return read_timeline(self._file) if self._file and self._file.exists() else None
        except NoTimeline as error:
            return {"heading": str(error), "tables": []}


def _named(query: str, *names: str) -> dict[str, str]:
    return {key: value for key, value in parse_qsl(query) if key in names}


class _Handler(BaseHTTPRequestHandler):
    server: Page

    def do_GET(self) -> None:
        """Answer a request. Another host name means that the page of another site sent it (DNS rebinding)."""
        url = urlsplit(self.path)
        if self.headers.get("Host") not in self.server.hosts:
            self._send(HTTPStatus.FORBIDDEN, "text/plain", b"the page answers to 127.0.0.1 and localhost only\n")
        elif url.path in _FILES:
            name, kind = _FILES[url.path]
            self._send(HTTPStatus.OK, kind, files("tpuplane.ui").joinpath("page", name).read_bytes())
        elif url.path == "/clusters":
            with contextlib.suppress(OSError):  # the browser has closed the page
                self._clusters()
        elif url.path == "/why":
            found = self.server.why(**_named(url.query, "context", "kind", "namespace", "job"))
            self._send(HTTPStatus.OK if found else HTTPStatus.NOT_FOUND, "application/json", json.dumps(found).encode())
        elif url.path == "/log":
            log = self.server.log(**_named(url.query, "context", "namespace", "pod", "container"))
            status = HTTPStatus.NOT_FOUND if log is None else HTTPStatus.OK
            self._send(status, "text/plain", (log or "").encode())
        elif url.path == "/use":
            self._send(HTTPStatus.OK, "application/json", json.dumps(self.server.use()).encode())
        else:
            self._send(HTTPStatus.NOT_FOUND, "text/plain", b"no such page\n")

    def _send(self, status: HTTPStatus, kind: str, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _clusters(self) -> None:
        """Send all clusters and the timeline now and after each change: the browser is on the same machine."""
        self._send(HTTPStatus.OK, "text/event-stream")
        sent: list[dict[str, Any]] = []
        shown = None
        while True:
            with self.server.changed:
                if sent is self.server.clusters:
                    self.server.changed.wait(_ALIVE_SECONDS)
                same, sent = sent == self.server.clusters, self.server.clusters
            self.wfile.write(b": alive\n\n" if same else f"data: {json.dumps(sent)}\n\n".encode())
            if shown != (shown := self.server.timeline()):
                self.wfile.write(f"event: timeline\ndata: {json.dumps(shown)}\n\n".encode())

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: the terminal shows the address only."""
