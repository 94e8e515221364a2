"""The supervisor's side of the sandbox daemon: run a process, end it, get a socket of the pod network."""

import asyncio
import contextlib
import itertools
import json
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from socket import socket as Socket
from typing import Any

from tpuplane_twin.pods.sandbox.daemon import LARGEST

Exited = Callable[[int, int], None]
"""Called with a process id and its exit code."""


class SandboxError(RuntimeError):
    """The daemon is not running, or it failed."""


class Sandboxes:
    """A connection to the daemon of one cluster."""

    def __init__(self, path: Path, exited: Exited, lost: Callable[[], None]) -> None:
        """The daemon's socket is `path`. `lost` is called when the daemon and all its processes have ended."""
        self._path = path
        self._exited = exited
        self._lost = lost
        self._socket: socket.socket | None = None
        self._sending = asyncio.Lock()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[tuple[dict[str, Any], list[int]]]] = {}

    @property
    def connected(self) -> bool:
        """Whether the daemon is connected."""
        return self._socket is not None

    async def connect(self) -> bool:
        """Connect to the daemon; False if it does not accept connections yet."""
        if self._socket is not None:
            return True
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
        try:
            # The path of a Unix socket is at most 107 characters: fewer than some home directories need.
            folder = os.open(self._path.parent, os.O_PATH)
            try:
                connection.connect(f"/proc/self/fd/{folder}/{self._path.name}")
            finally:
                os.close(folder)
        except OSError:
            connection.close()
            return False
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LARGEST)
        self._socket, self._sending = connection, asyncio.Lock()
        asyncio.get_running_loop().add_reader(connection, self._read)
        return True

    def close(self) -> None:
        """Disconnect from the daemon, which ends all processes."""
        connection, self._socket = self._socket, None
        if connection is not None:
            asyncio.get_running_loop().remove_reader(connection)
            connection.close()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(SandboxError("the pods' processes were ended"))
                waiting.exception()  # Read once, because asyncio logs the error of a caller that has ended.
        self._waiting.clear()

    async def run(self, order: dict[str, Any]) -> int:
        """Start the process of `order` (see `daemon`) and return its id. Raises `SandboxError`."""
        answer, _ = await self._ask({"op": "run", "order": order})
        return int(answer["pid"])

    async def signal(self, pid: int, number: signal.Signals) -> None:
        """Send a signal to a process, unless it has ended."""
        await self._ask({"op": "signal", "pid": pid, "signal": int(number)})

    async def socket(self, kind: str = "tcp") -> socket.socket:
        """A socket of the pod network, not blocking, neither bound nor connected."""
        _, (descriptor,) = await self._ask({"op": "socket", "kind": kind})
        made = socket.socket(fileno=descriptor)
        made.setblocking(False)
        return made

    async def own(self, address: str) -> None:
        """Route the packets of pods to `address` to sockets of the pod network."""
        await self._ask({"op": "own", "address": address})

    async def _ask(self, request: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
        if self._socket is None:
            raise SandboxError("the process that runs pods is being started")
        number = next(self._numbers)
        waiting = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            await self._send(self._socket, json.dumps({"id": number, **request}).encode(), waiting)
            answer, descriptors = await waiting
        except OSError as error:
            raise SandboxError(str(error)) from error
        finally:
            self._waiting.pop(number, None)
        if "error" in answer:
            raise SandboxError(answer["error"])
        return answer, descriptors

    async def _send(self, connection: Socket, message: bytes, waiting: asyncio.Future[Any]) -> None:
        """Send the message, unless the connection closes first, which completes `waiting`."""
        # The event loop allows one writer per socket.
        async with self._sending:
            if waiting.done():
                return
            sending = asyncio.ensure_future(asyncio.get_running_loop().sock_sendall(connection, message))
            try:
                await asyncio.wait([sending, waiting], return_when=asyncio.FIRST_COMPLETED)
                if sending.done():
                    await sending
            finally:
                sending.cancel()

    def _read(self) -> None:
        connection = self._socket
        if connection is None:
            return
        try:
            message, descriptors, _, _ = socket.recv_fds(connection, LARGEST, 1)
        except BlockingIOError:
            return
        except OSError:
            message, descriptors = b"", []
        if not message:
            self.close()
            self._lost()
            return
        answer = json.loads(message)
        if "exited" in answer:
            self._exited(answer["exited"], answer["code"])
            return
        waiting = self._waiting.get(answer["id"])
        if waiting is not None and not waiting.done():
            waiting.set_result((answer, descriptors))
        else:
            for descriptor in descriptors:
                with contextlib.suppress(OSError):
                    os.close(descriptor)
