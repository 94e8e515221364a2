"""How long the command line waits for the supervisor, and its message after a timeout."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
import pytest
from tpuplane_twin.cli import app
from tpuplane_twin.daemon.client import TwinClient, TwinError
from tpuplane_twin.machine.paths import TwinPaths
from typer.testing import CliRunner

pytestmark = pytest.mark.unit


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Nothing, until nobody may wait for it any more."""
        self.server.released.wait()  # type: ignore[attr-defined]
        answer = b'{"pool": "tpu"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class Supervisor(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.released = threading.Event()


@pytest.fixture
def supervisor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Supervisor]:
    """One that this process plays, of the twin `local`."""
    monkeypatch.setenv("TPUPLANE_TWIN", "local")
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path))
    with Supervisor() as server:
        threading.Thread(target=server.serve_forever).start()
        record = {
            "pid": os.getpid(),
            "created": psutil.Process().create_time(),
            "api": f"http://127.0.0.1:{server.server_port}",
        }
        TwinPaths.of().make().record.write_text(json.dumps(record))
        try:
            yield server
        finally:
            server.released.set()
            server.shutdown()


def test_a_timeout_reports_that_the_request_may_still_run(supervisor: Supervisor) -> None:
    with pytest.raises(
        TwinError, match=r"has not answered for 0\.1 s; it may still work on the request.*tpuplane-twin status"
    ):
        TwinClient(TwinPaths.of()).request("POST", "/twin/reclaim", {"pool": "tpu"}, timeout=0.1)


def test_hosts_are_waited_for_longer_than_any_other_answer(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    real = TwinClient.request

    def request(self: TwinClient, method: str, path: str, body: dict[str, object], *, timeout: float = 30) -> object:
        waited.append(timeout)
        supervisor.released.set()
        return real(self, method, path, body, timeout=timeout)

    monkeypatch.setattr(TwinClient, "request", request)
    result = CliRunner().invoke(app, ["reclaim", "tpu"])
    assert result.exit_code == 0, result.output
    assert "the hosts of tpu are deleted" in result.stdout
    assert waited[0] > 300
