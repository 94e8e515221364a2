"""How old something is, so that its time goes on where the twin was started again. Pure: both clocks come in."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping

from tpuplane_twin.elasticity.objects import Node


def age(stamp: str, wall: float) -> float:
    """Seconds from a time of Kubernetes' until `wall`, a time of the machine's clock; 0 for none and for the future."""
    if not stamp:
        return 0.0
    return max(0.0, wall - dt.datetime.fromisoformat(stamp).timestamp())


def births(nodes: Iterable[Node], known: Mapping[str, float], now: float, wall: float) -> dict[str, float]:
    """When each node was made, by name, in seconds of the caller's clock, which says `now` at the time `wall`."""
    return {node.name: known.get(node.name, now - age(node.created, wall)) for node in nodes}
