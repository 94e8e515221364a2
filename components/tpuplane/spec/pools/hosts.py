"""The common fields of TPU and GPU pools: capacity and maintenance of hosts, their disks, networks and number."""

from abc import abstractmethod
from typing import Annotated, Literal

from pydantic import Field

from tpuplane.gpu import GpuError
from tpuplane.spec.core.adopted import AdoptedNames, AdoptedPoolSpec, named
from tpuplane.spec.core.changes import Change, InPlace, ReplacesPool, ReplacesPools, RollsNodes
from tpuplane.spec.core.fields import Labels, Name, NodeLabels, ProjectId, ResourceName, Spec, Zone, text
from tpuplane.spec.pools.names import NodePoolNames
from tpuplane.spec.pools.sizes import PoolSize, Scale
from tpuplane.tpu import SliceError

Capacity = Literal["on-demand", "spot", "reservation", "flex-start"]
MaintenanceInterval = Literal["AS_NEEDED", "PERIODIC"]

MOST_PODS = 256  # of a node
FLEX_SECONDS = range(600, 604801)  # run times of a flex-start host
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
Duration = Annotated[str, *text("duration")]


class ReservationSpec(Spec):
    """An existing reservation, as `gcloud compute reservations describe` shows it. It reserves TPUs (`generation`,
    `chips`) or GPUs (`accelerator`, `gpus`)."""

    zone: Zone
    """Zone of the reservation."""

    generation: str | None = None
    """Reserved TPU generation, such as v6e."""

    chips: Annotated[int, Field(ge=1)] | None = None
    """Number of reserved chips: VMs times chips of one VM."""

    accelerator: str | None = None
    """Reserved GPU model, such as nvidia-h100-mega-80gb."""

    gpus: Annotated[int, Field(ge=1)] | None = None
    """Number of reserved GPUs: VMs times GPUs of one VM."""

    project: ReplacesPools[ProjectId | None] = None
    """Project that owns and shares the reservation. Default: the platform's project."""

    machine_type: str | None = None
    """Machine type of the reserved VMs. Default: any with these chips or GPUs."""

    maintenance_interval: Annotated[
        MaintenanceInterval | None,
        Change("replaces-pools", "A change replaces the pools without `hostMaintenance`.", source="node_pool"),
    ] = None
    """Host maintenance of the reserved VMs: AS_NEEDED or PERIODIC. Default: not compared with the pools."""

    active: bool = True
    """Whether the reservation is usable now. Set it to false for a future reservation until its first day. Default
    true."""


class ReservationUseSpec(Spec):
    """The part of a reservation that a pool uses."""

    name: str
    """Name of one of the platform's reservations."""

    block: ResourceName | None = None
    """Block of the reservation. Default: any block."""

    sub_block: ResourceName | None = None
    """Sub-block of `block`. Default: any sub-block."""


class FlexStartSpec(Spec):
    """Hosts from Dynamic Workload Scheduler, which start when capacity is available and stop after a limited time."""

    max_run_duration: ReplacesPool[Duration] = "7d"
    """Maximum run time of a host, from 10m to 7d. Default 7d."""

    queued: ReplacesPool[bool] = False
    """Queued provisioning: GKE creates all hosts together for a ProvisioningRequest, which Kueue makes, or none. TPUs:
    v6e and tpu7x only. Default false."""

    @property
    def max_run_seconds(self) -> int:
        """The maximum run duration of a host, in seconds."""
        return int(self.max_run_duration[:-1]) * _SECONDS[self.max_run_duration[-1]]


DiskMode = Literal["CONTAINER_IMAGE_CACHE", "DATA"]

NetworkName = Annotated[str, *text("network")]
"""An existing VPC: its name, or its path if another project owns it."""

SubnetworkName = Annotated[str, *text("subnetwork")]
"""An existing subnetwork: its name, or its path if another project owns it."""


class SecondaryBootDiskSpec(Spec):
    """A disk with data or container images that each host has when it starts."""

    disk_image: Annotated[str, *text("diskImage")]
    """Source image of the disk: projects/PROJECT/global/images/NAME."""

    mode: DiskMode = "CONTAINER_IMAGE_CACHE"
    """CONTAINER_IMAGE_CACHE: container images, which need no pull; requires `imageStreaming`. DATA: files for the pods.
    Default CONTAINER_IMAGE_CACHE."""


class ExtraNetworkSpec(Spec):
    """An additional network interface of each host, in an existing VPC."""

    network: NetworkName
    """VPC of the interface: its name, or its path if another project owns it. The platform's VPC is rejected."""

    subnetwork: SubnetworkName
    """Subnetwork of that VPC in the pool's region: its name or path."""


class ProvisioningSpec(Spec):
    """Fields of a pool that the plan completes or names in another way."""

    capacity: ReplacesPool[Capacity] = "on-demand"
    """Provisioning model of the hosts: on-demand, spot (cheaper, can be reclaimed at any time), reservation (reserved
    in advance) or flex-start (created when capacity is available, for at most 7 days)."""

    reservation: ReplacesPool[ReservationUseSpec | None] = None
    """The reservation of the hosts. Required with capacity: reservation, rejected with any other."""

    flex_start: ReplacesPool[FlexStartSpec | None] = None
    """Settings of flex-start hosts. Only with capacity: flex-start. Default: a run time of 7 days, not queued."""

    disk_type: RollsNodes[str | None] = None
    """Boot disk type. Default: the first that the machine type supports (v6e, tpu7x, A3 Ultra and A4 support
    hyperdisk-balanced only)."""


class NodeSettingsSpec(Spec):
    """Fields of a pool that the plan holds as they are, for each node."""

    disk_size_gb: RollsNodes[Annotated[int, Field(ge=10, le=65536)]] = 100
    """Boot disk size in GB. Default 100."""

    image_streaming: Annotated[
        bool,
        Change(
            on="rolls-nodes",
            off="nothing",
            says={"off": "Switching it off changes only new node pools: an existing one keeps it."},
            source="rolling",
        ),
    ] = False
    """Start containers before their images are loaded completely. Supports images in Artifact Registry. Default
    false."""

    network_tags: InPlace[Annotated[tuple[ResourceName, ...], Field(max_length=64)]] = ()
    """Network tags of the hosts, by which firewall rules select them. Default: none."""

    secondary_boot_disks: ReplacesPool[Annotated[tuple[SecondaryBootDiskSpec, ...], Field(max_length=127)]] = ()
    """Disks with data or container images that every host has when it starts. Default: none."""

    extra_networks: ReplacesPool[tuple[ExtraNetworkSpec, ...]] = ()
    """Additional network interfaces of each host. They enable multi-networking in the cluster. Default: none."""


class HostsSpec(NodeSettingsSpec, ProvisioningSpec):
    """The fields that TPU pools and GPU pools share."""

    max_pods_per_node: ReplacesPool[Annotated[int, Field(ge=8, le=MOST_PODS)]] = 32
    """Maximum pods on a host. GKE reserves at least twice as many addresses for each host: 64 for 32 pods, 256 for
    GKE's own default of 110. Default 32."""

    auto_repair: InPlace[bool] = True
    """Let GKE repair unhealthy hosts. GKE recreates all hosts of a multi-host slice. Default true; with capacity:
    flex-start GKE supports false only."""

    auto_upgrade: InPlace[bool] = True
    """Let GKE upgrade the hosts. Default true; required in a release channel."""

    host_maintenance: ReplacesPool[MaintenanceInterval | None] = None
    """Host maintenance by Compute Engine: AS_NEEDED, or PERIODIC (less frequent, announced). Default: that of the
    machine type or the reservation."""

    compute_class: InPlace[str | None] = None
    """Compute class of the pool: only pods that request the class run on its nodes. A pool that a platform's class
    names in its priorities belongs to that class without this field. Default: none."""

    labels: InPlace[Labels] = Field(default_factory=dict)
    """Google Cloud labels of the hosts, in addition to the cluster's."""

    node_labels: InPlace[NodeLabels] = Field(default_factory=dict)
    """Kubernetes labels of the nodes, in addition to those that GKE and tpuplane set."""

    formerly: AdoptedNames[Name | None] = None
    """Former name of a renamed pool. GKE cannot rename node pools, so the names of the pool's node pools begin with it.
    Default: none."""

    adopted: AdoptedNames[AdoptedPoolSpec | None] = None
    """Existing node pools, which `tpuplane import` has adopted. Default: create them."""

    @property
    @abstractmethod
    def scale(self) -> Scale:
        """The requested number of slices or nodes."""

    @abstractmethod
    def zones_in(self, location: str) -> tuple[str, ...]:
        """Zones of the hosts in a cluster at `location`; none if the user must choose. Raises `GpuError`."""

    @abstractmethod
    def size_in(self, location: str) -> PoolSize:
        """The nodes in a cluster at `location`. Raises `SliceError` or `GpuError` if no such hardware exists."""

    def known_size(self, location: str) -> PoolSize | None:
        """The same; None if no such hardware exists, which `check_pool` reports."""
        try:
            return self.size_in(location)
        except (SliceError, GpuError):
            return None

    def names(self, key: str) -> NodePoolNames:
        """Names of the GKE node pools. Raises `SliceError`."""
        key = self.formerly or key
        return NodePoolNames(key, (named(self.adopted, key),))

    def exists(self, key: str) -> bool:
        """Whether `tpuplane import` has adopted all of its node pools. Raises `SliceError`."""
        names = self.names(key)
        return self.adopted is not None and not names.numbers and set(names.given) <= set(self.adopted.names)

    def workload_policy(self, cluster: str | None, key: str) -> str | None:
        """Name of the workload policy of the hosts; None if the hardware needs none. Raises `SliceError`."""
        return None

    @property
    def queued(self) -> bool:
        """Whether only a ProvisioningRequest adds hosts."""
        return self.flex_start is not None and self.flex_start.queued

    @property
    def exists_before_pods(self) -> bool:
        """Whether nodes exist before Kueue places pods on them. A ProvisioningRequest adds them before."""
        return self.scale.bounds is None or self.queued
