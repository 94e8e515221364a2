"""A plan as the user thinks of it: the node pools of one key added up to one pool again, and the use of addresses."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network

from tpuplane.gpu import GpuMachine
from tpuplane.labels import GPU, TPU
from tpuplane.plan.cluster import ClusterPlan
from tpuplane.plan.pools import NodePoolPlan
from tpuplane.spec.cluster.network_checks import RESERVED_ADDRESSES, USUAL_ZONES
from tpuplane.tpu import Slice

UNITS = {TPU: "chip", GPU: "GPU", "cpu": "core"}
"""What a quota counts, for `counted`."""


@dataclass(frozen=True, slots=True)
class PoolSummary:
    """One pool as the user wrote it: the node pools of one key, added up."""

    name: str
    shape: Slice
    zone: str
    capacity: str
    min_slices: int
    max_slices: int
    node_pools: tuple[str, ...]

    @classmethod
    def of(cls, pools: Iterable[NodePoolPlan]) -> Iterator[PoolSummary]:
        """A summary for each of the user's pools, in their order."""
        for name, group in itertools.groupby(pools, key=lambda pool: pool.pool):
            members = list(group)
            shape = members[0].slice
            assert shape is not None  # noqa: S101 (only the system pool has none)
            yield cls(
                name=name,
                shape=shape,
                zone=", ".join(members[0].zones),
                capacity=members[0].capacity,
                min_slices=sum(pool.min_nodes for pool in members) // shape.hosts,
                max_slices=sum(pool.max_nodes for pool in members) // shape.hosts,
                node_pools=tuple(pool.name for pool in members),
            )

    @property
    def slices(self) -> str:
        """`2`, or `1-4` for a pool that scales."""
        return spread(self.min_slices, self.max_slices)

    @property
    def hosts(self) -> int:
        """Hosts at full scale."""
        return self.shape.hosts * self.max_slices

    @property
    def min_chips(self) -> int:
        """Chips that are always there."""
        return self.shape.chips * self.min_slices

    @property
    def chips(self) -> int:
        """Chips at full scale."""
        return self.shape.chips * self.max_slices


@dataclass(frozen=True, slots=True)
class GpuPoolSummary:
    """One pool of GPU nodes, over all of its zones."""

    name: str
    machine: GpuMachine
    zone: str
    capacity: str
    min_nodes: int
    max_nodes: int

    @classmethod
    def of(cls, pools: Iterable[NodePoolPlan]) -> Iterator[GpuPoolSummary]:
        """A summary for each pool, in their order."""
        for pool in pools:
            assert pool.gpu is not None  # noqa: S101 (every GPU pool has some)
            zones = len(pool.zones)
            yield cls(
                name=pool.name,
                machine=pool.gpu.machine,
                zone=", ".join(pool.zones),
                capacity=pool.capacity,
                min_nodes=pool.min_nodes * zones,
                max_nodes=pool.max_nodes * zones,
            )

    @property
    def nodes(self) -> str:
        """`2`, or `1-4` for a pool that scales."""
        return spread(self.min_nodes, self.max_nodes)

    @property
    def min_gpus(self) -> int:
        """GPUs that are always there."""
        return self.machine.gpus * self.min_nodes

    @property
    def gpus(self) -> int:
        """GPUs at full scale."""
        return self.machine.gpus * self.max_nodes


@dataclass(frozen=True, slots=True)
class RangeUse:
    """One address range of a cluster and how much of it is taken at full scale."""

    name: str
    cidr: str
    size: int
    """Addresses that can be given out."""
    used: int | None
    """Addresses taken at full scale; None where it is the workloads that take them."""

    @classmethod
    def of(cls, cluster: ClusterPlan) -> tuple[RangeUse, ...]:
        """The ranges of a cluster: nodes, pods, services; none in an existing network or cluster."""
        subnet = cluster.subnet
        if subnet is None:
            return ()
        nodes, pods, services = map(IPv4Network, (subnet.nodes_cidr, subnet.pods_cidr, subnet.services_cidr))
        return (
            cls("nodes", str(nodes), nodes.num_addresses - RESERVED_ADDRESSES, cluster.node_addresses),
            cls("pods", str(pods), pods.num_addresses, cluster.pod_addresses),
            cls("services", str(services), services.num_addresses, None),
        )


def system_nodes(cluster: ClusterPlan) -> tuple[int, int]:
    """Nodes of the system pool over all of its zones, at least and at most; 0 in an existing cluster."""
    pool = cluster.system_pool
    if pool is None:
        return 0, 0
    zones = len(pool.zones) or USUAL_ZONES
    return pool.min_nodes * zones, pool.max_nodes * zones


def spread(low: int, high: int) -> str:
    """`2`, or `1-4`."""
    return str(high) if low == high else f"{low}-{high}"


def counted(number: int, noun: str) -> str:
    """`1 pool`, `2 pools`, `1,024 pools`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
