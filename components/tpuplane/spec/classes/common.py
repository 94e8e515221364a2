"""Parts of a compute class that stand in it as a whole and in its priorities."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.classes.node_system import NodeSystem
from tpuplane.spec.core.fields import Spec, TaintValue, Zone

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
