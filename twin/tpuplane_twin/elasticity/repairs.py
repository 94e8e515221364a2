"""Nodes that were deleted in a cluster, which are created again, as by GKE's auto-repair. Pure."""

from collections.abc import Collection, Iterable, Mapping

from tpuplane_twin.elasticity.objects import Node
from tpuplane_twin.gcp.backend import Numbers

_PATIENCE_SECONDS = 10.0
"""How long a node must be missing, because nodes that are being created or deleted are missing for a moment."""
_AGAIN_SECONDS = 60.0
"""After a repair that failed."""


def missing(pools: Mapping[str, Numbers], nodes: Iterable[Node]) -> dict[str, Numbers]:
    """The missing nodes by their pool's resource name."""
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
    """When to repair each pool with missing nodes, in seconds of the caller's clock."""

    def __init__(self) -> None:
        self._due: dict[str, float] = {}

    def ripe(self, pools: Collection[str], now: float) -> list[str]:
        """The pools to repair now; `pools` are all that lack nodes."""
        self._due = {key: self._due.get(key, now + _PATIENCE_SECONDS) for key in pools}
        return [key for key, due in self._due.items() if due <= now]

    def done(self, key: str) -> None:
        """A pool was repaired."""
        self._due.pop(key, None)

    def failed(self, key: str, now: float) -> None:
        """A repair failed; the next follows after a pause."""
        self._due[key] = now + _AGAIN_SECONDS

    def dues(self) -> Iterable[float]:
        """The times of the next repairs."""
        return self._due.values()
