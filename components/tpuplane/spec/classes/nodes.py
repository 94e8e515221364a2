"""The node settings of a compute class, for all nodes and for each priority."""

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.classes.node_system import NodeSystem
from tpuplane.spec.core import fields

AllocationStrategy = Literal["lowest-cost", "fleet-efficiency"]
ZoneType = Literal["STANDARD", "AI", "CLUSTER_DEFAULT"]
NodeCount = Annotated[int, Field(ge=1, le=10**6)]
InstanceMetadata = Annotated[dict[str, str], Field(max_length=32)]
ClassLabels = Annotated[fields.NodeLabels, Field(max_length=100)]


class ClassTpuSpec(fields.Spec):
    """Slices of one shape."""

    type: str
    """TPU generation, such as v6e, or its name in GKE, such as tpu-v6e-slice."""

    topology: str
    """Chips of one slice in each dimension, such as 4x4 or 2x2x2."""

    count: Annotated[int, Field(ge=1)] | None = None
    """Chips of one host, which a pod requests as google.com/tpu. Default: those of the generation's multi-host machine
    type, or of the one that supports the topology."""


class ClassLocationSpec(fields.Spec):
    """Location of the nodes."""

    zones: Annotated[tuple[fields.Zone, ...], Field(min_length=1)] | None = None
    """Zones in the cluster's region. Default: GKE selects."""

    location_policy: Literal["ANY", "BALANCED"] | None = None
    """ANY: the zone with capacity. BALANCED: spread over the zones. Default: GKE selects."""

    zone_types: Annotated[tuple[ZoneType, ...], Field(min_length=1, max_length=3)] | None = None
    """Types of zones instead of zone names. Default: the types of the cluster's zones."""


class ClassTaintSpec(fields.Spec):
    """A taint of the nodes."""

    key: fields.LabelKey
    """Key of the taint."""

    value: fields.TaintValue | None = None
    """Value of the taint. Default: none."""

    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
    """Effect on pods without a matching toleration."""


class ClassMinimumCapacitySpec(fields.Spec):
    """Nodes that exist before pods request them."""

    target_node_count: NodeCount
    """Number of nodes."""


class ClassPriorityDefaultsSpec(fields.Spec):
    """Defaults of all priorities, except priorities with `nodepools`."""

    location: ClassLocationSpec | None = None
    """Location of the nodes."""

    node_system_config: NodeSystem | None = None
    """Kubelet and Linux settings, with GKE's own names: `kubeletConfig` and `linuxNodeConfig`."""

    enable_nested_virtualization: bool | None = None
    """Allow virtual machines on the nodes. Default: false, as in GKE."""


class ClassSwitchSpec(fields.Spec):
    """A feature that is on or off."""

    enabled: bool
    """Whether the feature is on."""


class ClassShieldedInstanceSpec(fields.Spec):
    """Shielded VM options of the nodes."""

    enable_secure_boot: bool = True
    """Boot only signed software. Default true; GKE's own default is false."""

    enable_integrity_monitoring: bool = True
    """Monitor the integrity of the boot sequence. Default true."""


class ClassAutoCreationSpec(fields.Spec):
    """Node pools that GKE creates for the class, and deletes when they are empty."""

    enabled: bool
    """Whether GKE creates node pools."""

    dynamic_boot_disk_size: bool | None = None
    """Let GKE select the boot disk size. Default: false; true with `autopilot`."""

    dynamic_max_pods_per_node: bool | None = None
    """Let GKE select the maximum number of pods per node. Default: false; true with `autopilot`."""

    shielded_instance_config: ClassShieldedInstanceSpec = ClassShieldedInstanceSpec()
    """Shielded VM options of the nodes. Default: all on."""


class ClassCustomImageSpec(fields.Spec):
    """A custom node image."""

    image_name: str
    """Name of the image."""

    image_project_id: fields.ImageProject
    """Project of the image."""


class ClassNodeDrainSpec(fields.Spec):
    """Draining of nodes before their deletion."""

    respect_pdb_during_node_pool_deletion: bool | None = None
    """Whether PodDisruptionBudgets apply when a node pool is deleted."""

    grace_termination_duration: fields.Seconds | None = None
    """Time for pods to terminate, in seconds such as 3600s; at most 24 hours."""

    pdb_timeout_duration: fields.Seconds | None = None
    """Time for which PodDisruptionBudgets can delay the deletion, in seconds such as 3600s; at most 7 days."""


class ClassTagSpec(fields.Spec):
    """A Resource Manager tag."""

    key: str
    """Key of the tag: tagKeys/… or its path."""

    value: str
    """Value of the tag: tagValues/… or its short name."""


class ClassSandboxSpec(fields.Spec):
    """Isolation of pods from their node."""

    type: Literal["gvisor", "microvm"]
    """Type of the sandbox."""


class ClassLoggingVariantSpec(fields.Spec):
    """The variant of the nodes' logging agent."""

    variant: Literal["DEFAULT", "MAX_THROUGHPUT"]
    """MAX_THROUGHPUT collects more logs per second and uses more CPU."""


class ClassLoggingSpec(fields.Spec):
    """The logging agent of the nodes."""

    logging_variant_config: ClassLoggingVariantSpec
    """Throughput of the logging agent."""


class ClassTpuDriverSpec(fields.Spec):
    """The TPU driver of the nodes."""

    driver_mode: Literal["DevicePlugin", "DynamicResourceAllocation"]
    """How pods request chips: as the resource google.com/tpu, or by resource claims."""


class ClassDraSpec(fields.Spec):
    """Dynamic resource allocation."""

    networking: ClassSwitchSpec
    """Network interfaces by resource claims."""


class ClassTaintConfigSpec(fields.Spec):
    """Taints that GKE sets."""

    architecture_taint_behavior: Literal["NONE", "ARM"]
    """Whether GKE taints Arm nodes."""


class ClassNodePoolConfigSpec(fields.Spec):
    """Configuration of the nodes. New node pools get it, and existing pools must have it."""

    service_account: fields.NodeAccount | None = None
    """Service account of the nodes. Default: that of the cluster's other nodes."""

    workload_metadata: Literal["GCE_METADATA", "GKE_METADATA"] = "GKE_METADATA"
    """VM metadata that pods can read. Default GKE_METADATA: only their own identity."""

    image_type: Literal["cos_containerd", "ubuntu_containerd", "custom_containerd"] = "cos_containerd"
    """Node image. Default cos_containerd."""

    custom_image_config: ClassCustomImageSpec | None = None
    """A custom node image, with imageType: custom_containerd."""

    image_streaming: ClassSwitchSpec | None = None
    """Start containers before their images are loaded completely. Default: off."""

    gvnic: ClassSwitchSpec | None = None
    """Google Virtual NIC. Default: that of the machine type; TPU hosts have it."""

    workload_type: Literal["HIGH_AVAILABILITY", "HIGH_THROUGHPUT"] | None = None
    """Purpose of a group of slices: HIGH_AVAILABILITY for serving, which needs most of the slices, or HIGH_THROUGHPUT
    for training, which needs all. HIGH_THROUGHPUT requires `nodePoolGroup`."""

    node_version: fields.NodeVersion | None = None
    """GKE version of the nodes: latest, - (that of the control plane), or a version that is at most two minor versions
    older than the control plane, and not newer. Default: that of the cluster."""

    auto_repair: bool | None = None
    """Let GKE repair unhealthy nodes. Default: true, as in GKE."""

    auto_upgrade: bool | None = None
    """Let GKE upgrade the nodes. Default: true, as in GKE."""

    maintenance_exclusion: Literal["UNTIL_END_OF_SUPPORT"] | None = None
    """UNTIL_END_OF_SUPPORT prevents upgrades while the version is supported. Default: none."""

    node_drain_config: ClassNodeDrainSpec | None = None
    """Draining of nodes before their deletion."""

    ip_type: Literal["public", "private"] = "private"
    """Whether nodes have public IP addresses. Default private."""

    logging_config: ClassLoggingSpec | None = None
    """The logging agent of the nodes."""

    confidential_node_type: Literal["CONFIDENTIAL_INSTANCE_TYPE_UNSPECIFIED", "SEV", "SEV_SNP", "TDX"] | None = None
    """Encryption of the nodes' memory. Every priority must then name a machine type that supports it. Default: none."""

    sandbox: ClassSandboxSpec | None = None
    """Isolation of pods from their node. Default: none."""

    tpu: ClassTpuDriverSpec | None = None
    """The TPU driver of the nodes. Default: DevicePlugin."""

    dra: ClassDraSpec | None = None
    """Dynamic resource allocation. Default: off."""

    node_labels: ClassLabels | None = None
    """Kubernetes labels of the nodes."""

    taints: Annotated[tuple[ClassTaintSpec, ...], Field(max_length=100)] | None = None
    """Taints of the nodes, in addition to that of the class."""

    taint_config: ClassTaintConfigSpec | None = None
    """Taints that GKE sets."""

    instance_metadata: InstanceMetadata | None = None
    """Metadata of the VMs."""

    resource_manager_tags: Annotated[tuple[ClassTagSpec, ...], Field(max_length=5)] | None = None
    """Resource Manager tags of the VMs."""
