"""The priorities of a compute class: see args.py."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from tpuplane.platform.class_parts_args import (
    ClassLocationArgs,
    ClassMinimumCapacityArgs,
    ClassTaintArgs,
    ClassTpuArgs,
)


class ClassGpuSharingArgs(TypedDict):
    """Several pods on one GPU."""

    sharing_strategy: NotRequired[str]
    """How they share it. Default: not at all."""

    max_shared_clients_per_gpu: NotRequired[int]
    """Pods on one GPU at most."""

    gpu_partition_size: NotRequired[str]
    """Size of a partition, such as 1g.5gb. Default: the whole GPU."""


class ClassGpuArgs(TypedDict):
    """GPUs of one kind."""

    type: NotRequired[str]
    """Accelerator, such as nvidia-l4."""

    count: NotRequired[int]
    """GPUs of one node."""

    driver_version: NotRequired[str]
    """Which driver GKE installs. Default: default."""

    topology: NotRequired[str]
    """Arrangement of the GPUs of a slice, such as 1x72. A4X only, with `placement`."""

    gpu_sharing: NotRequired[ClassGpuSharingArgs]
    """Several pods on one GPU. Default: one."""


class ClassNodeRecyclingArgs(TypedDict):
    """Replacing flex-start nodes before their time is over."""

    lead_time_seconds: int
    """How long before a node goes GKE looks for the next one, in seconds."""


class ClassFlexStartArgs(TypedDict):
    """Nodes of the Dynamic Workload Scheduler: waited for, and gone after days."""

    enabled: NotRequired[bool]
    """Whether nodes are bought so. Default true."""

    node_recycling: NotRequired[ClassNodeRecyclingArgs]
    """Replacing nodes before their time is over. Default: they are not replaced."""


class ClassReservationSubBlockArgs(TypedDict):
    """A sub-block of a reservation's block."""

    name: str
    """Its name."""


class ClassReservationBlockArgs(TypedDict):
    """A block of a reservation."""

    name: str
    """Its name."""

    reservation_sub_block: NotRequired[ClassReservationSubBlockArgs]
    """Sub-block of it. Default: anywhere in the block."""


class ClassReservationArgs(TypedDict):
    """One reservation that nodes may come from."""

    name: str
    """Name of one of the platform's reservations."""

    reservation_block: NotRequired[ClassReservationBlockArgs]
    """Block of it. Default: anywhere in it."""

    zones: NotRequired[Sequence[str]]
    """Zones in which it is drawn on. Default: its own."""


class ClassReservationsArgs(TypedDict):
    """Reservations that nodes come from."""

    affinity: NotRequired[str]
    """Specific: those of `specific`, the only way for TPUs. AnyBestEffort: any that fits, else on-demand.
    AnyThenFail: any that fits, else nothing. None: never. Default Specific."""

    specific: NotRequired[Sequence[ClassReservationArgs]]
    """The reservations, with affinity Specific."""


class ClassStorageSecondaryDiskArgs(TypedDict):
    """A disk that every node starts with."""

    disk_image_name: str
    """Disk image."""

    project: NotRequired[str]
    """Project of the image. Default: the cluster's."""

    mode: NotRequired[str]
    """CONTAINER_IMAGE_CACHE: it holds container images. Default: data."""


class ClassStorageArgs(TypedDict):
    """Disks of the nodes."""

    boot_disk_type: NotRequired[str]
    """Boot disk type. Default: the machine's own."""

    boot_disk_size: NotRequired[int]
    """Boot disk size in GB. Default: GKE's, 100."""

    boot_disk_kms_key: NotRequired[str]
    """Key of the boot disk: projects/…/locations/…/keyRings/…/cryptoKeys/…. Default: Google's own."""

    boot_disk_provisioned_iops: NotRequired[int]
    """I/O operations per second of a hyperdisk, together with its throughput."""

    boot_disk_provisioned_throughput: NotRequired[int]
    """Throughput of a hyperdisk in MiB/s, together with its operations."""

    boot_disk_storage_pools: NotRequired[Sequence[str]]
    """Storage pools of hyperdisk-balanced boot disks: projects/…/zones/…/storagePools/…."""

    local_ssd_count: NotRequired[int]
    """Local SSDs of one node."""

    secondary_boot_disks: NotRequired[Sequence[ClassStorageSecondaryDiskArgs]]
    """Disks that every node starts with. Default: none."""


class ClassPlacementArgs(TypedDict):
    """A resource policy of your own that places the nodes."""

    policy_name: str
    """Its name."""


class ClassPriorityArgs(TypedDict):
    """One way to get nodes. GKE tries the priorities from the first to the last."""

    nodepools: NotRequired[Sequence[str]]
    """Pools of the cluster, by their name in this description; each stands for all of its node pools, which then
    belong to the class. In an existing cluster also node pools of its own. Beside it only `priorityScore` and
    `allocationStrategy`."""

    tpu: NotRequired[ClassTpuArgs]
    """TPU slices."""

    gpu: NotRequired[ClassGpuArgs]
    """GPUs."""

    machine_family: NotRequired[str]
    """Machine family, such as n2. Not together with `machineType`."""

    machine_type: NotRequired[str]
    """Machine type, such as n2-standard-8."""

    min_cores: NotRequired[int]
    """Fewest vCPUs of a node. Not together with `machineType`."""

    min_memory_gb: NotRequired[int]
    """Least memory of a node, in GB. Not together with `machineType`."""

    min_cpu_platform: NotRequired[str]
    """Oldest CPU platform. Default: any."""

    pod_family: NotRequired[str]
    """Pod-based machines and prices. Only with `autopilot`."""

    spot: NotRequired[bool]
    """Cheaper nodes that may be reclaimed at any time. Default false."""

    flex_start: NotRequired[ClassFlexStartArgs]
    """Nodes that are waited for and go after days. Default: on-demand."""

    max_run_duration_seconds: NotRequired[int]
    """How long a node runs at most, in seconds; with flex-start 600 to 604,800. Default: for ever, with flex-start
    7 days."""

    capacity_check_wait_time_seconds: NotRequired[int]
    """How long this priority is tried before the next, in seconds. Only with flex-start and multi-host slices."""

    reservations: NotRequired[ClassReservationsArgs]
    """Reservations that nodes come from. Default: none."""

    priority_score: NotRequired[int]
    """Higher goes first, and three priorities of one score count alike. On all priorities or on none. Default:
    their order."""

    allocation_strategy: NotRequired[str]
    """What is chosen among equals: the cheapest, or what spares scarce machines. Default: the class's."""

    location: NotRequired[ClassLocationArgs]
    """Where nodes are made. Default: the class's `priorityDefaults`."""

    placement: NotRequired[ClassPlacementArgs]
    """A resource policy of your own that places the nodes. Default: GKE makes what slices need."""

    storage: NotRequired[ClassStorageArgs]
    """Disks of the nodes."""

    max_pods_per_node: NotRequired[int]
    """Pods per node. Default: the cluster's."""

    node_labels: NotRequired[Mapping[str, str]]
    """Kubernetes labels of the nodes."""

    taints: NotRequired[Sequence[ClassTaintArgs]]
    """Taints of the nodes, beside the class's own."""

    instance_metadata: NotRequired[Mapping[str, str]]
    """Metadata of the VMs; on top of those of `nodePoolConfig`."""

    node_system_config: NotRequired[Mapping[str, Any]]
    """Kubelet and Linux settings, in GKE's own names: `kubeletConfig` and `linuxNodeConfig`."""

    accelerator_network_profile: NotRequired[str]
    """Networks between accelerators: auto, or a profile of your own."""

    gpu_direct: NotRequired[str]
    """How GPUs reach each other. Needs `acceleratorNetworkProfile`."""

    minimum_capacity: NotRequired[ClassMinimumCapacityArgs]
    """Nodes of this priority that are there before any pod asks for them."""

    enable_nested_virtualization: NotRequired[bool]
    """Whether virtual machines may run on the nodes. Default: GKE's, false."""
