"""A pool of TPU slices, as the user writes it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tpuplane.spec.capacity import Capacity, FlexStartSpec, MaintenanceInterval, ReservationUseSpec
from tpuplane.spec.fields import Labels, NodeLabels, Spec
from tpuplane.spec.hosts import ExtraNetworkSpec, SecondaryBootDiskSpec
from tpuplane.tpu import Slice

# A slice has one host at least, and a GKE cluster 15,000 nodes at most (`scale_checks` counts them exactly). A larger
# number is refused here, before anybody lists that many node pools.
_MAX_SLICES = 15000


class PoolAutoscalingSpec(Spec):
    """How far a pool scales. A multi-host slice comes and goes as a whole: 0 hosts or all of them."""

    min_slices: Annotated[int, Field(ge=0)] = 0
    """Slices that are kept running without work. Default 0. Changed in place."""

    max_slices: Annotated[int, Field(ge=1, le=_MAX_SLICES)]
    """Slices at full scale. Multi-host: each is a node pool of its own, which is added or deleted."""


class PoolSpec(Spec):
    """Slices of one shape. Multi-host: a GKE node pool for each slice; single-host: one pool, a node for each slice."""

    generation: str
    """TPU generation, such as v5e or v6e. A change replaces the pool."""

    topology: str
    """Chips of one slice along each axis, such as 4x4 or 2x2x2. A change replaces the pool."""

    machine_type: str | None = None
    """Machine type of the hosts. Default: the generation's multi-host machine, else the one that has the topology.
    A change replaces the pool."""

    zone: str | None = None
    """Zone of the hosts. Default: the cluster's zone, or the only zone of its region with this generation.
    A change replaces a multi-host pool."""

    slices: Annotated[int, Field(ge=0, le=_MAX_SLICES)] | None = None
    """Number of slices, fixed. Default 1. Not together with `autoscaling`. Adds and removes the last slices only."""

    autoscaling: PoolAutoscalingSpec | None = None
    """Scale with the work instead of a fixed number of slices. Not together with `slices`."""

    capacity: Capacity = "on-demand"
    """How the hosts are bought: on-demand, spot (cheaper, may be reclaimed at any time), reservation (bought ahead) or
    flex-start (waited for, and gone after days). A change replaces the pool."""

    reservation: ReservationUseSpec | None = None
    """The reservation that the hosts come from. Required with capacity: reservation, and only then."""

    flex_start: FlexStartSpec | None = None
    """How flex-start hosts come and go. Only with capacity: flex-start. Default: they run for 7 days, not queued."""

    disk_type: str | None = None
    """Boot disk type. Default: the first that the generation takes (v6e and tpu7x take hyperdisk-balanced only).
    A change rolls the hosts."""

    disk_size_gb: Annotated[int, Field(ge=10, le=65536)] = 100
    """Boot disk size in GB. Default 100. A change rolls the hosts."""

    image_streaming: bool = False
    """Start containers while their images still load; for images in Artifact Registry. Default false. A change rolls
    the hosts."""

    secondary_boot_disks: Annotated[tuple[SecondaryBootDiskSpec, ...], Field(max_length=127)] = ()
    """Disks with data or container images that every host starts with. Default: none. A change replaces the pool."""

    extra_networks: Annotated[tuple[ExtraNetworkSpec, ...], Field(max_length=7)] = ()
    """Further network interfaces of each host, 7 at most; switches multi-networking of the cluster on. Default: none.
    A change replaces the pool."""

    max_pods_per_node: Annotated[int, Field(ge=8, le=256)] = 32
    """Pods per host; sets the size of each host's pod range. Default 32, not GKE's 110: a TPU host runs one workload
    beside the system's own pods. A change replaces the pool."""

    auto_repair: bool = True
    """Let GKE repair unhealthy hosts (multi-host: the whole slice is recreated). Default true; false with capacity:
    flex-start, where GKE allows nothing else. Changed in place."""

    auto_upgrade: bool = True
    """Let GKE upgrade the hosts. Default true; a cluster in a release channel allows nothing else. Changed in place."""

    host_maintenance: MaintenanceInterval | None = None
    """When Compute Engine maintains the hosts: AS_NEEDED, or PERIODIC (rarer, announced). Default: the machine's own,
    or the reservation's. A change replaces the pool."""

    labels: Labels = Field(default_factory=dict)
    """Google Cloud labels of the hosts, on top of the cluster's. Changed in place."""

    node_labels: NodeLabels = Field(default_factory=dict)
    """Kubernetes labels of the nodes, beside those that GKE and tpuplane set. Changed in place."""

    @property
    def slice(self) -> Slice:
        """The shape of one slice. Raises `SliceError` when generation, topology and machine type do not fit."""
        return Slice.of(self.generation, self.topology, self.machine_type)

    @property
    def min_slices(self) -> int:
        """Slices that always exist."""
        return self.autoscaling.min_slices if self.autoscaling else self.max_slices

    @property
    def max_slices(self) -> int:
        """Slices at full scale."""
        if self.autoscaling is not None:
            return self.autoscaling.max_slices
        return 1 if self.slices is None else self.slices
