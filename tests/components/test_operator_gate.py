"""The gate behind an operator: it opens when the webhooks answer, and says why when they never do."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from tpuplane.addons.gate import NotReady, Rejected, probe_sender, until_accepted
from tpuplane.plan import plan
from tpuplane.plan.addons import AddonPlan
from tpuplane.spec import parse_platform

from tests.support.planned import addon_of

pytestmark = pytest.mark.components

WEBHOOK = 'Internal error occurred: failed calling webhook "vresourceflavor.kb.io": connect: connection refused'


def kueue() -> AddonPlan:
    cluster = {"location": "us-central1", "addons": {"kueue": {}, "jobset": {}}}
    spec = parse_platform({"name": "lab", "project": "tpuplane-lab", "clusters": {"main": cluster}})
    found = addon_of(plan(spec).clusters[0], "kueue")
    assert found is not None
    return found


def jobset() -> AddonPlan:
    cluster = {"location": "us-central1", "addons": {"jobset": {}}}
    spec = parse_platform({"name": "lab", "project": "tpuplane-lab", "clusters": {"main": cluster}})
    (found,) = plan(spec).clusters[0].addons
    return found


class Asked:
    """Answers in turn. The last one repeats."""

    def __init__(self, *answers: str | Rejected | None) -> None:
        self.answers = list(answers)
        self.times = 0

    async def __call__(self) -> str | None:
        self.times += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Rejected):
            raise answer
        return answer


def test_it_asks_until_the_webhook_answers() -> None:
    """Complaint 4: the Deployment is Ready 10 to 30 s before its webhook serves."""
    asked = Asked(WEBHOOK, WEBHOOK, None)
    asyncio.run(until_accepted(kueue(), asked, patience=60))
    assert asked.times == 3


def test_it_gives_up_with_the_server_s_last_words() -> None:
    with pytest.raises(NotReady) as rejected:
        asyncio.run(until_accepted(kueue(), Asked(WEBHOOK), patience=0))
    assert "Kueue did not answer within 0 s" in str(rejected.value)
    assert "failed calling webhook" in str(rejected.value)
    assert "kubectl -n kueue-system get pods,events" in str(rejected.value)


def test_a_rejection_for_good_is_reported_at_once() -> None:
    asked = Asked(Rejected('resourceflavors is forbidden: User "ci" cannot create'))
    with pytest.raises(NotReady, match=r"rejects the probe of its webhooks: resourceflavors is forbidden"):
        asyncio.run(until_accepted(kueue(), asked, patience=60))
    assert asked.times == 1


class Server(ThreadingHTTPServer):
    """An API server that answers every request alike, and remembers the last."""

    daemon_threads = True
    status = 201
    message = ""
    requests: list[tuple[str, dict[str, Any], str]]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, body, self.headers["Authorization"]))
        answer = json.dumps({"kind": "Status", "message": self.server.message}).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[Server]:
    server = Server(("127.0.0.1", 0), Handler)
    server.requests = []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def kubeconfig(port: int) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "c", "user": {"token": "secret"}}],
    }


def test_the_probe_is_a_dry_run_of_an_object_that_the_webhooks_judge() -> None:
    with serving() as server:
        config = kubeconfig(server.server_address[1])
        assert probe_sender(config, kueue().probe)() is None
        assert probe_sender(config, jobset().probe)() is None
        (path, body, token), (namespaced, _, _) = server.requests
    assert path == "/apis/kueue.x-k8s.io/v1beta2/resourceflavors?dryRun=All"
    assert namespaced == "/apis/jobset.x-k8s.io/v1alpha2/namespaces/jobset-system/jobsets?dryRun=All"
    assert (body["kind"], token) == ("ResourceFlavor", "Bearer secret")


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (500, WEBHOOK),  # failed calling webhook
        (503, WEBHOOK),
        (404, WEBHOOK),  # the CRD is not served yet
        (409, None),  # a probe that was kept: it has passed the webhooks
    ],
)
def test_what_time_can_change_is_asked_again(status: int, answer: str | None) -> None:
    with serving() as server:
        server.status, server.message = status, WEBHOOK
        assert probe_sender(kubeconfig(server.server_address[1]), kueue().probe)() == answer


@pytest.mark.parametrize("status", [400, 403, 422])
def test_what_time_alone_does_not_change_is_final(status: int) -> None:
    with serving() as server:
        server.status, server.message = status, WEBHOOK
        with pytest.raises(Rejected, match=WEBHOOK):
            probe_sender(kubeconfig(server.server_address[1]), kueue().probe)()


def test_a_server_that_is_not_there_is_asked_again() -> None:
    with serving() as server:
        port = server.server_address[1]
    assert probe_sender(kubeconfig(port), kueue().probe)()
