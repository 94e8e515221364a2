"""The twin's own client of an API server that is killed in the middle of an answer."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import aclosing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tpuplane_twin.cluster.api import Api

pytestmark = pytest.mark.unit

ANSWER = b'{"metadata": {}, "items": [{"metadata": {"name": "n0"}}]}'


class Handler(BaseHTTPRequestHandler):
    answers = 0

    def do_GET(self) -> None:
        """Half of the first answer, and every other one whole."""
        Handler.answers += 1
        self.send_response(200)
        self.send_header("Content-Length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER[:10] if Handler.answers == 1 else ANSWER)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


async def test_an_answer_that_breaks_off_is_asked_for_again(server: str) -> None:
    async with aclosing(Api(server, tls=ssl.create_default_context(), token="token")) as api:
        assert [node["metadata"]["name"] for node in await api.list("Node")] == ["n0"]
    assert Handler.answers == 2
