"""A pool of nodes with GPUs in the description."""

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.gpu import GpuError, GpuMachine, gpu_catalogue
from tpuplane.spec.core.changes import Change, InPlace, ReplacesPool, T
from tpuplane.spec.core.fields import Spec, Zone
from tpuplane.spec.core.locations import is_zone, region_of
from tpuplane.spec.pools.hosts import ExtraNetworkSpec, HostsSpec
from tpuplane.spec.pools.sizes import PoolSize, Scale

_Nodes = Annotated[T, Change(judge="nodes", source="resize")]
GpuDriver = Literal["DEFAULT", "LATEST", "INSTALLATION_DISABLED"]
GpuSharingStrategy = Literal["TIME_SHARING", "MPS"]


class GpuAutoscalingSpec(Spec):
    """Minimum and maximum number of nodes in each zone."""

    min_nodes: InPlace[Annotated[int, Field(ge=0)]] = 0
    """Minimum number of nodes in each zone. GKE keeps them when they are idle. Default 0."""

    max_nodes: InPlace[Annotated[int, Field(ge=1)]]
    """Maximum number of nodes in each zone."""


class GpuSharingSpec(Spec):
    """Several containers share one GPU. Each container requests one `nvidia.com/gpu`, and the node offers a multiple of
    its GPUs."""

    strategy: ReplacesPool[GpuSharingStrategy]
    """TIME_SHARING: containers run in turns. MPS: containers run at the same time, each with a part of the GPU (NVIDIA
    Multi-Process Service)."""

    max_clients: ReplacesPool[Annotated[int, Field(ge=2, le=48)]]
    """Maximum number of containers on one GPU or one partition, from 2 to 48."""


class GpuPoolSpec(HostsSpec):
    """Nodes of one machine type with GPUs: one GKE node pool with the pool's name."""

    accelerator: ReplacesPool[str | None] = None
    """GPU model, as in GKE's label cloud.google.com/gke-accelerator, such as nvidia-l4 or nvidia-h100-80gb. Default:
    that of `machineType`."""

    gpus: ReplacesPool[Annotated[int, Field(ge=1)] | None] = None
    """GPUs of one node. Default: those of `machineType`, or the fewest of a machine with this accelerator."""

    machine_type: Annotated[str | None, Change(judge="gpu_machine", source="rolling")] = None
    """Machine type of the nodes. Required without `accelerator`. Default: the one with `accelerator` and `gpus`
    (nvidia-l4 with one GPU: g2-standard-12)."""

    zones: Annotated[tuple[Zone, ...], Change(judge="zones", source="resize")] = ()
    """Zones of the nodes. Default: the cluster's zone, or the only zone of its region that offers the machine type."""

    nodes: _Nodes[Annotated[int, Field(ge=0)] | None] = None
    """Fixed number of nodes in each zone. Not together with `autoscaling`. Default 1."""

    autoscaling: _Nodes[GpuAutoscalingSpec | None] = None
    """Scale the number of nodes with the work. Not together with `nodes`."""

    driver: ReplacesPool[GpuDriver] = "DEFAULT"
    """NVIDIA driver that GKE installs: DEFAULT, LATEST, or INSTALLATION_DISABLED (you install the driver). Default
    DEFAULT."""

    sharing: ReplacesPool[GpuSharingSpec | None] = None
    """Share one GPU between several containers. Default: one container for each GPU."""

    partition_size: ReplacesPool[str | None] = None
    """Divide each GPU into partitions of this size (multi-instance GPU), such as 1g.10gb. Each container gets one
    partition. Default: whole GPUs."""

    local_ssds: ReplacesPool[Annotated[int, Field(ge=1)] | None] = None
    """Number of 375 GB Local SSDs for the ephemeral storage of pods. Default: those that the machine type includes;
    none on G2 and A2 High."""

    compact_placement: ReplacesPool[bool] = False
    """Place the nodes close to each other, for low latency between them. Only in one zone. Default false."""

    extra_networks: ReplacesPool[Annotated[tuple[ExtraNetworkSpec, ...], Field(max_length=9)]] = ()
    """Additional network interfaces of each node, at most 9. They enable multi-networking in the cluster. GPUDirect
    needs 4 on A3 High, 8 on A3 Mega, 9 on A3 Ultra and A4. Default: none."""

    @property
    def machine(self) -> GpuMachine:
        """The machine type of a node. Raises `GpuError` if accelerator, GPUs and machine type do not match."""
        return gpu_catalogue().machine_for(self.machine_type, self.accelerator, self.gpus)

    @property
    def offered(self) -> int:
        """The capacity `nvidia.com/gpu` of a node. Raises `GpuError` as `machine` does."""
        return self.machine.offers(self.partition_size, self.sharing.max_clients if self.sharing else None)

    @property
    def scale(self) -> Scale:
        """The requested number of nodes in each zone."""
        scaling = self.autoscaling
        return Scale("nodes", self.nodes, (scaling.min_nodes, scaling.max_nodes) if scaling else None)

    def zones_in(self, location: str) -> tuple[str, ...]:
        """Zones of the nodes in a cluster at `location`; none if the user must choose. Raises `GpuError`."""
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
        """Whether its GPUs reach other hosts by RDMA, whose network interfaces share a VPC; false if no such machine
        type exists."""
        try:
            return self.machine.gpudirect == "RDMA"
        except GpuError:
            return False
