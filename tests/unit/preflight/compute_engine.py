"""Compute Engine on a loopback port: the two methods that are asked, from a table of paths."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "a-token-of-this-test"


class Server(ThreadingHTTPServer):
    """Answers GET by path: a body, or an HTTP status to fail with; 404 for what is not in the table."""

    daemon_threads = True

    def __init__(self, answers: dict[str, Any]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = answers

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/compute/v1/"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        answer = self.server.answers.get(self.path.partition("?")[0].removeprefix("/compute/v1/"), 404)
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            answer = 401
        status, body = (
            (answer, {"error": {"message": f"rejected with {answer}"}}) if isinstance(answer, int) else (200, answer)
        )
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on standard error."""


@contextmanager
def compute_engine(answers: dict[str, Any]) -> Iterator[Server]:
    """Serve until the block ends."""
    with Server(answers) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
