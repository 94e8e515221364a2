"""What a program passes for a pool of TPU slices: the fields of `tpuplane.spec`'s pools. See `platform/args.py`."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict


class PoolAutoscalingArgs(TypedDict):
    """How far a pool scales. A multi-host slice comes and goes as a whole: 0 hosts or all of them."""

    min_slices: NotRequired[int]
    """Slices that are kept running without work. Default 0. Changed in place."""

    max_slices: int
    """Slices at full scale. Multi-host: each is a node pool of its own, which is added or deleted."""


class ReservationUseArgs(TypedDict):
    """Where in the platform's reservations the hosts of a pool come from. A change replaces the pool."""

    name: str
    """Name of one of the platform's reservations."""

    block: NotRequired[str]
    """Block of the reservation. Default: anywhere in it."""

    sub_block: NotRequired[str]
    """Sub-block of `block`. Default: anywhere in the block."""


class FlexStartArgs(TypedDict):
    """Hosts of the Dynamic Workload Scheduler: they come when there is capacity, and go after a time."""

    max_run_duration: NotRequired[str]
    """How long a host runs at most, from 10m to 7d. Default 7d, the longest. A change replaces the pool."""

    queued: NotRequired[bool]
    """Queued provisioning: hosts come only for a ProvisioningRequest (Kueue makes them), all or none. Default
    false; of TPUs v6e and tpu7x only. A change replaces the pool."""


class SecondaryBootDiskArgs(TypedDict):
    """A disk with data or container images that each host has from its first second. A change replaces the pool."""

    disk_image: str
    """Image that the disk is made from: projects/PROJECT/global/images/NAME."""

    mode: NotRequired[str]
    """CONTAINER_IMAGE_CACHE: container images, used without a pull; needs `imageStreaming`. DATA: files for the pods.
    Default CONTAINER_IMAGE_CACHE."""


class ExtraNetworkArgs(TypedDict):
    """A further network interface of each host, in a VPC that exists already. A change replaces the pool."""

    network: str
    """VPC of the interface: its name, or its path where another project owns it. Not the platform's own."""

    subnetwork: str
    """Subnetwork of that VPC in the pool's region: its name or path."""


class HostsArgs(TypedDict):
    """What every pool says of its hosts, whether they have TPUs or GPUs."""

    capacity: NotRequired[str]
    """How the hosts are bought: on-demand, spot (cheaper, may be reclaimed at any time), reservation (bought ahead) or
    flex-start (waited for, and gone after days). A change replaces the pool."""

    reservation: NotRequired[ReservationUseArgs]
    """The reservation that the hosts come from. Required with capacity: reservation, and only then."""

    flex_start: NotRequired[FlexStartArgs]
    """How flex-start hosts come and go. Only with capacity: flex-start. Default: they run for 7 days, not queued."""

    disk_type: NotRequired[str]
    """Boot disk type. Default: the first that the machine takes (v6e, tpu7x, A3 Ultra and A4 take
    hyperdisk-balanced only). A change rolls the hosts."""

    disk_size_gb: NotRequired[int]
    """Boot disk size in GB. Default 100. A change rolls the hosts."""

    image_streaming: NotRequired[bool]
    """Start containers while their images still load; for images in Artifact Registry. Default false. A change rolls
    the hosts."""

    secondary_boot_disks: NotRequired[Sequence[SecondaryBootDiskArgs]]
    """Disks with data or container images that every host starts with. Default: none. A change replaces the pool."""

    max_pods_per_node: NotRequired[int]
    """Pods per host; sets the size of each host's pod range. Default 32, not GKE's 110: a host with accelerators
    runs few workloads beside the system's own pods. A change replaces the pool."""

    auto_repair: NotRequired[bool]
    """Let GKE repair unhealthy hosts (multi-host: the whole slice is recreated). Default true; false with capacity:
    flex-start, where GKE allows nothing else. Changed in place."""

    auto_upgrade: NotRequired[bool]
    """Let GKE upgrade the hosts. Default true; a cluster in a release channel allows nothing else. Changed in
    place."""

    host_maintenance: NotRequired[str]
    """When Compute Engine maintains the hosts: AS_NEEDED, or PERIODIC (rarer, announced). Default: the machine's own,
    or the reservation's. A change replaces the pool."""

    compute_class: NotRequired[str]
    """Compute class that the pool belongs to: only pods that ask for the class run on it. A class that names the pool
    in its priorities has it anyway. Default: none. Changed in place."""

    labels: NotRequired[Mapping[str, str]]
    """Google Cloud labels of the hosts, on top of the cluster's. Changed in place."""

    node_labels: NotRequired[Mapping[str, str]]
    """Kubernetes labels of the nodes, beside those that GKE and tpuplane set. Changed in place."""


class PoolArgs(HostsArgs):
    """Slices of one shape. Multi-host: a GKE node pool for each slice; single-host: one pool, a node for each
    slice."""

    generation: str
    """TPU generation, such as v5e or v6e. A change replaces the pool."""

    topology: str
    """Chips of one slice along each axis, such as 4x4 or 2x2x2. A change replaces the pool."""

    machine_type: NotRequired[str]
    """Machine type of the hosts. Default: the generation's multi-host machine, else the one that has the topology.
    A change replaces the pool."""

    zone: NotRequired[str]
    """Zone of the hosts. Default: the cluster's zone, or the only zone of its region with this generation. A change
    replaces a multi-host pool."""

    slices: NotRequired[int]
    """Number of slices, fixed. Default 1. Not together with `autoscaling`. Adds and removes the last slices
    only."""

    autoscaling: NotRequired[PoolAutoscalingArgs]
    """Scale with the work instead of a fixed number of slices. Not together with `slices`."""

    accelerator_topology_mode: NotRequired[str]
    """Whether the chips of a tpu7x slice are joined as its hosts come (AUTO_CONNECT) or later, by dynamic slicing
    (PROVISION_ONLY; cubes of a reservation only). Default: Compute Engine's own. A change replaces the pool."""

    extra_networks: NotRequired[Sequence[ExtraNetworkArgs]]
    """Further network interfaces of each host, 7 at most; switches multi-networking of the cluster on. Default: none.
    A change replaces the pool."""


class ReservationArgs(TypedDict):
    """A reservation that Google has granted: what `gcloud compute reservations describe` shows. It holds TPUs
    (`generation`, `chips`) or GPUs (`accelerator`, `gpus`)."""

    zone: str
    """Zone of the reservation."""

    generation: NotRequired[str]
    """TPU generation that is reserved, such as v6e."""

    chips: NotRequired[int]
    """Chips that are reserved: the number of VMs times their chips."""

    accelerator: NotRequired[str]
    """GPU that is reserved, such as nvidia-h100-mega-80gb."""

    gpus: NotRequired[int]
    """GPUs that are reserved: the number of VMs times their GPUs."""

    project: NotRequired[str]
    """Project that owns it and shares it with this one. Default: the platform's own. A change replaces the pools."""

    machine_type: NotRequired[str]
    """Machine type of the reserved VMs. Default: any with these chips or GPUs."""

    maintenance_interval: NotRequired[str]
    """Host maintenance of the reserved VMs: AS_NEEDED or PERIODIC. Default: not compared with the pools."""

    active: NotRequired[bool]
    """Whether it can be used already. A reservation for the future is false until its first day. Default true."""
