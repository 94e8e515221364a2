"""An API server that is restarted while an object is waited for is waited for too."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from tpuplane_standins.providers.kubernetes.awaiting.kstatus import NotReady, Verdict, View
from tpuplane_standins.providers.kubernetes.awaiting.table import Awaiter
from tpuplane_standins.providers.kubernetes.awaiting.wait import Waiter
from tpuplane_standins.providers.kubernetes.discovery import Discovery, Resource
from tpuplane_standins.providers.kubernetes.kinds import Kind
from tpuplane_standins.providers.kubernetes.log import EngineLog, ResourceLog

from tests.support.plain_api_server import client_of

pytestmark = pytest.mark.unit

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "serve", "namespace": "research"}}
PODS = Resource(Kind.of(POD), "pods", namespaced=True)
AWAY = None


def pods(*phases: str) -> dict[str, Any]:
    items = [{"metadata": POD["metadata"], "status": {"phase": phase}} for phase in phases]
    return {"metadata": {"resourceVersion": "7"}, "items": items}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """The next answer; where there is none the connection just ends."""
        answers = self.server.answers  # type: ignore[attr-defined]
        answer = answers.pop(0) if answers else AWAY
        if answer is AWAY:
            self.close_connection = True
            return
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[dict[str, Any] | None] = []


class Said(EngineLog):
    """What the user would see."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def send(self, urn: str, severity: str, message: str, *, ephemeral: bool = False) -> None:
        self.messages.append(message)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr("tpuplane_standins.providers.kubernetes.awaiting.wait._AGAIN_SECONDS", 0.01)
    with Server() as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield server
        finally:
            server.shutdown()


@pytest.fixture
def said() -> Said:
    return Said()


@pytest.fixture
def waiter(server: Server, said: Said) -> Waiter:
    api = client_of(server.server_port)
    return Waiter(api, Discovery(api), threading.Event(), ResourceLog(said, "urn"))


def runs(view: View) -> Verdict:
    return Verdict(view.live["status"]["phase"] == "Running", message=view.live["status"]["phase"])


def test_an_object_becomes_ready_after_the_restart(server: Server, waiter: Waiter, said: Said) -> None:
    server.answers = [pods("Pending"), AWAY, AWAY, pods("Running")]
    live = waiter.until_ready(PODS, POD, Awaiter(runs), 60)
    assert live["status"]["phase"] == "Running"
    assert [message.partition(" ")[0] for message in said.messages] == ["Pending", "Get", "Running"]


def test_an_object_is_gone_after_the_restart(server: Server, waiter: Waiter) -> None:
    server.answers = [pods("Running"), AWAY, AWAY, pods()]
    waiter.until_deleted(PODS, POD, 60)
    assert not server.answers


def test_what_a_check_asks_for_is_asked_for_again(server: Server, waiter: Waiter) -> None:
    """Of other objects, such as a deployment's pods."""
    kind = {"resource": "pods", "scope": "Namespace", "responseKind": {"kind": "Pod"}}
    kinds = {"items": [{"versions": [{"version": "v1", "resources": [kind]}]}]}
    server.answers = [pods("Running"), kinds, {}, AWAY, AWAY, pods("Running"), pods("Running")]

    def with_others(view: View) -> Verdict:
        return Verdict(len(view.list_kind(Kind.of(POD))) == 1)

    waiter.until_ready(PODS, POD, Awaiter(with_others), 60)
    assert not server.answers


def test_a_server_that_stays_away_ends_the_wait_in_time(server: Server, waiter: Waiter) -> None:
    with pytest.raises(NotReady, match="'serve' timed out waiting to be Ready"):
        waiter.until_ready(PODS, POD, Awaiter(runs), 0.1)
