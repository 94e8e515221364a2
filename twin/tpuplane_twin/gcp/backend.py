"""What Google's API asks of the machine behind it: make clusters and node pools exist.

The API keeps the desired state and decides what is valid; a backend only brings about what it is told. Every method
may be called again with the same arguments at any time (after a kill, the API re-applies everything it has stored),
so every method is idempotent. Clusters and pools are Google's own REST JSON, as GET answers it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tpuplane_twin.gcp.schema import Json


class BackendError(Exception):
    """The backend could not do it. The message reaches the user as the operation's error."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a cluster's API server answers: `address` is "HOST:PORT", `ca_certificate` PEM text."""

    address: str
    ca_certificate: str


class ClusterBackend(Protocol):
    """One control plane per cluster, simulated nodes for the pools."""

    async def create_cluster(self, cluster: Json) -> Endpoint:
        """Start the cluster's control plane, return when it serves."""
        ...

    async def update_cluster(self, cluster: Json) -> None:
        """Bring a changed cluster about (release channel, labels, add-ons, version)."""
        ...

    async def delete_cluster(self, cluster: Json) -> None:
        """Stop the control plane and forget its data, pools included."""
        ...

    async def apply_node_pool(self, cluster: Json, pool: Json) -> None:
        """Make the pool's nodes exactly `node_counts(pool)`, return when they are Ready."""
        ...

    async def delete_node_pool(self, cluster: Json, pool: Json) -> None:
        """Remove the pool's nodes."""
        ...


def node_counts(pool: Json) -> dict[str, int]:
    """The nodes that a pool has in each of its zones.

    `initialNodeCount` is per zone (GKE rewrites it at every resize); autoscaling raises it to its minimum, per zone
    or, with `totalMinNodeCount`, over all zones.
    """
    zones: list[str] = pool["locations"]
    count = int(pool.get("initialNodeCount", 0))
    autoscaling = pool.get("autoscaling", {})
    if not autoscaling.get("enabled"):
        return dict.fromkeys(zones, count)
    counts = dict.fromkeys(zones, max(count, int(autoscaling.get("minNodeCount", 0))))
    missing = int(autoscaling.get("totalMinNodeCount", 0)) - sum(counts.values())
    for at in range(max(0, missing)):
        counts[zones[at % len(zones)]] += 1
    return counts
