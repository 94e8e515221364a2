"""A pool of nodes with GPUs, as the user writes it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.gpu import GpuError, GpuMachine, gpu_catalogue
from tpuplane.spec.core.fields import Spec, Zone
from tpuplane.spec.core.locations import is_zone, region_of
from tpuplane.spec.pools.hosts import ExtraNetworkSpec, HostsSpec
from tpuplane.spec.pools.sizes import PoolSize, Scale

GpuDriver = Literal["DEFAULT", "LATEST", "INSTALLATION_DISABLED"]
GpuSharingStrategy = Literal["TIME_SHARING", "MPS"]


class GpuAutoscalingSpec(Spec):
    """How far a pool scales, in nodes of each of its zones."""

    min_nodes: Annotated[int, Field(ge=0)] = 0
    """Nodes that are kept running without work, in each zone. Default 0. Changed in place."""

    max_nodes: Annotated[int, Field(ge=1)]
    """Nodes at full scale, in each zone. Changed in place."""


class GpuSharingSpec(Spec):
    """Several containers on one GPU: each asks for one `nvidia.com/gpu`, and the node offers as many more."""

    strategy: GpuSharingStrategy
    """TIME_SHARING: containers take turns. MPS: they run together, each with its part of the GPU (NVIDIA's
    Multi-Process Service). A change replaces the pool."""

    max_clients: Annotated[int, Field(ge=2, le=48)]
    """Containers on one GPU, or on one partition of it, from 2 to 48. A change replaces the pool."""


class GpuPoolSpec(HostsSpec):
    """Nodes of one machine type with GPUs: one GKE node pool, called like the pool."""

    accelerator: str | None = None
    """GPU, as GKE's label cloud.google.com/gke-accelerator has it, such as nvidia-l4 or nvidia-h100-80gb. Default: that
    of `machineType`. A change replaces the pool."""

    gpus: Annotated[int, Field(ge=1)] | None = None
    """GPUs of one node. Default: those of `machineType`, else the fewest that a machine with this accelerator has.
    A change replaces the pool."""

    machine_type: str | None = None
    """Machine type of the nodes. Default: the one with `accelerator` and `gpus` (nvidia-l4 with one GPU:
    g2-standard-12). Required where no accelerator is named. A change rolls the nodes, and replaces the pool where the
    GPUs change."""

    zones: tuple[Zone, ...] = ()
    """Zones of the nodes. Default: the cluster's zone, or the only zone of its region that is known to offer the
    machine. Changed in place."""

    nodes: Annotated[int, Field(ge=0)] | None = None
    """Number of nodes in each zone, fixed. Default 1. Not together with `autoscaling`. Changed in place."""

    autoscaling: GpuAutoscalingSpec | None = None
    """Scale with the work instead of a fixed number of nodes. Not together with `nodes`."""

    driver: GpuDriver = "DEFAULT"
    """NVIDIA driver that GKE installs: DEFAULT, LATEST, or INSTALLATION_DISABLED (install one yourself). Default
    DEFAULT. A change replaces the pool."""

    sharing: GpuSharingSpec | None = None
    """Let several containers use one GPU. Default: one container each."""

    partition_size: str | None = None
    """Divide each GPU into partitions of this size (multi-instance GPU), such as 1g.10gb: a container gets one of
    them. Default: whole GPUs. A change replaces the pool."""

    local_ssds: Annotated[int, Field(ge=1)] | None = None
    """Local SSDs of 375 GB for the pods' ephemeral storage. Default: those that come with the machine; none on G2 and
    A2 High. A change replaces the pool."""

    compact_placement: bool = False
    """Put the nodes close together, for traffic between them; one zone only. Default false. A change replaces the
    pool."""

    extra_networks: Annotated[tuple[ExtraNetworkSpec, ...], Field(max_length=9)] = ()
    """Further network interfaces of each node, such as GPUDirect needs (4 on A3 High, 8 on A3 Mega, 9 on A3 Ultra and
    A4); switches multi-networking of the cluster on. Default: none. A change replaces the pool."""

    @property
    def machine(self) -> GpuMachine:
        """The machine of one node. Raises `GpuError` when accelerator, GPUs and machine type do not fit."""
        return gpu_catalogue().machine_for(self.machine_type, self.accelerator, self.gpus)

    @property
    def offered(self) -> int:
        """What a node offers as `nvidia.com/gpu`. Raises `GpuError` as `machine` does."""
        return self.machine.offers(self.partition_size, self.sharing.max_clients if self.sharing else None)

    @property
    def scale(self) -> Scale:
        """The number of nodes that the user asks for, in each zone."""
        scaling = self.autoscaling
        return Scale("nodes", self.nodes, (scaling.min_nodes, scaling.max_nodes) if scaling else None)

    def zones_in(self, location: str) -> tuple[str, ...]:
        """Zones of the nodes in a cluster at `location`; none where the user has to choose. Raises `GpuError`."""
        if self.zones or is_zone(location):
            return self.zones or (location,)
        offering = tuple(zone for zone in self.machine.zones if region_of(zone) == location)
        return offering if len(offering) == 1 else ()

    def size_in(self, location: str) -> PoolSize:
        """The nodes in a cluster at `location`. Raises `GpuError`."""
        machine = self.machine
        return PoolSize(
            scale=self.scale,
            hardware=machine.accelerator.name,
            machine_type=machine.name,
            boot_disk=machine.boot_disks[0],
            counted="gpus",
            per_node=machine.gpus,
            offered=self.offered,
            zones=self.zones_in(location),
        )

    @property
    def rdma(self) -> bool:
        """Whether its GPUs reach other hosts by RDMA; false where no such machine exists."""
        try:
            return self.machine.gpudirect == "RDMA"
        except GpuError:
            return False
