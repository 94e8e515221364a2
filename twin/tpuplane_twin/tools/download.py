"""Downloads over https: of the bundle, and of what projects publish."""

import errno
import io
import re
import tempfile
import urllib.request
from collections.abc import Callable
from http.client import HTTPException, HTTPMessage, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

FAILURES = (OSError, HTTPException, ValueError)
"""What `download` raises."""
BLOCK = 1 << 20
_TIMEOUT = 60  # seconds without an answer


class _Connection(HTTPSConnection):
    """Once it is established, it waits longer for an answer."""

    def connect(self) -> None:
        super().connect()
        self.sock.settimeout(_TIMEOUT)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> HTTPResponse:
        return self.do_open(_Connection, req)


class _Encrypted(urllib.request.HTTPRedirectHandler):
    """Follows no redirect to an address without encryption."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        _check_https(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def download(
    address: str, folder: Path, report: Callable[[float | None], None], connect: float = _TIMEOUT
) -> io.BufferedIOBase:
    """A copy of an https address, which is deleted when it is closed. It is in `folder`.

    `report` gets the fraction done, or None if it is not known. A connection may take `connect` seconds. Raises
    `FAILURES`.
    """
    copy = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (the caller closes it)
    try:
        _check_https(address)
        with urllib.request.build_opener(_Encrypted, _Https).open(address, timeout=connect) as answer:
            size = int(answer.headers.get("Content-Length") or 0)
            while block := answer.read(BLOCK):
                copy.write(block)
                report(copy.tell() / size if size else None)
    except BaseException:
        copy.close()
        raise
    copy.seek(0)
    return copy


def cause_of(error: Exception) -> object:
    """Why a download failed, to be shown. Raises the error again if a disk of this machine is full."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        raise error
    # URLError has no text of its own when it wraps an error of the network.
    reason = getattr(error, "reason", None)
    cause = reason if isinstance(reason, OSError) else error
    return getattr(cause, "strerror", None) or cause


def _check_https(address: str) -> None:
    """Raise `ValueError` if the address has another scheme, or a user."""
    parts = urlsplit(address)
    if parts.scheme != "https" or not parts.hostname or parts.username is not None:
        raise ValueError(f"{without_secrets(address)} is not an https address without a user")


def without_secrets(address: str) -> str:
    """The address without user and query, which may hold a credential."""
    return re.sub(r"(?<=://)[^/]*@|[?].*", "", address) if "://" in address else address
