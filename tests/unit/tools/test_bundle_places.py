"""Where a bundle is read from: a file or an https address, and what is reported when it cannot be read."""

from __future__ import annotations

import functools
import http.server
from collections.abc import Iterator
from pathlib import Path

import pytest
from tpuplane_twin import tools
from tpuplane_twin.tools import ToolError
from tpuplane_twin.tools.progress import Status

from tests.support.https_server import serving

pytestmark = pytest.mark.unit


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server of the folder's files."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with serving(handler, tmp_path, monkeypatch) as address:
        yield address


def test_a_bundle_is_downloaded(
    packed: tuple[Path, str], address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TPUPLANE_TOOLS", f"{address}/tools.zip?token=secret#sha256={packed[1]}")
    seen: list[Status] = []
    tools.ensure(["etcd"], seen.append, cache=tmp_path / "other")
    assert seen[-1].text == "unpacking etcd v3.6.8 (1 of 1)"
    assert seen[0].text == "downloading the bundle"
    monkeypatch.setenv("TPUPLANE_TOOLS", f"{address}/none.zip?token=secret")
    with pytest.raises(ToolError, match="cannot be read") as raised:
        tools.ensure(["kueue"], cache=tmp_path / "other")
    assert "secret" not in str(raised.value)


class Redirect(http.server.BaseHTTPRequestHandler):
    """Sends every client to an address without encryption, or ends in the middle of its answer."""

    def do_GET(self) -> None:
        redirect = self.path == "/redirect"
        self.send_response(302 if redirect else 200)
        plain = ("Location", "http://tools.example.com/tools.zip")
        self.send_header(*(plain if redirect else ("Transfer-Encoding", "chunked")))
        self.end_headers()
        self.wfile.write(b"" if redirect else b"5\r\nhello\r\n")


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("http://tools.example.com/tools.zip", "http://tools.example.com/tools.zip is not an https address"),
        ("file:///tools.zip", "file:///tools.zip is not an https address"),
        ("https://me:secret@localhost/tools.zip", "https://localhost/tools.zip is not an https address without a user"),
        ("https://", "https:// is not an https address"),
        ("https://[localhost/tools.zip", "Invalid IPv6 URL"),
        ("https://localhost:port/tools.zip", "nonnumeric port: 'port'"),
        ("https://localhost:1/tools.zip?token=secret", "Connection refused"),
        ("https://localhost/a b", "URL can't contain control characters"),
        ("~/none.zip", "No such file or directory"),
        (".", "Is a directory"),
    ],
)
def test_a_place_that_cannot_be_read_is_reported(
    place: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TPUPLANE_TOOLS", place)
    with pytest.raises(ToolError) as raised:
        tools.ensure(["etcd"], cache=tmp_path / "other")
    assert f" cannot be read: {message}" in str(raised.value)
    assert "; name a file or an https address " in str(raised.value)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(("path", "message"), [("redirect", "is not an https address"), ("half", "cannot be read")])
def test_a_server_that_answers_otherwise_is_reported(
    path: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Redirect, tmp_path, monkeypatch) as address:
        monkeypatch.setenv("TPUPLANE_TOOLS", f"{address}/{path}")
        with pytest.raises(ToolError, match=message) as raised:
            tools.ensure(["etcd"], cache=tmp_path / "other")
    assert address in str(raised.value)
