"""Control planes of the same VPC, as a pod that is a real process reaches them: at their private addresses."""

from __future__ import annotations

import asyncio
import contextlib
import logging

from tpuplane_twin.cluster.layout import LOOPBACK
from tpuplane_twin.cluster.tunnel import relay
from tpuplane_twin.cluster.vpc import PrivateEndpoint, Vpc
from tpuplane_twin.sandbox.client import SandboxError, Sandboxes

logger = logging.getLogger(__name__)

_HTTPS = 443
_AGAIN_SECONDS = 1.0  # until an address that could not be listened at is tried once more


class PrivateEndpoints:
    """What the pods of one cluster, which is at `place`, see of the VPC."""

    def __init__(self, vpc: Vpc, place: PrivateEndpoint, sandboxes: Sandboxes) -> None:
        self._vpc = vpc
        self._place = place
        self._sandboxes = sandboxes
        self._listeners: dict[str, asyncio.Server] = {}

    async def run(self) -> None:
        """Serve until cancelled."""
        changed = asyncio.Event()
        self._vpc.watch(changed)
        try:
            while True:
                changed.clear()
                with contextlib.suppress(SandboxError):  # they are served again with the next daemon
                    if not await self._listen():
                        asyncio.get_running_loop().call_later(_AGAIN_SECONDS, changed.set)
                await changed.wait()
        finally:
            self._vpc.unwatch(changed)
            for listener in self._listeners.values():
                listener.close()

    async def _listen(self) -> bool:
        """Listen at every address; returns whether that was possible."""
        wanted = self._vpc.seen_from(self._place.network)
        for address in self._listeners.keys() - wanted.keys():
            self._listeners.pop(address).close()
        for address in wanted.keys() - self._listeners.keys():
            await self._sandboxes.own(address)
            listener = await self._sandboxes.socket()
            try:
                listener.bind((address, _HTTPS))
                self._listeners[address] = await asyncio.start_server(self._serve, sock=listener)
            except OSError as error:
                listener.close()
                logger.warning("the private endpoint %s is not served in pods: %s", address, error)
        return wanted.keys() == self._listeners.keys()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address, source = writer.get_extra_info("sockname")[0], writer.get_extra_info("peername")[0]
        found = self._vpc.seen_from(self._place.network).get(address)
        rejection = "nothing serves there" if found is None else found[0].rejection(source, self._place.region)
        if found is None or rejection is not None:
            logger.info("a pod's connection to the private endpoint %s is rejected: %s", address, rejection)
            writer.transport.abort()
            return
        try:
            far = await asyncio.open_connection(LOOPBACK, found[1])
        except OSError:
            writer.transport.abort()
            return
        with contextlib.suppress(OSError):
            await relay((reader, writer), far)
