"""The control planes of a VPC at their private addresses, as pods that are real processes reach them."""

import asyncio
from functools import partial

from tpuplane_twin.cluster.layout import LOOPBACK
from tpuplane_twin.cluster.tunnel import Streams, Unreachable
from tpuplane_twin.cluster.vpc import PrivateEndpoint, Vpc
from tpuplane_twin.pods.listeners import Listeners
from tpuplane_twin.pods.sandbox.client import Sandboxes

_HTTPS = 443


class PrivateEndpoints:
    """The control planes of the VPC, as pods of the cluster at `place` that are real processes reach them."""

    def __init__(self, vpc: Vpc, place: PrivateEndpoint, sandboxes: Sandboxes) -> None:
        self._vpc = vpc
        self._place = place
        self._changed = asyncio.Event()
        self._listeners = Listeners(sandboxes, "private endpoint", self._changed)

    async def run(self) -> None:
        """Serve until cancelled."""
        self._vpc.watch(self._changed)
        try:
            while True:
                self._changed.clear()
                seen = self._vpc.seen_from(self._place.network).items()
                wanted = {(address, _HTTPS): partial(self._reach, *found) for address, found in seen}
                await self._listeners.listen(wanted, own=True)
                await self._changed.wait()
        finally:
            self._vpc.unwatch(self._changed)
            self._listeners.close()

    async def _reach(self, endpoint: PrivateEndpoint, port: int, source: str) -> Streams:
        if rejection := endpoint.rejection(source, self._place.region):
            raise Unreachable(rejection)
        return await asyncio.open_connection(LOOPBACK, port)
