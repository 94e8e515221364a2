"""A compute class in the description: the nodes for pods, in order of preference."""

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.classes import nodes
from tpuplane.spec.classes.priorities import ClassPrioritySpec
from tpuplane.spec.core.changes import Change, InPlace
from tpuplane.spec.core.fields import Name, Namespace, Spec
from tpuplane.spec.pools.hosts import ReservationUseSpec

# A label's value, which is how pods name it.
ClassName = Name
ClassPreset = Literal["cost-optimized", "reserved-first"]


class ClassActiveMigrationSpec(Spec):
    """Migration of running pods to preferred nodes. It terminates the pods and starts them again."""

    optimize_rule_priority: bool = False
    """Migrate to a higher priority when it has capacity. Default false."""

    ensure_all_daemon_set_pods_running: bool | None = None
    """Migrate to larger nodes if pods of DaemonSets do not fit. Default false."""


class ClassAutoscalingPolicySpec(Spec):
    """Removal of unneeded nodes."""

    consolidation_delay_minutes: Annotated[int, Field(ge=1, le=1440)] | None = None
    """Minutes after which an unneeded node is removed. Default: 10, as in GKE."""

    consolidation_threshold: Annotated[int, Field(ge=0, le=100)] | None = None
    """A node with a CPU and memory utilization below this percentage is unneeded. Default: 50, as in GKE."""

    gpu_consolidation_threshold: Annotated[int, Field(ge=0, le=100)] | None = None
    """A GPU node with a GPU utilization below this percentage is unneeded. Default: the same as
    consolidationThreshold."""


class ClassAllocationDefaultsSpec(Spec):
    """Selection between equally suitable machines, by provisioning model."""

    on_demand: nodes.AllocationStrategy | None = None
    """On-demand nodes. Default: GKE chooses."""

    spot: nodes.AllocationStrategy | None = None
    """Spot nodes. Default: GKE chooses."""

    flex_start: nodes.AllocationStrategy | None = None
    """Flex-start nodes. Default: GKE chooses."""


class ClassNodePoolGroupSpec(Spec):
    """A group of slices that GKE manages together: a collection of v6e slices."""

    name: Annotated[str, Field(min_length=1)]
    """Name of the group."""


class ComputeClassSpec(Spec):
    """A GKE ComputeClass (cloud.google.com/v1). Pods request it with the node selector
    `cloud.google.com/compute-class`. Changes are made in place. They apply to new nodes; `activeMigration` also applies
    them to running pods."""

    clusters: Annotated[tuple[Name, ...] | None, Change(judge="class_clusters", source="classes")] = None
    """Clusters with the class. Default: all clusters."""

    default_namespaces: InPlace[tuple[Namespace, ...]] = ()
    """Namespaces with this class as the default for their pods. For a whole cluster, name the class `default`. Default:
    none."""

    preset: ClassPreset | None = None
    """Predefined priorities for slices of `tpu`. cost-optimized: Spot, flex-start, then the reservation.
    reserved-first: the reservation, on-demand, flex-start, then Spot. Provisioning models that the generation does not
    support are omitted. Default: none; write the priorities yourself."""

    tpu: nodes.ClassTpuSpec | None = None
    """The slices of a preset. Required with `preset`, rejected without it."""

    reservation: ReservationUseSpec | None = None
    """The reservation of a preset. Required with `preset`, rejected without it."""

    description: str | None = None
    """Purpose of the class. Default: empty, or that of the preset."""

    priorities: Annotated[tuple[ClassPrioritySpec, ...], Field(max_length=1000)] | None = None
    """Node configurations, in order of preference. Required without `preset`."""

    priority_defaults: nodes.ClassPriorityDefaultsSpec | None = None
    """Defaults of all priorities."""

    when_unsatisfiable: Literal["ScaleUpAnyway", "DoNotScaleUp"] = "DoNotScaleUp"
    """Behavior if no priority has capacity. DoNotScaleUp: pods wait. ScaleUpAnyway: GKE creates nodes of the cluster's
    default machine type, which have no TPUs. Default DoNotScaleUp."""

    node_pool_auto_creation: nodes.ClassAutoCreationSpec | None = None
    """Creation of node pools for the class by GKE. Default: off; on with a preset."""

    node_pool_config: nodes.ClassNodePoolConfigSpec | None = None
    """Configuration of the nodes. Default: no requirement for existing pools; new pools have the security settings of
    declared pools."""

    node_pool_group: ClassNodePoolGroupSpec | None = None
    """A group of v6e slices that GKE manages together. Default: independent slices."""

    active_migration: ClassActiveMigrationSpec | None = None
    """Migration of running pods to preferred nodes. Default: off, or that of the preset."""

    autoscaling_policy: ClassAutoscalingPolicySpec | None = None
    """Removal of unneeded nodes. Default: that of the cluster, or of the preset."""

    allocation_strategy_defaults: ClassAllocationDefaultsSpec | None = None
    """Selection between equally suitable machines. Default: GKE selects."""

    minimum_capacity: nodes.ClassMinimumCapacitySpec | None = None
    """Nodes that exist before pods request them. Every priority must then name its machine type. Default: none."""

    autopilot: Annotated[
        nodes.ClassSwitchSpec | None, Change("deletes-work", "Cannot be changed afterwards.", source="classes")
    ] = None
    """Nodes that GKE manages as in Autopilot. Default: off."""
