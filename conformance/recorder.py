"""Records the requests of Pulumi's provider to Google's API: a proxy on loopback, which forwards them."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import urllib3

UPSTREAMS = {
    "CONTAINER": "https://container.googleapis.com/v1beta1/",
    "COMPUTE": "https://compute.googleapis.com/compute/beta/",
}
"""Google's addresses by the provider's names, where the environment sets no other."""
_SECRET = re.compile(r"key|cert|password|token|secret", re.IGNORECASE)
_FORWARDED = ("authorization", "content-type", "user-agent", "x-goog-user-project")


class Recorder:
    """The recorded requests. `step` is the running step of the suite; `project` is never recorded."""

    def __init__(self, project: str, environment: Mapping[str, str]) -> None:
        self.requests: list[dict[str, Any]] = []
        self.step = ""
        self._project = project
        self._began = time.monotonic()
        self._http = urllib3.PoolManager()
        self.upstreams = {
            name: environment.get(f"GOOGLE_{name}_CUSTOM_ENDPOINT") or url for name, url in UPSTREAMS.items()
        }

    @contextmanager
    def serving(self) -> Iterator[dict[str, str]]:
        """Serve during the block. Yields the variables that lead the provider here."""
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _forward(self) -> None:
                recorder.forward(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _forward

            def log_message(self, format: str, *args: object) -> None:
                """No line for each request."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            # The provider takes the API's version from the end of an endpoint.
            yield {
                f"GOOGLE_{name}_CUSTOM_ENDPOINT": f"{base}/{name}/{upstream.split('/', 3)[3]}"
                for name, upstream in self.upstreams.items()
            }
        finally:
            server.shutdown()
            server.server_close()

    def forward(self, request: BaseHTTPRequestHandler) -> None:
        """Forward one request and record it."""
        name = request.path.split("/", 2)[1]
        base = "/".join(self.upstreams[name].split("/")[:3])
        path = request.path.removeprefix(f"/{name}")
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        headers = {key: value for key, value in request.headers.items() if key.lower() in _FORWARDED}
        answer = self._http.request(request.command, base + path, body=body or None, headers=headers, redirect=False)
        self.requests.append(
            {
                "step": self.step,
                "seconds": round(time.monotonic() - self._began, 2),
                "method": request.command,
                "path": self._clean(path.partition("?")[0]),
                "status": answer.status,
                "request": self._body(body),
                "response": self._body(answer.data),
            }
        )
        request.send_response(answer.status)
        request.send_header("Content-Type", answer.headers.get("Content-Type", "application/json"))
        request.send_header("Content-Length", str(len(answer.data)))
        request.end_headers()
        request.wfile.write(answer.data)

    def _body(self, body: bytes) -> Any:
        try:
            return redacted(json.loads(body), self._clean)
        except ValueError:
            return None

    def _clean(self, text: str) -> str:
        return text.replace(self._project, "PROJECT")


def redacted(value: Any, clean: Callable[[str], str] = str, *, secret: bool = False) -> Any:
    """A body without its secrets: all texts in fields whose name contains key, cert, password, token or secret."""
    if isinstance(value, dict):
        return {
            clean(name): redacted(item, clean, secret=secret or bool(_SECRET.search(name)))
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [redacted(item, clean, secret=secret) for item in value]
    if isinstance(value, str):
        return "REDACTED" if secret else clean(value)
    return value
