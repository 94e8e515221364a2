"""A compute class: see args.py."""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

from tpuplane.gke.pool_args import ReservationUseArgs
from tpuplane.platform.class_node_args import ClassAutoCreationArgs, ClassNodePoolConfigArgs, ClassSwitchArgs
from tpuplane.platform.class_parts_args import ClassMinimumCapacityArgs, ClassPriorityDefaultsArgs, ClassTpuArgs
from tpuplane.platform.class_priority_args import ClassPriorityArgs


class ClassActiveMigrationArgs(TypedDict):
    """Moving running pods to better nodes. A move ends them and starts them anew."""

    optimize_rule_priority: NotRequired[bool]
    """Move to a higher priority as soon as it has capacity. Default false."""

    ensure_all_daemon_set_pods_running: NotRequired[bool]
    """Move to larger nodes where pods of daemon sets do not fit. Default false."""


class ClassAutoscalingPolicyArgs(TypedDict):
    """When nodes go."""

    consolidation_delay_minutes: NotRequired[int]
    """How long a node is unneeded before it goes, in minutes. Default: GKE's, 10."""

    consolidation_threshold: NotRequired[int]
    """Use of CPU and memory in percent below which a node counts as unneeded. Default: GKE's, 50."""

    gpu_consolidation_threshold: NotRequired[int]
    """Use of GPUs in percent below which a GPU node counts as unneeded. Default: as consolidationThreshold."""


class ClassAllocationDefaultsArgs(TypedDict):
    """What is chosen among equal machines, by the way they are bought."""

    on_demand: NotRequired[str]
    """On-demand nodes. Default: GKE chooses."""

    spot: NotRequired[str]
    """Spot nodes. Default: GKE chooses."""

    flex_start: NotRequired[str]
    """Flex-start nodes. Default: GKE chooses."""


class ClassNodePoolGroupArgs(TypedDict):
    """A group of slices that are kept together: a collection of v6e slices."""

    name: str
    """Name of the group."""


class PlatformComputeClassArgs(TypedDict):
    """A GKE ComputeClass (cloud.google.com/v1). Pods ask for it with the node selector
    `cloud.google.com/compute-class`. Changes are made in place: GKE makes new nodes by them, and leaves running
    ones alone unless `activeMigration` says otherwise."""

    clusters: NotRequired[Sequence[str]]
    """Clusters that have the class. Default: every one."""

    default_namespaces: NotRequired[Sequence[str]]
    """Namespaces whose pods get this class unless they ask for another. For a whole cluster, call the class
    `default`. Default: none."""

    preset: NotRequired[str]
    """Ready-made priorities for slices of `tpu`. cost-optimized: Spot, flex-start, then the reservation.
    reserved-first: the reservation, on-demand, flex-start, then Spot. A way in which the generation cannot be
    bought is left out. Default: you write the priorities."""

    tpu: NotRequired[ClassTpuArgs]
    """The slices of a preset. Required with `preset`, and only then."""

    reservation: NotRequired[ReservationUseArgs]
    """The reservation of a preset. Required with `preset`, and only then."""

    description: NotRequired[str]
    """When to use the class. Default: nothing, or the preset's."""

    priorities: NotRequired[Sequence[ClassPriorityArgs]]
    """Ways to get nodes, the preferred one first. Required without `preset`."""

    priority_defaults: NotRequired[ClassPriorityDefaultsArgs]
    """What holds for every priority that does not say otherwise."""

    when_unsatisfiable: NotRequired[str]
    """What happens when no priority has capacity: pods wait (DoNotScaleUp), or GKE makes nodes of the cluster's
    default machines, which have no TPUs (ScaleUpAnyway). Default DoNotScaleUp."""

    node_pool_auto_creation: NotRequired[ClassAutoCreationArgs]
    """Node pools that GKE makes for the class. Default: none, with a preset they are made."""

    node_pool_config: NotRequired[ClassNodePoolConfigArgs]
    """What the nodes have. Default: none is asked of existing pools; pools that GKE makes are as safe as declared
    ones."""

    node_pool_group: NotRequired[ClassNodePoolGroupArgs]
    """A group of v6e slices that are kept together. Default: slices are on their own."""

    active_migration: NotRequired[ClassActiveMigrationArgs]
    """Moving running pods to better nodes. Default: they stay, with a preset as it says."""

    autoscaling_policy: NotRequired[ClassAutoscalingPolicyArgs]
    """When nodes go. Default: the cluster's, with a preset as it says."""

    allocation_strategy_defaults: NotRequired[ClassAllocationDefaultsArgs]
    """What is chosen among equal machines. Default: GKE chooses."""

    minimum_capacity: NotRequired[ClassMinimumCapacityArgs]
    """Nodes that are there before any pod asks for them. Every priority then names its machine. Default: none."""

    autopilot: NotRequired[ClassSwitchArgs]
    """Nodes that GKE manages as in Autopilot. Cannot be changed afterwards. Default: off."""
