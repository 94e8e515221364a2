"""Serves the page on 127.0.0.1: its files, the changes as server-sent events, and why a job waits. Only reads."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tpuplane.status.finding import Found
from tpuplane.status.job import explain
from tpuplane.status.job_text import rows, title
from tpuplane.status.objects import Job
from tpuplane.status.watching import State
from tpuplane.ui.view import view

_FILES = {
    "/": ("index.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_ALIVE_SECONDS = 15.0  # after which a comment is sent, which fails if the browser has closed the page


class Page(ThreadingHTTPServer):
    """The page of clusters at `http://127.0.0.1:PORT/`."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        """Bind the port; 0 is a free one. Raises `OSError` if it is taken."""
        super().__init__(("127.0.0.1", port), _Handler)
        self.hosts = {f"{name}:{self.server_port}" for name in ("127.0.0.1", "localhost")}
        self.changed = threading.Condition()
        self.entries: dict[str, Any] = {}
        self._read: dict[str, tuple[State, dict[str, Any]]] = {}

    @property
    def address(self) -> str:
        """The address to open."""
        return f"http://127.0.0.1:{self.server_port}/"

    def show(self, states: Iterable[State]) -> None:
        """Show these clusters, and send what has changed to each open page."""
        read = {it.context: (it, it.objects.described() if it.objects else {}) for it in states}
        entries = {key: entry for state, status in read.values() for key, entry in view(state, status).items()}
        with self.changed:
            self._read, self.entries = read, entries
            self.changed.notify_all()

    def why(self, context: str = "", kind: str = "", namespace: str = "", job: str = "") -> dict[str, Any] | None:
        """What `tpuplane why` prints of a job; None if the cluster is unknown."""
        state, status = self._read.get(context, (None, {}))
        if state is None or state.objects is None:
            return None
        found = explain(state.objects, status, Found(kind, Job.model_construct(namespace=namespace, name=job)))
        return {"title": title(found), "rows": list(rows(found)), "helps": found["helps"]}


class _Handler(BaseHTTPRequestHandler):
    server: Page

    def do_GET(self) -> None:
        """Answer. The name of another host means that another site's page asks (DNS rebinding)."""
        url = urlsplit(self.path)
        if self.headers.get("Host") not in self.server.hosts:
            self._send(HTTPStatus.FORBIDDEN, "text/plain", b"the page answers to 127.0.0.1 and localhost only\n")
        elif url.path in _FILES:
            name, kind = _FILES[url.path]
            self._send(HTTPStatus.OK, kind, files("tpuplane.ui").joinpath("page", name).read_bytes())
        elif url.path == "/changes":
            with contextlib.suppress(OSError):  # the browser has closed the page
                self._changes()
        elif url.path == "/why":
            asked = {
                key: value for key, value in parse_qsl(url.query) if key in ("context", "kind", "namespace", "job")
            }
            found = self.server.why(**asked)
            self._send(HTTPStatus.OK if found else HTTPStatus.NOT_FOUND, "application/json", json.dumps(found).encode())
        else:
            self._send(HTTPStatus.NOT_FOUND, "text/plain", b"no such page\n")

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self._head(status, kind)
        self.wfile.write(body)

    def _head(self, status: HTTPStatus, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()

    def _changes(self) -> None:
        """Send all entries, then those that have changed: new values in `set`, deleted keys in `drop`."""
        self._head(HTTPStatus.OK, "text/event-stream")
        sent: dict[str, Any] | None = None
        while True:
            with self.server.changed:
                if sent is self.server.entries:
                    self.server.changed.wait(_ALIVE_SECONDS)
                entries = self.server.entries
            before = sent or {}
            change = {
                "all": sent is None,
                "set": {key: it for key, it in entries.items() if before.get(key) != it},
                "drop": [key for key in before if key not in entries],
            }
            same = not any(change.values())
            self.wfile.write(b": alive\n\n" if same else f"data: {json.dumps(change)}\n\n".encode())
            sent = entries

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: the terminal shows the address only."""
