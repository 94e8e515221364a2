"""The interface between Google's API and the machine, which runs its clusters and node pools.

The API stores the desired state and checks requests; a backend applies it. Every method is idempotent, because the API
applies all stored clusters and pools again after a kill. Clusters and pools are Google's REST JSON, as GET answers it.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.views import PoolView

Numbers = dict[str, list[int]]
"""The nodes of a pool: zone → their numbers in that zone's instance group."""

NODES = "twinNodes"
"""The field of a stored pool with its `Numbers` after the cluster autoscaler has resized it. Answers leave it out."""

GRANTED = "twinGranted"
"""The field of a stored pool whose creation has got its capacity. Answers leave it out."""

CUBE = "twinCube"
"""The field of a stored pool with the topology of its cube, if its chips wait for dynamic slicing. Answers leave it
out."""

ROTATION = "twinRotation"
"""The field of a stored cluster whose credentials were rotated. Answers leave it out.

It has numbers of certificate authorities: `serves` signs the server's certificate, `trusted` is the last that clients
trust. They differ during a rotation.
"""

NO_ROTATION = {"serves": 0, "trusted": 0}


class BackendError(Exception):
    """The backend failed. The message is the error of the operation."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a cluster's API server: `address` is "HOST:PORT", `ca_certificate` PEM text."""

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
    """One control plane per cluster, simulated nodes for the pools. Clusters and pools are those of GKE's answers."""

    async def create_cluster(self, cluster: Json) -> Endpoint:
        """Start the cluster's control plane, with the credentials of its `ROTATION`; return when it serves."""

    async def update_cluster(self, cluster: Json) -> None:
        """Apply a changed cluster (release channel, labels, add-ons, version)."""

    async def delete_cluster(self, cluster: Json) -> None:
        """Stop the control plane and delete its data, with its pools."""

    async def apply_node_pool(self, cluster: Json, pool: Json) -> None:
        """Create and delete nodes until the pool has `node_numbers(pool)`; return when they are Ready."""

    async def delete_node_pool(self, cluster: Json, pool: Json) -> None:
        """Remove the pool's nodes."""

    async def broken(self, cluster: Json, pool: Json) -> Numbers:
        """The nodes of the pool that are missing or not Ready; all of a slice with one such node."""

    async def repair_node_pool(self, cluster: Json, pool: Json, broken: Numbers) -> None:
        """Drain and delete these nodes of the pool, then create them again under their names."""

    async def instances(self, cluster: Json, pool: str = "") -> list[Instance]:
        """The current machines of the pool called `pool`, else of all pools; none before the control plane starts."""


def node_counts(pool: Json) -> dict[str, int]:
    """The nodes that a pool has in each of its zones."""
    return {zone: len(numbers) for zone, numbers in node_numbers(pool).items()}


def held_counts(pool: Json) -> dict[str, int]:
    """The nodes in each zone that use capacity: none of a pool in ERROR, or one whose creation waits for its turn."""
    waits = pool["status"] == "PROVISIONING" and GRANTED not in pool
    return {} if waits or pool["status"] == "ERROR" else node_counts(pool)


def node_numbers(pool: Json) -> Numbers:
    """The numbers of the nodes that a pool has in each of its zones, ascending.

    `initialNodeCount` is per zone, and a manual resize changes it. `NODES` overrides it after the cluster autoscaler
    has resized the pool. Autoscaling raises both to its minimum: per zone or, with `totalMinNodeCount`, over all zones.
    """
    view = PoolView(pool)
    zones, initial = view.zones, range(view.nodes_per_zone)
    numbers = {zone: sorted(pool.get(NODES, {}).get(zone, initial)) for zone in zones}
    for zone in zones:
        numbers[zone] = sized(numbers[zone], max(len(numbers[zone]), view.min_nodes))
    missing = view.total_min_nodes - sum(map(len, numbers.values()))
    for at in range(max(0, missing)):
        zone = zones[at % len(zones)]
        numbers[zone] = sized(numbers[zone], len(numbers[zone]) + 1)
    return numbers


def sized(numbers: Sequence[int], count: int) -> list[int]:
    """`count` of these nodes: the highest numbers are removed, the lowest free ones are added."""
    taken = set(numbers)
    free = (number for number in itertools.count() if number not in taken)
    more = itertools.islice(free, max(0, count - len(numbers)))
    return sorted([*sorted(numbers)[:count], *more])


def pod_cidr_size(pods_per_node: int) -> int:
    """The prefix length of a node's pod range: the smallest range with two addresses for each pod."""
    return 32 - (2 * pods_per_node - 1).bit_length()
