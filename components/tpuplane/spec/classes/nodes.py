"""How the nodes of a compute class are set up, as a whole and in each priority."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.classes.node_system import NodeSystem
from tpuplane.spec.core.fields import Seconds, Spec, TaintValue, Zone

AllocationStrategy = Literal["lowest-cost", "fleet-efficiency"]
ZoneType = Literal["STANDARD", "AI", "CLUSTER_DEFAULT"]
NodeCount = Annotated[int, Field(ge=1)]
InstanceMetadata = Annotated[dict[str, str], Field(max_length=32)]
ClassLabels = Annotated[dict[str, str], Field(max_length=100)]


class ClassTpuSpec(Spec):
    """Slices of one shape."""

    type: str
    """TPU generation, such as v6e, or GKE's name of it, such as tpu-v6e-slice."""

    topology: str
    """Chips of one slice along each axis, such as 4x4 or 2x2x2."""

    count: Annotated[int, Field(ge=1)] | None = None
    """Chips of one host, which is what a pod asks for as google.com/tpu. Default: those of the generation's
    multi-host machine, else of the one that has the topology."""


class ClassLocationSpec(Spec):
    """Where nodes are made."""

    zones: Annotated[tuple[Zone, ...], Field(min_length=1)] | None = None
    """Zones, of the cluster's region. Default: GKE chooses."""

    location_policy: Literal["ANY", "BALANCED"] | None = None
    """ANY takes the zone with capacity, BALANCED spreads over the zones. Default: GKE chooses."""

    zone_types: Annotated[tuple[ZoneType, ...], Field(min_length=1, max_length=3)] | None = None
    """Kinds of zones instead of their names. Default: those of the cluster."""


class ClassTaintSpec(Spec):
    """A taint of the nodes."""

    key: Annotated[str, Field(min_length=1, max_length=320)]
    """Its key."""

    value: TaintValue | None = None
    """Its value. Default: none."""

    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
    """What it does to pods that do not tolerate it."""


class ClassMinimumCapacitySpec(Spec):
    """Nodes that are there before any pod asks for them."""

    target_node_count: NodeCount
    """How many."""


class ClassPriorityDefaultsSpec(Spec):
    """What holds for every priority that does not say otherwise; not for those that name node pools."""

    location: ClassLocationSpec | None = None
    """Where nodes are made."""

    node_system_config: NodeSystem | None = None
    """Kubelet and Linux settings, in GKE's own names: `kubeletConfig` and `linuxNodeConfig`."""

    enable_nested_virtualization: bool | None = None
    """Whether virtual machines may run on the nodes. Default: GKE's, false."""


class ClassSwitchSpec(Spec):
    """Something that is on or off."""

    enabled: bool
    """Whether it is on."""


class ClassShieldedInstanceSpec(Spec):
    """Protection of the nodes against a changed boot chain."""

    enable_secure_boot: bool = True
    """Start signed software only. Default true, unlike GKE's."""

    enable_integrity_monitoring: bool = True
    """Watch the boot for changes. Default true."""


class ClassAutoCreationSpec(Spec):
    """Node pools that GKE makes for the class, and deletes when they are empty."""

    enabled: bool
    """Whether GKE makes node pools."""

    dynamic_boot_disk_size: bool | None = None
    """Let GKE choose the boot disk's size. Default: false, with `autopilot` true."""

    dynamic_max_pods_per_node: bool | None = None
    """Let GKE choose the number of pods per node. Default: false, with `autopilot` true."""

    shielded_instance_config: ClassShieldedInstanceSpec = ClassShieldedInstanceSpec()
    """Protection of the nodes against a changed boot chain. Default: all of it."""


class ClassCustomImageSpec(Spec):
    """A node image of your own."""

    image_name: str
    """The image."""

    image_project_id: str
    """Its project."""


class ClassNodeDrainSpec(Spec):
    """How nodes are emptied before they go."""

    respect_pdb_during_node_pool_deletion: bool | None = None
    """Whether disruption budgets hold when a node pool is deleted."""

    grace_termination_duration: Seconds | None = None
    """How long pods may take to end, in seconds such as 3600s; 24 hours at most."""

    pdb_timeout_duration: Seconds | None = None
    """How long disruption budgets are waited for, in seconds such as 3600s; 7 days at most."""


class ClassTagSpec(Spec):
    """A Resource Manager tag."""

    key: str
    """Its key: tagKeys/… or its path."""

    value: str
    """Its value: tagValues/… or its short name."""


class ClassSandboxSpec(Spec):
    """A wall between pods and their node."""

    type: Literal["gvisor", "microvm"]
    """Which."""


class ClassLoggingVariantSpec(Spec):
    """How fast logs are taken from the nodes."""

    variant: Literal["DEFAULT", "MAX_THROUGHPUT"]
    """MAX_THROUGHPUT takes more, and costs CPU."""


class ClassLoggingSpec(Spec):
    """The nodes' logging agent."""

    logging_variant_config: ClassLoggingVariantSpec
    """How fast logs are taken."""


class ClassTpuDriverSpec(Spec):
    """The TPU driver of the nodes."""

    driver_mode: Literal["DevicePlugin", "DynamicResourceAllocation"]
    """How pods get chips: as google.com/tpu, or by claims."""


class ClassDraSpec(Spec):
    """Dynamic resource allocation."""

    networking: ClassSwitchSpec
    """Network interfaces by claims."""


class ClassTaintConfigSpec(Spec):
    """Taints that GKE itself sets."""

    architecture_taint_behavior: Literal["NONE", "ARM"]
    """Whether Arm nodes are tainted."""


class ClassNodePoolConfigSpec(Spec):
    """What the nodes have: pools that GKE makes are made so, and existing pools count only if they are so."""

    service_account: str | None = None
    """Service account that the nodes run as. Default: the one that the cluster's other nodes run as."""

    workload_metadata: Literal["GCE_METADATA", "GKE_METADATA"] = "GKE_METADATA"
    """What pods see of the VM's metadata. Default GKE_METADATA: their own identity only."""

    image_type: Literal["cos_containerd", "ubuntu_containerd", "custom_containerd"] = "cos_containerd"
    """Node image. Default cos_containerd."""

    custom_image_config: ClassCustomImageSpec | None = None
    """A node image of your own, with imageType: custom_containerd."""

    image_streaming: ClassSwitchSpec | None = None
    """Start containers while their images still load. Default: off."""

    gvnic: ClassSwitchSpec | None = None
    """Google's virtual network interface. Default: the machine's own choice; TPU hosts have it."""

    workload_type: Literal["HIGH_AVAILABILITY", "HIGH_THROUGHPUT"] | None = None
    """What a group of slices is for: serving, which needs most of them, or training, which needs all.
    HIGH_THROUGHPUT only with `nodePoolGroup`."""

    node_version: str | None = None
    """GKE version of the nodes. Default: the cluster's."""

    auto_repair: bool | None = None
    """Let GKE repair unhealthy nodes. Default: GKE's, true."""

    auto_upgrade: bool | None = None
    """Let GKE upgrade the nodes. Default: GKE's, true."""

    maintenance_exclusion: str | None = None
    """UNTIL_END_OF_SUPPORT holds upgrades back for as long as the version is supported. Default: none."""

    node_drain_config: ClassNodeDrainSpec | None = None
    """How nodes are emptied before they go."""

    ip_type: Literal["public", "private"] = "private"
    """Whether nodes have public addresses. Default private."""

    logging_config: ClassLoggingSpec | None = None
    """The nodes' logging agent."""

    confidential_node_type: Literal["CONFIDENTIAL_INSTANCE_TYPE_UNSPECIFIED", "SEV", "SEV_SNP", "TDX"] | None = None
    """Encryption of the nodes' memory. Every priority then names a machine that has it. Default: none."""

    sandbox: ClassSandboxSpec | None = None
    """A wall between pods and their node. Default: none."""

    tpu: ClassTpuDriverSpec | None = None
    """The TPU driver of the nodes. Default: DevicePlugin."""

    dra: ClassDraSpec | None = None
    """Dynamic resource allocation. Default: off."""

    node_labels: ClassLabels | None = None
    """Kubernetes labels of the nodes."""

    taints: Annotated[tuple[ClassTaintSpec, ...], Field(max_length=100)] | None = None
    """Taints of the nodes, in addition to the class's own."""

    taint_config: ClassTaintConfigSpec | None = None
    """Taints that GKE itself sets."""

    instance_metadata: InstanceMetadata | None = None
    """Metadata of the VMs."""

    resource_manager_tags: Annotated[tuple[ClassTagSpec, ...], Field(max_length=5)] | None = None
    """Resource Manager tags of the VMs."""
