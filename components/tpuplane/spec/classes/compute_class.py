"""A compute class, as the user writes it: which nodes pods get, in order of preference."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.classes.nodes import (
    AllocationStrategy,
    ClassAutoCreationSpec,
    ClassMinimumCapacitySpec,
    ClassNodePoolConfigSpec,
    ClassPriorityDefaultsSpec,
    ClassSwitchSpec,
    ClassTpuSpec,
)
from tpuplane.spec.classes.priorities import ClassPrioritySpec
from tpuplane.spec.core.fields import Name, Namespace, Spec
from tpuplane.spec.pools.hosts import ReservationUseSpec

# A label's value, which is how pods name it.
ClassName = Name
ClassPreset = Literal["cost-optimized", "reserved-first"]


class ClassActiveMigrationSpec(Spec):
    """Moving running pods to better nodes. A move ends them and starts them again."""

    optimize_rule_priority: bool = False
    """Move to a higher priority as soon as it has capacity. Default false."""

    ensure_all_daemon_set_pods_running: bool | None = None
    """Move to larger nodes where pods of daemon sets do not fit. Default false."""


class ClassAutoscalingPolicySpec(Spec):
    """When nodes are removed."""

    consolidation_delay_minutes: Annotated[int, Field(ge=1, le=1440)] | None = None
    """How long a node is unneeded before it is removed, in minutes. Default: GKE's, 10."""

    consolidation_threshold: Annotated[int, Field(ge=0, le=100)] | None = None
    """Use of CPU and memory in percent below which a node counts as unneeded. Default: GKE's, 50."""

    gpu_consolidation_threshold: Annotated[int, Field(ge=0, le=100)] | None = None
    """Use of GPUs in percent below which a GPU node counts as unneeded. Default: as consolidationThreshold."""


class ClassAllocationDefaultsSpec(Spec):
    """What is chosen among equal machines, by the way they are bought."""

    on_demand: AllocationStrategy | None = None
    """On-demand nodes. Default: GKE chooses."""

    spot: AllocationStrategy | None = None
    """Spot nodes. Default: GKE chooses."""

    flex_start: AllocationStrategy | None = None
    """Flex-start nodes. Default: GKE chooses."""


class ClassNodePoolGroupSpec(Spec):
    """A group of slices that are kept together: a collection of v6e slices."""

    name: Annotated[str, Field(min_length=1)]
    """Name of the group."""


class ComputeClassSpec(Spec):
    """A GKE ComputeClass (cloud.google.com/v1). Pods ask for it with the node selector
    `cloud.google.com/compute-class`. Changes are made in place: GKE makes new nodes by them, and leaves running ones
    alone unless `activeMigration` says otherwise."""

    clusters: tuple[Name, ...] | None = None
    """Clusters that have the class. Default: every one."""

    default_namespaces: tuple[Namespace, ...] = ()
    """Namespaces whose pods get this class unless they ask for another. For a whole cluster, call the class
    `default`. Default: none."""

    preset: ClassPreset | None = None
    """Ready-made priorities for slices of `tpu`. cost-optimized: Spot, flex-start, then the reservation.
    reserved-first: the reservation, on-demand, flex-start, then Spot. A way in which the generation cannot be bought is
    left out. Default: you write the priorities."""

    tpu: ClassTpuSpec | None = None
    """The slices of a preset. Required with `preset`, and only then."""

    reservation: ReservationUseSpec | None = None
    """The reservation of a preset. Required with `preset`, and only then."""

    description: str | None = None
    """When to use the class. Default: nothing, or the preset's."""

    priorities: Annotated[tuple[ClassPrioritySpec, ...], Field(max_length=1000)] | None = None
    """Ways to get nodes, the preferred one first. Required without `preset`."""

    priority_defaults: ClassPriorityDefaultsSpec | None = None
    """What holds for every priority that does not say otherwise."""

    when_unsatisfiable: Literal["ScaleUpAnyway", "DoNotScaleUp"] = "DoNotScaleUp"
    """What happens when no priority has capacity: pods wait (DoNotScaleUp), or GKE makes nodes of the cluster's default
    machines, which have no TPUs (ScaleUpAnyway). Default DoNotScaleUp."""

    node_pool_auto_creation: ClassAutoCreationSpec | None = None
    """Node pools that GKE makes for the class. Default: none, with a preset they are made."""

    node_pool_config: ClassNodePoolConfigSpec | None = None
    """What the nodes have. Default: none is asked of existing pools; pools that GKE makes are as safe as declared
    ones."""

    node_pool_group: ClassNodePoolGroupSpec | None = None
    """A group of v6e slices that are kept together. Default: slices are on their own."""

    active_migration: ClassActiveMigrationSpec | None = None
    """Moving running pods to better nodes. Default: they stay, with a preset as it says."""

    autoscaling_policy: ClassAutoscalingPolicySpec | None = None
    """When nodes are removed. Default: the cluster's, with a preset as it says."""

    allocation_strategy_defaults: ClassAllocationDefaultsSpec | None = None
    """What is chosen among equal machines. Default: GKE chooses."""

    minimum_capacity: ClassMinimumCapacitySpec | None = None
    """Nodes that are there before any pod asks for them. Every priority then names its machine. Default: none."""

    autopilot: ClassSwitchSpec | None = None
    """Nodes that GKE manages as in Autopilot. Cannot be changed afterwards. Default: off."""
