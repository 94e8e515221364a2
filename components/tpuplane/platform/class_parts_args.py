"""Parts of a compute class: see args.py."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict


class ClassTpuArgs(TypedDict):
    """Slices of one shape."""

    type: str
    """TPU generation, such as v6e, or GKE's name of it, such as tpu-v6e-slice."""

    topology: str
    """Chips of one slice along each axis, such as 4x4 or 2x2x2."""

    count: NotRequired[int]
    """Chips of one host, which is what a pod asks for as google.com/tpu. Default: those of the generation's
    multi-host machine, else of the one that has the topology."""


class ClassLocationArgs(TypedDict):
    """Where nodes are made."""

    zones: NotRequired[Sequence[str]]
    """Zones, of the cluster's region. Default: GKE chooses."""

    location_policy: NotRequired[str]
    """ANY takes the zone with capacity, BALANCED spreads over the zones. Default: GKE chooses."""

    zone_types: NotRequired[Sequence[str]]
    """Kinds of zones instead of their names. Default: those of the cluster."""


class ClassTaintArgs(TypedDict):
    """A taint of the nodes."""

    key: str
    """Its key."""

    value: NotRequired[str]
    """Its value. Default: none."""

    effect: str
    """What it does to pods that do not tolerate it."""


class ClassMinimumCapacityArgs(TypedDict):
    """Nodes that are there before any pod asks for them."""

    target_node_count: int
    """How many."""


class ClassPriorityDefaultsArgs(TypedDict):
    """What holds for every priority that does not say otherwise; not for those that name node pools."""

    location: NotRequired[ClassLocationArgs]
    """Where nodes are made."""

    node_system_config: NotRequired[Mapping[str, Any]]
    """Kubelet and Linux settings, in GKE's own names: `kubeletConfig` and `linuxNodeConfig`."""

    enable_nested_virtualization: NotRequired[bool]
    """Whether virtual machines may run on the nodes. Default: GKE's, false."""
