"""An API server that only lists and watches, and its kubeconfig."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml
from tpuplane.status.asking import SHAPES

KUEUE = "/apis/kueue.x-k8s.io/v1beta2/"


def parsed(name: str, raw: Iterable[Any]) -> list[Any]:
    """The objects of a list of `Ask.sources`."""
    return [SHAPES[name].model_validate(raw_item) for raw_item in raw]


def group(name: str, *versions: str) -> dict[str, Any]:
    served = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": served, "preferredVersion": served[0]}


class ApiServer(ThreadingHTTPServer):
    """Answers lists in pages, as an API server does; `rejection` is a status and `page` a body for all.

    With `changeable`, it merges changes into the listed objects."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, lists: dict[str, list[Any]], page_size: int = 2) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.rejection: int | None = None
        self.forbidden: set[str] = set()
        self.page: bytes | None = None
        self.page_size = page_size
        self.changeable, self.refusal = False, 403
        self.asked: list[str] = []
        self.groups = [group("apps", "v1"), group("kueue.x-k8s.io", "v1beta1", "v1beta2")]
        self.lists: dict[str, list[Any]] = {
            "/api/v1/nodes": [],
            "/api/v1/pods": [],
            "/api/v1/events": [],
            "/apis/batch/v1/cronjobs": [],
            **{f"/apis/apps/v1/{name}": [] for name in ("deployments", "replicasets", "statefulsets")},
            **{
                KUEUE + name: [] for name in ("clusterqueues", "localqueues", "resourceflavors", "workloads", "cohorts")
            },
            **lists,
        }
        self.logs: dict[str, str] = {}
        self.watches: dict[str, list[queue.Queue[Any]]] = {}

    def answer(self, url: str) -> tuple[int, Any]:
        path, query = urlsplit(url).path.rstrip("/"), parse_qs(urlsplit(url).query)
        self.asked.append(path)
        if self.rejection is not None:
            return self.rejection, {"kind": "Status", "message": "nodes is forbidden"}
        if path == "/apis":
            return 200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": self.groups}
        if path in self.forbidden:
            return 403, {"kind": "Status", "message": f"{path} is forbidden"}
        if path in self.logs:
            return 200, self.logs[path][-int(query["limitBytes"][0]) :]
        if path.partition("/namespaces/")[0] not in self.lists and "/namespaces/" not in path:
            return 404, {"kind": "Status", "message": f"{path} is not found"}
        items, selector = self.lists_of(path), query.get("fieldSelector", [""])[0]
        if selector.startswith("metadata.name="):
            items = [
                listed for listed in items if listed["metadata"]["name"] == selector.removeprefix("metadata.name=")
            ]
        if selector == "status.phase=Failed":
            items = [listed for listed in items if listed.get("status", {}).get("phase") == "Failed"]
        if selector.startswith("status.phase!="):
            items = [listed for listed in items if listed.get("status", {}).get("phase") not in ("Succeeded", "Failed")]
        if label := query.get("labelSelector"):
            items = [listed for listed in items if label[0] in listed["metadata"].get("labels", {})]
        start = int(query.get("continue", ["0"])[0])
        end = start + self.page_size
        more = {"continue": str(end)} if end < len(items) else {}
        return 200, {"kind": "List", "metadata": {"resourceVersion": "1", **more}, "items": items[start:end]}

    def lists_of(self, path: str) -> list[Any]:
        head, _, rest = path.partition("/namespaces/")
        if not rest:
            return self.lists[path]
        namespace, _, plural = rest.partition("/")
        return [listed for listed in self.lists[f"{head}/{plural}"] if listed["metadata"]["namespace"] == namespace]

    def change(self, path: str, kind: str, item: Any) -> None:
        """Send a change to all that watch a list."""
        if kind != "ERROR":
            item["metadata"].setdefault("resourceVersion", "2")
        for each in self.watches.get(path, ()):
            each.put({"type": kind, "object": item})

    def merge(self, url: str, change: dict[str, Any]) -> Any:
        """Merge a change into a listed object, and send it to all that watch."""
        path, _, name = urlsplit(url).path.rpartition("/")
        head, _, rest = path.partition("/namespaces/")
        listed = f"{head}/{rest.rpartition('/')[2]}" if rest else path
        (found,) = (item for item in self.lists_of(path) if item["metadata"]["name"] == name)
        for part, values in change.items():
            _merge(found.setdefault(part, {}), values)
        self.change(listed, "MODIFIED", found)
        return found

    def cut(self) -> None:
        """End all watches."""
        watches, self.watches = self.watches, {}
        for each in [watch for those in watches.values() for watch in those]:
            each.put(None)


class _Handler(BaseHTTPRequestHandler):
    server: ApiServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        status, body = self.server.answer(self.path)
        if "watch=true" in self.path and status == 200:
            self._watch(urlsplit(self.path).path)
            return
        text = self.server.page or (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_PATCH(self) -> None:
        if not self.server.changeable:
            self.send_error(self.server.refusal)
            return
        change = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = json.dumps(self.server.merge(self.path, change)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _watch(self, path: str) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        changes: queue.Queue[Any] = queue.Queue()
        self.server.watches.setdefault(path, []).append(changes)
        while (change := changes.get()) is not None:
            line = json.dumps(change).encode() + b"\n"
            self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        pass


def _merge(into: dict[str, Any], change: dict[str, Any]) -> None:
    for key, value in change.items():
        if isinstance(value, dict):
            _merge(into.setdefault(key, {}), value)
        elif value is None:
            into.pop(key, None)
        else:
            into[key] = value


@contextmanager
def serving(lists: dict[str, list[Any]], page_size: int = 2) -> Iterator[ApiServer]:
    with ApiServer(lists, page_size) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield made
        finally:
            made.cut()
            made.shutdown()
            thread.join()


def kubeconfig(folder: Path, port: int, user: dict[str, Any] | None = None, current: str = "lab") -> Path:
    file = folder / "kubeconfig"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": current,
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "me"}}],
        "clusters": [{"name": "lab", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "me", "user": user or {"token": "secret"}}],
    }
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    return file
