"""The way from the API server to pods: an HTTP CONNECT proxy, as GKE has konnectivity.

The API server dials everything that is in the cluster (webhook and conversion Services, aggregated APIs, the proxy
of pods and Services, kubelets) through its `cluster` egress, and that is this. Pod addresses exist nowhere on the
machine, so the tunnel rejects what it does not know, and nothing leaves the machine.
"""

import asyncio
import contextlib
import logging
from typing import Protocol

from tpuplane_twin.cluster.layout import LOOPBACK, Layout

logger = logging.getLogger(__name__)

PORT = "tunnel"
_LONGEST_REQUEST = 4096  # bytes; a CONNECT names an address, a port and a host
_CHUNK = 64 * 1024

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Unreachable(Exception):
    """Nothing answers at an address of the cluster; the message says why, and reaches the client."""


class Dialler(Protocol):
    """Knows what is behind the addresses of a cluster."""

    async def dial(self, host: str, port: int) -> Streams:
        """A connection to that address of a pod. Raises `Unreachable`."""


class Tunnel:
    """Serves CONNECT over mutual TLS on 127.0.0.1."""

    def __init__(self, layout: Layout, dialler: Dialler) -> None:
        self._layout = layout
        self._dialler = dialler
        self._server: asyncio.Server | None = None
        self._relays: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen. Raises `OSError` where the port is taken."""
        tls, port = self._layout.serving(PORT), self._layout.port(PORT)
        self._server = await asyncio.start_server(self._serve, LOOPBACK, port, ssl=tls, limit=_LONGEST_REQUEST)

    async def stop(self) -> None:
        """Stop listening, and end what runs through the tunnel."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for relay in self._relays:
            relay.cancel()
        await asyncio.gather(*self._relays, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if (task := asyncio.current_task()) is not None:
            self._relays.add(task)
            task.add_done_callback(self._relays.discard)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                await self._connect(reader, writer)
        finally:
            writer.close()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        method, _, target = request.partition(b"\r\n")[0].decode("latin-1").partition(" ")
        host, _, port = target.partition(" ")[0].rpartition(":")
        if method != "CONNECT" or not port.isdecimal():
            writer.write(b"HTTP/1.1 405 only CONNECT address:port\r\n\r\n")
            return
        try:
            far_reader, far_writer = await self._dialler.dial(host.strip("[]"), int(port))
        except Unreachable as error:
            logger.debug("%s: %s:%s: %s", self._layout.key, host, port, error)
            writer.write(f"HTTP/1.1 502 {error}\r\n\r\n".encode("latin-1", errors="replace"))
            return
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await relay((reader, writer), (far_reader, far_writer))


async def relay(near: Streams, far: Streams) -> None:
    """Pass on what both sides send until both have ended: a side that sends nothing more may still get the answer.

    TLS has no half-closed connection: there the end of one side ends both. Where one side fails, the other is closed.
    """
    halves = near[1].can_write_eof() and far[1].can_write_eof()
    ways = [asyncio.create_task(_pass(near[0], far[1])), asyncio.create_task(_pass(far[0], near[1]))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_EXCEPTION if halves else asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        for writer in (near[1], far[1]):
            writer.close()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(_CHUNK):
        writer.write(chunk)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
