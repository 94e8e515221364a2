"""What the nodes of a pool are and how many it has: counted alike for TPU slices and for GPU nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tpuplane.gpu import GpuError
from tpuplane.spec.cluster.cluster import ClusterSpec
from tpuplane.spec.core.errors import Path
from tpuplane.spec.core.locations import gpu_zones, pool_zone
from tpuplane.spec.pools.capacity_checks import Scale, gpu_scale, slice_scale
from tpuplane.spec.pools.gpu import GpuPoolSpec
from tpuplane.spec.pools.tpu import PoolSpec
from tpuplane.tpu import SliceError

AnyPool = PoolSpec | GpuPoolSpec


@dataclass(frozen=True, slots=True)
class PoolSize:
    """The nodes of a pool. Counts of nodes are those of one zone."""

    scale: Scale
    hardware: str  # generation or accelerator
    machine_type: str
    counted: Literal["chips", "gpus"]
    per_node: int  # chips or GPUs
    zones: tuple[str, ...]  # empty where the user has to choose
    nodes_per_piece: int  # hosts of a slice
    min_nodes: int
    max_nodes: int
    spans_pools: bool  # multi-host slices: a GKE node pool for each

    @property
    def piece(self) -> int:
        """Chips of one slice, or GPUs of one node; 0 where the pool never has any."""
        return self.nodes_per_piece * self.per_node if self.max_nodes else 0

    @property
    def always(self) -> int:
        """Chips or GPUs that are always up."""
        return self.min_nodes * len(self.zones) * self.per_node

    @property
    def nodes(self) -> int:
        """Nodes at full scale."""
        return self.max_nodes * (len(self.zones) or 1)


def pool_size(location: str, pool: AnyPool) -> PoolSize | None:
    """The nodes of a pool in a cluster at `location`; None where there are no such nodes (`check_pool` reports it)."""
    try:
        return _gpu_size(location, pool) if isinstance(pool, GpuPoolSpec) else _slice_size(location, pool)
    except (SliceError, GpuError):
        return None


def pools_of(cluster: ClusterSpec) -> Iterator[tuple[Path, AnyPool]]:
    """Every pool of a cluster with its path there."""
    for name, pool in cluster.pools.items():
        yield ("pools", name), pool
    for name, gpu_pool in cluster.gpu_pools.items():
        yield ("gpuPools", name), gpu_pool


def _slice_size(location: str, pool: PoolSpec) -> PoolSize:
    shape, zone = pool.slice, pool_zone(location, pool)
    return PoolSize(
        scale=slice_scale(pool),
        hardware=shape.generation.name,
        machine_type=shape.machine.name,
        counted="chips",
        per_node=shape.machine.chips,
        zones=(zone,) if zone is not None else (),
        nodes_per_piece=shape.hosts,
        min_nodes=pool.min_slices * shape.hosts,
        max_nodes=pool.max_slices * shape.hosts,
        spans_pools=shape.multi_host,
    )


def _gpu_size(location: str, pool: GpuPoolSpec) -> PoolSize:
    machine = pool.machine
    return PoolSize(
        scale=gpu_scale(pool),
        hardware=machine.accelerator.name,
        machine_type=machine.name,
        counted="gpus",
        per_node=machine.gpus,
        zones=gpu_zones(location, pool),
        nodes_per_piece=1,
        min_nodes=pool.min_nodes,
        max_nodes=pool.max_nodes,
        spans_pools=False,
    )
