"""All objects of a kind, kept up to date by a watch: no requests are sent while nothing changes."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import aiohttp

from tpuplane_twin.cluster.api import Api, ClusterError, path

log = logging.getLogger(__name__)

T = TypeVar("T")
_AGAIN_SECONDS = 1.0


class Mirror(Generic[T]):
    """The objects by "namespace/name", as `parse` reads them; objects for which it returns None are left out.

    `changed` is set whenever what was read is different from before.
    """

    def __init__(
        self, api: Api, kind: str, parse: Callable[[dict[str, Any]], T | None], changed: asyncio.Event
    ) -> None:
        """Nothing is read before `run`."""
        self.items: dict[str, T] = {}
        self.synced = asyncio.Event()
        """Set while it follows the API server. An error clears it until the next list."""
        self._api = api
        self._kind = kind
        self._parse = parse
        self._changed = changed

    async def run(self) -> None:
        """Follow the API server until cancelled, through restarts of it."""
        version = ""
        while True:
            try:
                version = version or await self._list()
                async for change, item in self._api.watch(self._kind, version):
                    self._take(item, deleted=change == "DELETED")
                    version = item["metadata"]["resourceVersion"]
            except (ClusterError, aiohttp.ClientError, OSError, RuntimeError, ValueError) as error:
                log.debug("watch of %s: %s", self._kind, error)
                version = ""
                self.synced.clear()
                await asyncio.sleep(_AGAIN_SECONDS)

    async def _list(self) -> str:
        items, version = await self._api.read_list(path(self._kind, None, None), {})
        found = {_key(item): parsed for item in items if (parsed := self._parse(item)) is not None}
        if found != self.items or not self.synced.is_set():
            self.items = found
            self._changed.set()
        self.synced.set()
        return version

    def _take(self, item: dict[str, Any], *, deleted: bool) -> None:
        key = _key(item)
        parsed = None if deleted else self._parse(item)
        if parsed == self.items.get(key):
            return
        if parsed is None:
            del self.items[key]
        else:
            self.items[key] = parsed
        self._changed.set()


def _key(item: dict[str, Any]) -> str:
    metadata = item["metadata"]
    return f"{metadata.get('namespace', '')}/{metadata['name']}"
