"""Addresses of a cluster's pod network at which the supervisor listens, for what runs in pods."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping

from tpuplane_twin.cluster.tunnel import Streams, Unreachable, relay
from tpuplane_twin.pods.sandbox.client import SandboxError, Sandboxes

logger = logging.getLogger(__name__)

Address = tuple[str, int]
Reach = Callable[[str], Awaitable[Streams]]
"""A connection to what is behind an address, for a client at that source. Raises `Unreachable` and `OSError`."""

_AGAIN_SECONDS = 1.0  # until an address that could not be listened at is tried once more


class Listeners:
    """The listeners of one kind: `what` names it in messages."""

    def __init__(self, sandboxes: Sandboxes, what: str, changed: asyncio.Event) -> None:
        """`changed` is set when an address is to be tried once more."""
        self._sandboxes = sandboxes
        self._what = what
        self._changed = changed
        self._listeners: dict[Address, asyncio.Server] = {}
        self._wanted: Mapping[Address, Reach] = {}

    async def listen(self, wanted: Mapping[Address, Reach], *, own: bool = False) -> None:
        """Listen at exactly these addresses; with `own` the pod network gets those that it does not have."""
        self._wanted = wanted
        for key in self._listeners.keys() - wanted.keys():
            self._listeners.pop(key).close()
        for key in wanted.keys() - self._listeners.keys():
            with contextlib.suppress(SandboxError):  # they are served again with the next daemon
                if own:
                    await self._sandboxes.own(key[0])
                listener = await self._sandboxes.socket()
                try:
                    listener.bind(key)
                    self._listeners[key] = await asyncio.start_server(self._serving(key), sock=listener)
                except OSError as error:
                    listener.close()
                    logger.warning("the %s at %s:%s is not served in pods: %s", self._what, *key, error)
                    asyncio.get_running_loop().call_later(_AGAIN_SECONDS, self._changed.set)

    def close(self) -> None:
        """Stop listening."""
        for listener in self._listeners.values():
            listener.close()
        self._listeners, self._wanted = {}, {}

    def _serving(self, key: Address) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            # Behind the address may be something else now.
            reach = self._wanted.get(key)
            try:
                if reach is None:
                    raise Unreachable("it is no longer served")
                far = await reach(writer.get_extra_info("peername")[0])
            except (Unreachable, OSError) as error:
                logger.info("a pod's connection to the %s at %s:%s is rejected: %s", self._what, *key, error)
                writer.transport.abort()
                return
            with contextlib.suppress(OSError):
                await relay((reader, writer), far)

        return serve
