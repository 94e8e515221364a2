"""Google's APIs on a loopback port, from a table of paths."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import pytest

TOKEN = "a-token-of-this-test"
PROJECT = "tpuplane-lab"
SERVICES = f"serviceusage/v1/projects/{PROJECT}/services:batchGet"
TESTED = f"crm/v1/projects/{PROJECT}:testIamPermissions"
_VARIABLES = {
    "COMPUTE": "compute/v1/",
    "CONTAINER": "v1beta1/",
    "FILESTORE": "file/v1/",
    "IAM_BETA": "iam/v1/",
    "KMS": "kms/v1/",
    "LOGGING": "logging/v2/",
    "LUSTRE": "lustre/v1/",
    "MONITORING": "monitoring/",
    "RESOURCE_MANAGER": "crm/v1/",
    "SERVICE_USAGE": "serviceusage/v1beta1/",
}


def metric(name: str, unit: str = "1/{project}/{region}", **limits: int) -> dict[str, Any]:
    """A quota's answer: unlimited, but for the values of the unit's last dimension."""
    key = unit.rpartition("{")[2].rstrip("}")
    buckets = [
        {"dimensions": {key: place.replace("_", "-")}, "effectiveLimit": str(granted)}
        for place, granted in limits.items()
    ]
    limit = {"unit": unit, "quotaBuckets": [{"effectiveLimit": "-1"}, *buckets]}
    return {"metric": f"compute.googleapis.com/{name}", "consumerQuotaLimits": [limit]}


def quota(name: str) -> str:
    """The path of a quota."""
    service = f"serviceusage/v1beta1/projects/{PROJECT}/services/compute.googleapis.com"
    return f"{service}/consumerQuotaMetrics/compute.googleapis.com%2F{name}"


class Server(ThreadingHTTPServer):
    """Answers by path, and further pages by `PATH?pageToken=TOKEN`: a body, a text, or an HTTP status to fail with.

    What the table lacks: every service is enabled, every permission is held, every quota is unlimited, and nothing else
    exists.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, answers: dict[str, Any]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = answers
        self.denied: set[str] = set()
        self.disabled: set[str] = set()
        self.cut = 0
        """The bytes that each answer lacks."""

    def setenv(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Make this server Google."""
        monkeypatch.setenv("GOOGLE_OAUTH_ACCESS_TOKEN", TOKEN)
        for name, path in _VARIABLES.items():
            monkeypatch.setenv(f"GOOGLE_{name}_CUSTOM_ENDPOINT", f"http://127.0.0.1:{self.server_port}/{path}")

    def answer(self, path: str, names: list[str], body: Any) -> Any:
        """What the path answers."""
        if path in self.answers:
            return self.answers[path]
        if path == SERVICES:
            states = {name: "DISABLED" if name.rpartition("/")[2] in self.disabled else "ENABLED" for name in names}
            return {"services": [{"name": name, "state": state} for name, state in states.items()]}
        if path == TESTED:
            return {"permissions": [permission for permission in body["permissions"] if permission not in self.denied]}
        if path.startswith(quota("")):
            return metric(path.removeprefix(quota("")))
        return 404


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        path, _, query = self.path.lstrip("/").partition("?")
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        names = [
            word.removeprefix("names=").replace("%2F", "/") for word in query.split("&") if word.startswith("names=")
        ]
        token = parse_qs(query).get("pageToken")
        answer = self.server.answer(f"{path}?pageToken={token[0]}" if token else path, names, body)
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            answer = 401
        rejected = {"error": {"message": f"rejected with {answer}"}}
        status, found = (answer, rejected) if isinstance(answer, int) else (200, answer)
        text = (found if isinstance(found, str) else json.dumps(found)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text[: len(text) - self.server.cut])

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on standard error."""


@contextmanager
def google_cloud(answers: dict[str, Any]) -> Iterator[Server]:
    """Serve until the block ends."""
    with Server(answers) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
