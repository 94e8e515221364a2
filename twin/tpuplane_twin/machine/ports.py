"""Ports on 127.0.0.1 that a twin keeps until it is deleted, so that kubeconfigs and stack outputs stay valid."""

import contextlib
import hashlib
import json
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

from tpuplane_twin.machine.files import write_atomic

# Below the range of outgoing connections on Linux and macOS (from 32768 and 49152), so that connections of other
# programs do not use a port while the twin is down.
_FIRST, _LAST = 20000, 29999


class PortTaken(RuntimeError):
    """Another program uses a port of the twin, or every port of its range is in use."""


class PortBook:
    """The twin's ports by key. Not safe for two processes at once: the supervisor alone writes it."""

    def __init__(self, path: Path, *, others: Iterable[Path] = ()) -> None:
        """Read the book at `path`; ports in the books at `others` (the user's other twins) are not used."""
        self._path = path
        self._ports: dict[str, int] = json.loads(path.read_text()) if path.exists() else {}
        self._reserved: set[int] = set()
        for other in others:
            with contextlib.suppress(OSError, ValueError):
                self._reserved.update(json.loads(other.read_text()).values())

    def port(self, key: str) -> int:
        """The port of `key`: a free one at the first call, then always the same. Raises `PortTaken`."""
        if key not in self._ports:
            taken = set(self._ports.values()) | self._reserved
            port = next(
                (candidate for candidate in self._candidates() if candidate not in taken and _bindable(candidate)), None
            )
            if port is None:
                raise PortTaken(
                    f"no free port between {_FIRST} and {_LAST} on 127.0.0.1; "
                    "delete a twin that you do not need: `tpuplane-twin down --name NAME`"
                )
            self._ports[key] = port
            write_atomic(self._path, json.dumps(self._ports, indent=2, sort_keys=True))
        return self._ports[key]

    def _candidates(self) -> Iterator[int]:
        # Each book begins elsewhere, so that two twins that start at once choose different ports.
        count = _LAST - _FIRST + 1
        begin = int.from_bytes(hashlib.sha256(str(self._path.absolute()).encode()).digest()[:4]) % count
        return (_FIRST + (begin + step) % count for step in range(count))

    def check(self, key: str) -> int:
        """The port of `key`, which must be free now. Raises `PortTaken` with port, use and holder."""
        port = self.port(key)
        if not _bindable(port):
            raise PortTaken(
                f"port {port} on 127.0.0.1, which is the twin's {key}, is taken by {_holder(port)}; "
                "stop it and run the command again (or start another twin with --name, on other ports)"
            )
        return port

    def release(self, prefix: str) -> None:
        """Forget the ports whose key starts with `prefix`."""
        kept = {key: port for key, port in self._ports.items() if not key.startswith(prefix)}
        if kept != self._ports:
            self._ports = kept
            write_atomic(self._path, json.dumps(kept, indent=2, sort_keys=True))


def _bindable(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As every server here: connections in TIME_WAIT do not matter.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _holder(port: int) -> str:
    with contextlib.suppress(psutil.Error):
        for connection in psutil.net_connections(kind="tcp"):
            if connection.laddr and connection.laddr.port == port and connection.status == psutil.CONN_LISTEN:
                if connection.pid is None:
                    break
                return f"process {connection.pid} ({psutil.Process(connection.pid).name()})"
    return "another program"
