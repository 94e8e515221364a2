"""One priority of a compute class: what nodes are made of, and how they are bought."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.classes.node_system import NodeSystem
from tpuplane.spec.classes.nodes import (
    AllocationStrategy,
    ClassLabels,
    ClassLocationSpec,
    ClassMinimumCapacitySpec,
    ClassTaintSpec,
    ClassTpuSpec,
    InstanceMetadata,
)
from tpuplane.spec.core.fields import KeyPath, Name, ResourceName, Spec, StoragePool, Zone

MinCpuPlatform = Literal[
    "Intel Sandy Bridge",
    "Intel Ivy Bridge",
    "Intel Haswell",
    "Intel Broadwell",
    "Intel Skylake",
    "Intel Cascade Lake",
    "Intel Ice Lake",
    "Intel Sapphire Rapids",
    "Intel Emerald Rapids",
    "Intel Granite Rapids",
    "AMD Rome",
    "AMD Milan",
    "AMD Genoa",
    "AMD Turin",
    "Ampere Altra",
    "Google Axion",
    "Nvidia Grace",
]


class ClassGpuSharingSpec(Spec):
    """Several pods on one GPU."""

    sharing_strategy: Literal["MPS", "TIME_SHARING"] | None = None
    """How they share it. Default: not at all."""

    max_shared_clients_per_gpu: Annotated[int, Field(ge=0)] | None = None
    """Pods on one GPU at most."""

    gpu_partition_size: str | None = None
    """Size of a partition, such as 1g.5gb. Default: the whole GPU."""


class ClassGpuSpec(Spec):
    """GPUs of one kind."""

    type: str | None = None
    """Accelerator, such as nvidia-l4."""

    count: Annotated[int, Field(ge=0)] | None = None
    """GPUs of one node."""

    driver_version: Literal["default", "latest", "autoinstall-disabled"] | None = None
    """Which driver GKE installs. Default: default."""

    topology: str | None = None
    """Arrangement of the GPUs of a slice, such as 1x72. A4X only, with `placement`."""

    gpu_sharing: ClassGpuSharingSpec | None = None
    """Several pods on one GPU. Default: one."""


class ClassNodeRecyclingSpec(Spec):
    """Replacing flex-start nodes before their time is over."""

    lead_time_seconds: Annotated[int, Field(ge=1, le=604800)]
    """How long before a node is removed GKE looks for the next one, in seconds."""


class ClassFlexStartSpec(Spec):
    """Nodes of the Dynamic Workload Scheduler: waited for, and gone after days."""

    enabled: bool = True
    """Whether nodes are bought so. Default true."""

    node_recycling: ClassNodeRecyclingSpec | None = None
    """Replacing nodes before their time is over. Default: they are not replaced."""


class ClassReservationSubBlockSpec(Spec):
    """A sub-block of a reservation's block."""

    name: ResourceName
    """Its name."""


class ClassReservationBlockSpec(Spec):
    """A block of a reservation."""

    name: ResourceName
    """Its name."""

    reservation_sub_block: ClassReservationSubBlockSpec | None = None
    """Sub-block of it. Default: anywhere in the block."""


class ClassReservationSpec(Spec):
    """One reservation that nodes may come from."""

    name: str
    """Name of one of the platform's reservations."""

    reservation_block: ClassReservationBlockSpec | None = None
    """Block of it. Default: anywhere in it."""

    zones: Annotated[tuple[Zone, ...], Field(min_length=1)] | None = None
    """Zones in which it is drawn on. Default: its own."""


class ClassReservationsSpec(Spec):
    """Reservations that nodes come from."""

    affinity: Literal["Specific", "AnyBestEffort", "None", "AnyThenFail"] = "Specific"
    """Specific: those of `specific`, the only way for TPUs. AnyBestEffort: any that fits, else on-demand. AnyThenFail:
    any that fits, else nothing. None: never. Default Specific."""

    specific: tuple[ClassReservationSpec, ...] | None = None
    """The reservations, with affinity Specific."""


class ClassStorageSecondaryDiskSpec(Spec):
    """A disk that every node starts with."""

    disk_image_name: str
    """Disk image."""

    project: str | None = None
    """Project of the image. Default: the cluster's."""

    mode: Literal["MODE_UNSPECIFIED", "CONTAINER_IMAGE_CACHE"] | None = None
    """CONTAINER_IMAGE_CACHE: it holds container images. Default: data."""


class ClassStorageSpec(Spec):
    """Disks of the nodes."""

    boot_disk_type: Literal["pd-balanced", "pd-standard", "pd-ssd", "hyperdisk-balanced"] | None = None
    """Boot disk type. Default: the machine's own."""

    boot_disk_size: Annotated[int, Field(ge=10)] | None = None
    """Boot disk size in GB. Default: GKE's, 100."""

    boot_disk_kms_key: KeyPath | None = None
    """Key of the boot disk: projects/…/locations/…/keyRings/…/cryptoKeys/…. Default: Google's own."""

    boot_disk_provisioned_iops: Annotated[int, Field(ge=2000, le=160000)] | None = None
    """I/O operations per second of a hyperdisk, together with its throughput."""

    boot_disk_provisioned_throughput: Annotated[int, Field(ge=140, le=2400)] | None = None
    """Throughput of a hyperdisk in MiB/s, together with its operations."""

    boot_disk_storage_pools: Annotated[tuple[StoragePool, ...], Field(min_length=1)] | None = None
    """Storage pools of hyperdisk-balanced boot disks: projects/…/zones/…/storagePools/…."""

    local_ssd_count: Annotated[int, Field(ge=1)] | None = None
    """Local SSDs of one node."""

    secondary_boot_disks: tuple[ClassStorageSecondaryDiskSpec, ...] | None = None
    """Disks that every node starts with. Default: none."""


class ClassPlacementSpec(Spec):
    """A resource policy of your own that places the nodes."""

    policy_name: ResourceName
    """Its name."""


class ClassPrioritySpec(Spec):
    """One way to get nodes. GKE tries the priorities from the first to the last."""

    nodepools: Annotated[tuple[Name, ...], Field(min_length=1)] | None = None
    """Pools of the cluster, by their name in this description; each means all of its node pools, which then
    belong to the class. In an existing cluster also node pools of its own. Only with `priorityScore` and
    `allocationStrategy`."""

    tpu: ClassTpuSpec | None = None
    """TPU slices."""

    gpu: ClassGpuSpec | None = None
    """GPUs."""

    machine_family: Annotated[str, Field(max_length=10)] | None = None
    """Machine family, such as n2. Not together with `machineType`."""

    machine_type: Annotated[str, Field(max_length=100)] | None = None
    """Machine type, such as n2-standard-8."""

    min_cores: Annotated[int, Field(ge=0)] | None = None
    """Fewest vCPUs of a node. Not together with `machineType`."""

    min_memory_gb: Annotated[int, Field(ge=0)] | None = None
    """Least memory of a node, in GB. Not together with `machineType`."""

    min_cpu_platform: MinCpuPlatform | None = None
    """Oldest CPU platform. Default: any."""

    pod_family: Literal["general-purpose", "general-purpose-arm"] | None = None
    """Pod-based machines and prices. Only with `autopilot`."""

    spot: bool | None = None
    """Cheaper nodes that may be reclaimed at any time. Default false."""

    flex_start: ClassFlexStartSpec | None = None
    """Nodes that are waited for and go after days. Default: on-demand."""

    max_run_duration_seconds: Annotated[int, Field(ge=1)] | None = None
    """How long a node runs at most, in seconds; with flex-start 600 to 604,800. Default: unlimited, with flex-start
    7 days."""

    capacity_check_wait_time_seconds: Annotated[int, Field(ge=1, le=86400)] | None = None
    """How long this priority is tried before the next, in seconds. Only with flex-start and multi-host slices."""

    reservations: ClassReservationsSpec | None = None
    """Reservations that nodes come from. Default: none."""

    priority_score: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Higher is tried first; up to three priorities may have one score. On all priorities or on none. Default: their
    order."""

    allocation_strategy: AllocationStrategy | None = None
    """What is chosen among equals: the cheapest, or what spares scarce machines. Default: the class's."""

    location: ClassLocationSpec | None = None
    """Where nodes are made. Default: the class's `priorityDefaults`."""

    placement: ClassPlacementSpec | None = None
    """A resource policy of your own that places the nodes. Default: GKE makes what slices need."""

    storage: ClassStorageSpec | None = None
    """Disks of the nodes."""

    max_pods_per_node: Annotated[int, Field(ge=8, le=256)] | None = None
    """Pods per node. Default: the cluster's."""

    node_labels: ClassLabels | None = None
    """Kubernetes labels of the nodes."""

    taints: Annotated[tuple[ClassTaintSpec, ...], Field(max_length=100)] | None = None
    """Taints of the nodes, in addition to the class's own."""

    instance_metadata: InstanceMetadata | None = None
    """Metadata of the VMs; on top of those of `nodePoolConfig`."""

    node_system_config: NodeSystem | None = None
    """Kubelet and Linux settings, in GKE's own names: `kubeletConfig` and `linuxNodeConfig`."""

    accelerator_network_profile: ResourceName | None = None
    """Networks between accelerators: auto, or a profile of your own."""

    gpu_direct: Literal["rdma"] | None = None
    """How GPUs reach each other. Needs `acceleratorNetworkProfile`."""

    minimum_capacity: ClassMinimumCapacitySpec | None = None
    """Nodes of this priority that are there before any pod asks for them."""

    enable_nested_virtualization: bool | None = None
    """Whether virtual machines may run on the nodes. Default: GKE's, false."""
