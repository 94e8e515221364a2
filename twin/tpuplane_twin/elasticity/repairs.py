"""Nodes that somebody deleted from a cluster: their machines come again, as by GKE's auto-repair. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from tpuplane_twin.elasticity.objects import Node
from tpuplane_twin.gcp.backend import Numbers

_PATIENCE_SECONDS = 10.0
"""For how long a node must be missing: one that is being made, or goes, is not there for a moment."""
_AGAIN_SECONDS = 60.0
"""After a repair that failed."""


def missing(pools: Mapping[str, Numbers], nodes: Iterable[Node]) -> dict[str, Numbers]:
    """The nodes that are not there, by the resource name of the pool that should have them."""
    there = {(node.pool, node.place) for node in nodes}
    found: dict[str, Numbers] = {}
    for key, numbers in pools.items():
        name = key.rpartition("/")[2]
        for zone, wanted in numbers.items():
            lost = [number for number in wanted if (name, f"{zone}/{number}") not in there]
            if lost:
                found.setdefault(key, {})[zone] = lost
    return found


class Repairs:
    """When each pool that lacks nodes is to be mended, in seconds of the caller's clock."""

    def __init__(self) -> None:
        self._due: dict[str, float] = {}

    def ripe(self, pools: Collection[str], now: float) -> list[str]:
        """Those of the pools that lack nodes, all of them given, whose time has come."""
        self._due = {key: self._due.get(key, now + _PATIENCE_SECONDS) for key in pools}
        return [key for key, due in self._due.items() if due <= now]

    def done(self, key: str) -> None:
        """It has its nodes again."""
        self._due.pop(key, None)

    def failed(self, key: str, now: float) -> None:
        """It is left alone for a while."""
        self._due[key] = now + _AGAIN_SECONDS

    def dues(self) -> Iterable[float]:
        """When something is to be mended."""
        return self._due.values()
