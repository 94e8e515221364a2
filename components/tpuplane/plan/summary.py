"""A plan in the terms of the description: the node pools of one key as one pool, and the use of addresses."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network

from tpuplane.plan.cluster import ClusterPlan
from tpuplane.plan.pools import GpuPlan, NodePoolPlan
from tpuplane.spec.cluster.network_checks import RESERVED_ADDRESSES, USUAL_ZONES
from tpuplane.tpu import Slice


@dataclass(frozen=True, slots=True)
class PoolSummary:
    """One pool of the description: the sum of its node pools over all zones."""

    name: str
    hardware: Slice | GpuPlan
    node_units: int
    """Chips or GPUs of one node."""
    zone: str
    capacity: str
    min_nodes: int
    max_nodes: int
    node_pools: tuple[str, ...]

    @classmethod
    def of(cls, pools: Iterable[NodePoolPlan]) -> Iterator[PoolSummary]:
        """A summary for each pool with accelerators, in the user's order."""
        for name, group in itertools.groupby(pools, key=lambda pool: pool.pool):
            members = list(group)
            first, zones = members[0], len(members[0].zones)
            yield cls(
                name=name,
                hardware=first.hardware,
                node_units=first.node_accelerators,
                zone=", ".join(first.zones),
                capacity=first.capacity,
                min_nodes=sum(pool.min_nodes for pool in members) * zones,
                max_nodes=sum(pool.max_nodes for pool in members) * zones,
                node_pools=tuple(pool.name for pool in members),
            )

    @property
    def has_slices(self) -> bool:
        """Whether it is a pool of TPU slices; otherwise of GPU nodes."""
        return isinstance(self.hardware, Slice)

    @property
    def shape(self) -> str:
        """The shape of a slice such as `v6e 4x4`, or the GPUs of a node."""
        return str(self.hardware if isinstance(self.hardware, Slice) else self.hardware.machine)

    @property
    def min_slices(self) -> int:
        """Slices that always exist."""
        return self.min_nodes // self.hardware.hosts

    @property
    def max_slices(self) -> int:
        """Slices at full scale."""
        return self.max_nodes // self.hardware.hosts

    @property
    def pieces(self) -> str:
        """Slices or GPU nodes: `2`, or `1-4` for a pool that scales."""
        return spread(self.min_slices, self.max_slices)

    @property
    def min_units(self) -> int:
        """Chips or GPUs that always exist."""
        return self.min_nodes * self.node_units

    @property
    def units(self) -> int:
        """Chips or GPUs at full scale."""
        return self.max_nodes * self.node_units


@dataclass(frozen=True, slots=True)
class RangeUse:
    """One address range of a cluster and its use at full scale."""

    name: str
    cidr: str
    size: int
    """Available addresses."""
    used: int | None
    """Addresses in use at full scale; None if only the workloads determine it."""

    @classmethod
    def of(cls, cluster: ClusterPlan) -> tuple[RangeUse, ...]:
        """The ranges of a cluster: nodes, pods, services, proxies; none in an existing network or cluster."""
        if (subnet := cluster.subnet) is None:
            return ()
        nodes, pods, services = map(IPv4Network, (subnet.nodes_cidr, subnet.pods_cidr, subnet.services_cidr))
        proxies = (IPv4Network(subnet.proxies_cidr),) if subnet.proxies_cidr else ()
        return (
            cls("nodes", str(nodes), nodes.num_addresses - RESERVED_ADDRESSES, cluster.node_addresses),
            cls("pods", str(pods), pods.num_addresses, cluster.pod_addresses),
            cls("services", str(services), services.num_addresses, None),
            *(cls("proxies", str(own), own.num_addresses - RESERVED_ADDRESSES, None) for own in proxies),
        )


def system_nodes(cluster: ClusterPlan) -> tuple[int, int]:
    """Nodes of the system pool over all of its zones, at least and at most; 0 in an existing cluster."""
    if (pool := cluster.system_pool) is None:
        return 0, 0
    zones = len(pool.zones) or USUAL_ZONES
    return pool.min_nodes * zones, pool.max_nodes * zones


def spread(low: int, high: int) -> str:
    """`2`, or `1-4`."""
    return str(high) if low == high else f"{low}-{high}"
