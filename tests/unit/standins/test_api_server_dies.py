"""An API server that dies in the middle of an answer is one that did not answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tpuplane_standins.providers.kubernetes.api import ApiServer, ConnectionFailed

from tests.support.plain_api_server import client_of

pytestmark = pytest.mark.unit

NODES = "/api/v1/nodes"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Half of what the header promises; the path says with which status."""
        self.send_response(int(self.path.partition("?")[0].rpartition("/")[2]))
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b'{"kind": "NodeList"')

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def api() -> Iterator[ApiServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield client_of(server.server_port)
        finally:
            server.shutdown()


@pytest.mark.parametrize("status", [200, 503])
def test_a_body_that_breaks_off(api: ApiServer, status: int) -> None:
    with pytest.raises(ConnectionFailed, match=f'Get "http://127.0.0.1:[0-9]+{NODES}/{status}": Connection broken'):
        api.request("GET", f"{NODES}/{status}")


def test_a_rejection_to_watch_that_breaks_off(api: ApiServer) -> None:
    with pytest.raises(ConnectionFailed, match="Connection broken"):
        next(api.watch(f"{NODES}/410", "1", "metadata.name=n", 1))


def test_changes_that_break_off_just_end(api: ApiServer) -> None:
    assert list(api.watch(f"{NODES}/200", "1", "metadata.name=n", 1)) == []
