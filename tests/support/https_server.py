"""An https server on this machine."""

from __future__ import annotations

import http.server
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme


@contextmanager
def serving(handler: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of an https server whose authority this process trusts. The authority's file is in `folder`."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    authority.cert_pem.write_to_path(folder / "authority.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(folder / "authority.pem"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"https://localhost:{server.server_port}"
        server.shutdown()
