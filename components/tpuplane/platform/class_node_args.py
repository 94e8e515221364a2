"""How the nodes of a compute class are set up: see args.py."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from tpuplane.platform.class_parts_args import ClassTaintArgs


class ClassSwitchArgs(TypedDict):
    """Something that is on or off."""

    enabled: bool
    """Whether it is on."""


class ClassShieldedInstanceArgs(TypedDict):
    """Protection of the nodes against a changed boot chain."""

    enable_secure_boot: NotRequired[bool]
    """Start signed software only. Default true, unlike GKE's."""

    enable_integrity_monitoring: NotRequired[bool]
    """Watch the boot for changes. Default true."""


class ClassAutoCreationArgs(TypedDict):
    """Node pools that GKE makes for the class, and deletes when they are empty."""

    enabled: bool
    """Whether GKE makes node pools."""

    dynamic_boot_disk_size: NotRequired[bool]
    """Let GKE choose the boot disk's size. Default: false, with `autopilot` true."""

    dynamic_max_pods_per_node: NotRequired[bool]
    """Let GKE choose the number of pods per node. Default: false, with `autopilot` true."""

    shielded_instance_config: NotRequired[ClassShieldedInstanceArgs]
    """Protection of the nodes against a changed boot chain. Default: all of it."""


class ClassCustomImageArgs(TypedDict):
    """A node image of your own."""

    image_name: str
    """The image."""

    image_project_id: str
    """Its project."""


class ClassNodeDrainArgs(TypedDict):
    """How nodes are emptied before they go."""

    respect_pdb_during_node_pool_deletion: NotRequired[bool]
    """Whether disruption budgets hold when a node pool is deleted."""

    grace_termination_duration: NotRequired[str]
    """How long pods may take to end, in seconds such as 3600s; 24 hours at most."""

    pdb_timeout_duration: NotRequired[str]
    """How long disruption budgets are waited for, in seconds such as 3600s; 7 days at most."""


class ClassTagArgs(TypedDict):
    """A Resource Manager tag."""

    key: str
    """Its key: tagKeys/… or its path."""

    value: str
    """Its value: tagValues/… or its short name."""


class ClassSandboxArgs(TypedDict):
    """A wall between pods and their node."""

    type: str
    """Which."""


class ClassLoggingVariantArgs(TypedDict):
    """How fast logs are taken from the nodes."""

    variant: str
    """MAX_THROUGHPUT takes more, and costs CPU."""


class ClassLoggingArgs(TypedDict):
    """The nodes' logging agent."""

    logging_variant_config: ClassLoggingVariantArgs
    """How fast logs are taken."""


class ClassTpuDriverArgs(TypedDict):
    """The TPU driver of the nodes."""

    driver_mode: str
    """How pods get chips: as google.com/tpu, or by claims."""


class ClassDraArgs(TypedDict):
    """Dynamic resource allocation."""

    networking: ClassSwitchArgs
    """Network interfaces by claims."""


class ClassTaintConfigArgs(TypedDict):
    """Taints that GKE itself sets."""

    architecture_taint_behavior: str
    """Whether Arm nodes are tainted."""


class ClassNodePoolConfigArgs(TypedDict):
    """What the nodes have: pools that GKE makes are made so, and existing pools count only if they are so."""

    service_account: NotRequired[str]
    """Service account that the nodes run as. Default: the one that the cluster's other nodes run as."""

    workload_metadata: NotRequired[str]
    """What pods see of the VM's metadata. Default GKE_METADATA: their own identity only."""

    image_type: NotRequired[str]
    """Node image. Default cos_containerd."""

    custom_image_config: NotRequired[ClassCustomImageArgs]
    """A node image of your own, with imageType: custom_containerd."""

    image_streaming: NotRequired[ClassSwitchArgs]
    """Start containers while their images still load. Default: off."""

    gvnic: NotRequired[ClassSwitchArgs]
    """Google's virtual network interface. Default: the machine's own choice; TPU hosts have it."""

    workload_type: NotRequired[str]
    """What a group of slices is for: serving, which needs most of them, or training, which needs all.
    HIGH_THROUGHPUT only with `nodePoolGroup`."""

    node_version: NotRequired[str]
    """GKE version of the nodes. Default: the cluster's."""

    auto_repair: NotRequired[bool]
    """Let GKE repair unhealthy nodes. Default: GKE's, true."""

    auto_upgrade: NotRequired[bool]
    """Let GKE upgrade the nodes. Default: GKE's, true."""

    maintenance_exclusion: NotRequired[str]
    """UNTIL_END_OF_SUPPORT holds upgrades back for as long as the version is supported. Default: none."""

    node_drain_config: NotRequired[ClassNodeDrainArgs]
    """How nodes are emptied before they go."""

    ip_type: NotRequired[str]
    """Whether nodes have public addresses. Default private."""

    logging_config: NotRequired[ClassLoggingArgs]
    """The nodes' logging agent."""

    confidential_node_type: NotRequired[str]
    """Encryption of the nodes' memory. Every priority then names a machine that has it. Default: none."""

    sandbox: NotRequired[ClassSandboxArgs]
    """A wall between pods and their node. Default: none."""

    tpu: NotRequired[ClassTpuDriverArgs]
    """The TPU driver of the nodes. Default: DevicePlugin."""

    dra: NotRequired[ClassDraArgs]
    """Dynamic resource allocation. Default: off."""

    node_labels: NotRequired[Mapping[str, str]]
    """Kubernetes labels of the nodes."""

    taints: NotRequired[Sequence[ClassTaintArgs]]
    """Taints of the nodes, beside the class's own."""

    taint_config: NotRequired[ClassTaintConfigArgs]
    """Taints that GKE itself sets."""

    instance_metadata: NotRequired[Mapping[str, str]]
    """Metadata of the VMs."""

    resource_manager_tags: NotRequired[Sequence[ClassTagArgs]]
    """Resource Manager tags of the VMs."""
