"""One priority of a compute class: the hardware of its nodes, and their capacity."""

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.classes import nodes
from tpuplane.spec.classes.node_system import NodeSystem
from tpuplane.spec.core.fields import ImageProject, KeyPath, Name, ResourceName, Spec, StoragePool, Zone
from tpuplane.spec.pools.hosts import MOST_PODS

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
    """Several pods share one GPU."""

    sharing_strategy: Literal["MPS", "TIME_SHARING"] | None = None
    """Sharing strategy. Default: no sharing."""

    max_shared_clients_per_gpu: Annotated[int, Field(ge=0, le=48)] | None = None
    """Maximum number of pods on one GPU."""

    gpu_partition_size: str | None = None
    """Size of a partition, such as 1g.5gb. Default: the whole GPU."""


class ClassGpuSpec(Spec):
    """GPUs of one model."""

    type: str | None = None
    """GPU model, such as nvidia-l4. Default: that of `machineType`."""

    count: Annotated[int, Field(ge=0)] | None = None
    """GPUs of one node. Default: those of `machineType`."""

    driver_version: Literal["default", "latest", "autoinstall-disabled"] | None = None
    """Driver that GKE installs. Default: default."""

    topology: str | None = None
    """Topology of the GPUs of a slice, such as 1x72. Only for A4X, with `placement`."""

    gpu_sharing: ClassGpuSharingSpec | None = None
    """Sharing of one GPU between several pods. Default: no sharing."""


class ClassNodeRecyclingSpec(Spec):
    """Replacement of flex-start nodes before they expire."""

    lead_time_seconds: Annotated[int, Field(ge=1, le=604800)]
    """Seconds before a node expires at which GKE requests the next one."""


class ClassFlexStartSpec(Spec):
    """Nodes from Dynamic Workload Scheduler, which start when capacity is available and expire after at most seven
    days."""

    enabled: bool = True
    """Whether the priority uses flex-start. Default true."""

    node_recycling: ClassNodeRecyclingSpec | None = None
    """Replacement of nodes before they expire. Default: none."""


class ClassReservationSubBlockSpec(Spec):
    """A sub-block of a reservation's block."""

    name: ResourceName
    """Name of the sub-block."""


class ClassReservationBlockSpec(Spec):
    """A block of a reservation."""

    name: ResourceName
    """Name of the block."""

    reservation_sub_block: ClassReservationSubBlockSpec | None = None
    """Sub-block of the block. Default: any sub-block."""


class ClassReservationSpec(Spec):
    """One reservation for nodes."""

    name: str
    """Name of one of the platform's reservations."""

    reservation_block: ClassReservationBlockSpec | None = None
    """Block of the reservation. Default: any block."""

    zones: Annotated[tuple[Zone, ...], Field(min_length=1)] | None = None
    """Zones in which the reservation is used. Default: its own zone."""


class ClassReservationsSpec(Spec):
    """Reservations for nodes."""

    affinity: Literal["Specific", "AnyBestEffort", "None", "AnyThenFail"] = "Specific"
    """Specific: the reservations in `specific`; the only value for TPUs. AnyBestEffort: any that fits, otherwise
    on-demand. AnyThenFail: any that fits, otherwise none. None: no reservation. Default Specific."""

    specific: tuple[ClassReservationSpec, ...] | None = None
    """The reservations. Only with affinity: Specific."""


class ClassStorageSecondaryDiskSpec(Spec):
    """A disk that every node has when it starts."""

    disk_image_name: str
    """Source image of the disk."""

    project: ImageProject | None = None
    """Project of the image. Default: that of the cluster."""

    mode: Literal["MODE_UNSPECIFIED", "CONTAINER_IMAGE_CACHE"] | None = None
    """CONTAINER_IMAGE_CACHE: the disk has container images. Default: data."""


class ClassStorageSpec(Spec):
    """Disks of the nodes."""

    boot_disk_type: Literal["pd-balanced", "pd-standard", "pd-ssd", "hyperdisk-balanced"] | None = None
    """Boot disk type. Default: that of the machine type."""

    boot_disk_size: Annotated[int, Field(ge=10, le=65536)] | None = None
    """Boot disk size in GB. Default: 100, as in GKE."""

    boot_disk_kms_key: KeyPath | None = None
    """Cloud KMS key of the boot disk: projects/…/locations/…/keyRings/…/cryptoKeys/…. Default: only Google's own
    encryption."""

    boot_disk_provisioned_iops: Annotated[int, Field(ge=2000, le=160000)] | None = None
    """Provisioned I/O operations per second of a Hyperdisk, together with its throughput."""

    boot_disk_provisioned_throughput: Annotated[int, Field(ge=140, le=2400)] | None = None
    """Provisioned throughput of a Hyperdisk in MiB/s, together with its operations."""

    boot_disk_storage_pools: Annotated[tuple[StoragePool, ...], Field(min_length=1)] | None = None
    """Storage pools of hyperdisk-balanced boot disks: projects/…/zones/…/storagePools/…."""

    local_ssd_count: Annotated[int, Field(ge=1)] | None = None
    """Number of Local SSDs of one node."""

    secondary_boot_disks: tuple[ClassStorageSecondaryDiskSpec, ...] | None = None
    """Disks that every node has when it starts. Default: none."""


class ClassPlacementSpec(Spec):
    """An existing resource policy for the placement of the nodes."""

    policy_name: ResourceName
    """Name of the policy."""


class ClassPrioritySpec(Spec):
    """One node configuration. GKE tries the priorities from the first to the last."""

    nodepools: Annotated[tuple[Name, ...], Field(min_length=1)] | None = None
    """Pools of the cluster, by their names in this file. All node pools of such a pool belong to the class. In an
    existing cluster, also names of existing node pools. Only with `priorityScore` and `allocationStrategy`."""

    tpu: nodes.ClassTpuSpec | None = None
    """TPU slices."""

    gpu: ClassGpuSpec | None = None
    """GPUs."""

    machine_family: Annotated[str, Field(max_length=10)] | None = None
    """Machine family, such as n2. Not together with `machineType`."""

    machine_type: Annotated[str, Field(max_length=100)] | None = None
    """Machine type, such as n2-standard-8."""

    min_cores: Annotated[int, Field(ge=0, le=10**6)] | None = None
    """Minimum vCPUs of a node. Not together with `machineType`."""

    min_memory_gb: Annotated[int, Field(ge=0, le=10**6)] | None = None
    """Minimum memory of a node, in GB. Not together with `machineType`."""

    min_cpu_platform: MinCpuPlatform | None = None
    """Minimum CPU platform. Default: any."""

    pod_family: Literal["general-purpose", "general-purpose-arm"] | None = None
    """Pod-based machines and pricing. Only with `autopilot`."""

    spot: bool | None = None
    """Spot VMs: cheaper nodes that can be reclaimed at any time. Default false."""

    flex_start: ClassFlexStartSpec | None = None
    """Flex-start nodes, which start when capacity is available and expire after at most seven days. Default:
    on-demand."""

    # https://cloud.google.com/compute/docs/instances/limit-vm-runtime#restrictions
    max_run_duration_seconds: Annotated[int, Field(ge=30, le=10368000)] | None = None
    """Maximum run time of a node, in seconds, from 30 to 10,368,000 (120 days); with flex-start 600 to
    604,800. Default: unlimited; 7 days with flex-start."""

    capacity_check_wait_time_seconds: Annotated[int, Field(ge=1, le=86400)] | None = None
    """Seconds for which GKE tries this priority before the next one. Only with multi-host slices and flex-start; GKE
    ignores it for single TPU hosts."""

    reservations: ClassReservationsSpec | None = None
    """Reservations for the nodes. Default: none."""

    priority_score: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Priorities with a higher score are tried first. At most three priorities have the same score. Set it on all
    priorities or on none. Default: their order."""

    allocation_strategy: nodes.AllocationStrategy | None = None
    """Selection between equally suitable machines: lowest-cost, or fleet-efficiency, which saves scarce machines.
    Default: that of the class."""

    location: nodes.ClassLocationSpec | None = None
    """Location of the nodes. Default: that of `priorityDefaults`."""

    placement: ClassPlacementSpec | None = None
    """An existing resource policy for the placement of the nodes. Default: GKE creates the policies that slices
    need."""

    storage: ClassStorageSpec | None = None
    """Disks of the nodes."""

    max_pods_per_node: Annotated[int, Field(ge=8, le=MOST_PODS)] | None = None
    """Maximum pods on a node. Default: that of the cluster."""

    node_labels: nodes.ClassLabels | None = None
    """Kubernetes labels of the nodes."""

    taints: Annotated[tuple[nodes.ClassTaintSpec, ...], Field(max_length=100)] | None = None
    """Taints of the nodes, in addition to that of the class."""

    instance_metadata: nodes.InstanceMetadata | None = None
    """Metadata of the VMs, in addition to that of `nodePoolConfig`."""

    node_system_config: NodeSystem | None = None
    """Kubelet and Linux settings, with GKE's own names: `kubeletConfig` and `linuxNodeConfig`."""

    accelerator_network_profile: ResourceName | None = None
    """Network profile for the accelerators: auto, or the name of an existing profile."""

    gpu_direct: Literal["rdma"] | None = None
    """GPUDirect technology for communication between GPUs. Requires `acceleratorNetworkProfile`."""

    minimum_capacity: nodes.ClassMinimumCapacitySpec | None = None
    """Nodes of this priority that exist before pods request them."""

    enable_nested_virtualization: bool | None = None
    """Allow virtual machines on the nodes. Default: false, as in GKE."""
