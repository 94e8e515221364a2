"""What Google's API asks of the machine behind it: make clusters and node pools exist.

The API keeps the desired state and decides what is valid; a backend only brings about what it is told. Every method
may be called again with the same arguments at any time (after a kill, the API re-applies everything it has stored),
so every method is idempotent. Clusters and pools are Google's own REST JSON, as GET answers it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.views import PoolView

Numbers = dict[str, list[int]]
"""The nodes of a pool: zone → their numbers in that zone's instance group."""

NODES = "twinNodes"
"""The field of a stored pool with its `Numbers` once the cluster autoscaler has resized it. No answer shows it."""

CUBE = "twinCube"
"""The field of a stored pool that is true where its chips wait for dynamic slicing. No answer shows it."""

ROTATION = "twinRotation"
"""The field of a stored cluster whose credentials were rotated. No answer shows it.

It counts its authorities: `serves` is the one that signs the server's certificate, `trusted` the last one that clients
are to trust, which is another while a rotation is under way.
"""

NO_ROTATION = {"serves": 0, "trusted": 0}


class BackendError(Exception):
    """The backend could not do it. The message reaches the user as the operation's error."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a cluster's API server answers: `address` is "HOST:PORT", `ca_certificate` PEM text."""

    address: str
    ca_certificate: str


@dataclass(frozen=True, slots=True)
class Instance:
    """A machine that a node of a pool runs on; `created` as RFC 3339 text."""

    name: str
    pool: str
    zone: str
    address: str
    created: str


class ClusterBackend(Protocol):
    """One control plane per cluster, simulated nodes for the pools."""

    async def create_cluster(self, cluster: Json) -> Endpoint:
        """Start the cluster's control plane, with the credentials of its `ROTATION`; return when it serves."""
        ...

    async def update_cluster(self, cluster: Json) -> None:
        """Bring a changed cluster about (release channel, labels, add-ons, version)."""
        ...

    async def delete_cluster(self, cluster: Json) -> None:
        """Stop the control plane and forget its data, pools included."""
        ...

    async def apply_node_pool(self, cluster: Json, pool: Json) -> None:
        """Make the pool's nodes exactly `node_numbers(pool)`, return when they are Ready."""
        ...

    async def delete_node_pool(self, cluster: Json, pool: Json) -> None:
        """Remove the pool's nodes."""
        ...

    async def instances(self, cluster: Json) -> list[Instance]:
        """The machines of all pools as they are now; none of a cluster that has no control plane yet."""
        ...


def node_counts(pool: Json) -> dict[str, int]:
    """The nodes that a pool has in each of its zones."""
    return {zone: len(numbers) for zone, numbers in node_numbers(pool).items()}


def node_numbers(pool: Json) -> Numbers:
    """The numbers of the nodes that a pool has in each of its zones, ascending.

    `initialNodeCount` is per zone (GKE rewrites it when a pool is resized by hand); where the cluster autoscaler has
    resized the pool since, `NODES` has what it made of it. Autoscaling raises either to its minimum, per zone or,
    with `totalMinNodeCount`, over all zones.
    """
    view = PoolView(pool)
    zones, initial = view.zones, range(view.nodes_per_zone)
    numbers = {zone: sorted(pool.get(NODES, {}).get(zone, initial)) for zone in zones}
    for zone in zones:
        numbers[zone] = sized(numbers[zone], max(len(numbers[zone]), view.limit("minNodeCount")))
    missing = view.limit("totalMinNodeCount") - sum(map(len, numbers.values()))
    for at in range(max(0, missing)):
        zone = zones[at % len(zones)]
        numbers[zone] = sized(numbers[zone], len(numbers[zone]) + 1)
    return numbers


def sized(numbers: Sequence[int], count: int) -> list[int]:
    """These nodes as `count` nodes: the highest numbers go, the lowest free ones come."""
    taken = set(numbers)
    free = (number for number in itertools.count() if number not in taken)
    more = itertools.islice(free, max(0, count - len(numbers)))
    return sorted([*sorted(numbers)[:count], *more])


def pod_cidr_size(pods_per_node: int) -> int:
    """The prefix of a node's pod range: GKE takes the smallest that holds twice the pods."""
    return 32 - (2 * pods_per_node - 1).bit_length()
