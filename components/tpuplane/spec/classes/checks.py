"""The checks of one compute class, independent of clusters: its priorities and the settings of its nodes."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tpuplane.spec.classes.compute_class import ComputeClassSpec
from tpuplane.spec.classes.machine_checks import check_machines
from tpuplane.spec.classes.nodes import ClassNodePoolConfigSpec, ClassTaintSpec
from tpuplane.spec.classes.priorities import ClassPrioritySpec
from tpuplane.spec.core.errors import Mistake, Path, shown
from tpuplane.spec.core.repetitions import repetitions
from tpuplane.spec.core.rules import broken, spec_data
from tpuplane.spec.pools.hosts import FLEX_SECONDS
from tpuplane.tpu import Slice, SliceError, catalogue

_BESIDE_POOLS = {"nodepools", "priority_score", "allocation_strategy"}


def slice_of(priority: ClassPrioritySpec) -> Slice | None:
    """The slices of a priority; None if it has none. Raises `SliceError`."""
    if priority.tpu is None:
        return None
    machine = priority.machine_type
    return Slice.for_nodes(priority.tpu.type, priority.tpu.topology, machine, chips_per_node=priority.tpu.count)


def known_slice_of(priority: ClassPrioritySpec) -> Slice | None:
    """The same; None also if no such slices exist, which `check_class` reports."""
    try:
        return slice_of(priority)
    except SliceError:
        return None


def check_class(at: Path, name: str, spec: ComputeClassSpec) -> Iterator[Mistake]:
    """Every mistake of a class. Priorities have replaced its preset."""
    if re.match("gke|autopilot", name):
        yield broken("class-name", at, value=shown(name))
    priorities = spec.priorities or ()
    for index, priority in enumerate(priorities):
        path: Path = (*at, "priorities", index)
        yield from _check_parts(path, priority)
        yield from _check_buying(path, priority)
        yield from _check_reservations(path, priority)
        first = priorities.index(priority)
        if first < index:
            yield broken("class-unreached", path, first=first)
    yield from _check_scores(at, priorities)
    yield from check_machines(at, spec)
    yield from check_nodes(at, spec)


def _check_parts(at: Path, priority: ClassPrioritySpec) -> Iterator[Mistake]:
    """A priority names node pools, or describes nodes."""
    others = [field for field, value in priority if value is not None and field not in _BESIDE_POOLS]
    if priority.nodepools is not None and others:
        alias = ClassPrioritySpec.model_fields[others[0]].alias or others[0]
        yield broken("class-node-pools-alone", (*at, alias))
    if priority.machine_type is not None:
        if priority.machine_family is not None:
            yield broken("class-machine-once", (*at, "machineType"))
        for alias, value in (("minCores", priority.min_cores), ("minMemoryGb", priority.min_memory_gb)):
            if value is not None:
                yield broken("class-machine-size", (*at, alias))
        if priority.machine_type.startswith("ek"):
            yield broken("class-machine-ek", (*at, "machineType"), value=shown(priority.machine_type))
    if priority.machine_family == "ek":
        yield broken("class-machine-ek", (*at, "machineFamily"), value=shown(priority.machine_family))


def _check_buying(at: Path, priority: ClassPrioritySpec) -> Iterator[Mistake]:
    """A priority has one capacity, and only settings that the capacity allows."""
    flex = priority.flex_start is not None and priority.flex_start.enabled
    reserved = priority.reservations is not None and priority.reservations.affinity != "None"
    if priority.spot and flex:
        yield broken("class-one-way", (*at, "flexStart"), other="spot: true")
    if reserved and (flex or priority.spot):
        other = "flexStart" if flex else "spot"
        yield broken("class-one-way", (*at, "reservations"), other=other)
    try:
        shape = slice_of(priority)
    except SliceError as error:
        field = {"generation": "type", "machine_type": "count"}.get(error.field, error.field)
        if field == "count" and priority.machine_type == error.value:
            yield Mistake((*at, "machineType"), str(error))
        else:
            yield Mistake((*at, "tpu", field), str(error))
        return
    family = shape.machine.name.partition("-")[0] if shape is not None else None
    if shape is not None and priority.machine_family not in (None, family):
        parts = {"value": shown(priority.machine_family), "allowed": family, "generation": shape.generation.name}
        yield broken("class-tpu-family", (*at, "machineFamily"), **parts)
    waited_for = flex or (shape is not None and shape.multi_host)
    if priority.capacity_check_wait_time_seconds is not None and not waited_for:
        yield broken("class-wait", (*at, "capacityCheckWaitTimeSeconds"))
    if not flex:
        return
    if shape is not None and not shape.generation.flex_start:
        offered = ", ".join(generation.name for generation in catalogue().generations if generation.flex_start)
        yield broken("class-flex-generations", (*at, "flexStart"), generation=shape.generation.name, allowed=offered)
    seconds = priority.max_run_duration_seconds
    if seconds is not None and seconds not in FLEX_SECONDS:
        yield broken("class-flex-duration", (*at, "maxRunDurationSeconds"), value=seconds)


def _check_reservations(at: Path, priority: ClassPrioritySpec) -> Iterator[Mistake]:
    if (drawn := priority.reservations) is None:
        return
    at = (*at, "reservations")
    if priority.tpu is not None and drawn.affinity in ("AnyBestEffort", "AnyThenFail"):
        yield broken("class-tpu-reservation", (*at, "affinity"), value=shown(drawn.affinity))
    if drawn.affinity == "Specific" and not drawn.specific:
        problem, remedy = "required with affinity: Specific", "name a reservation, or set another affinity"
        yield broken("class-reservation-list", (*at, "specific"), problem=problem, remedy=remedy)
    if drawn.affinity != "Specific" and drawn.specific:
        problem = f"cannot be combined with affinity: {drawn.affinity}, which names none"
        remedy = "remove it, or set affinity: Specific"
        yield broken("class-reservation-list", (*at, "specific"), problem=problem, remedy=remedy)
    if drawn.specific and priority.location is not None and priority.location.zones:
        yield broken("class-reservation-zones", (*at[:-1], "location", "zones"))


def _check_scores(at: Path, priorities: tuple[ClassPrioritySpec, ...]) -> Iterator[Mistake]:
    scores = Counter(priority.priority_score for priority in priorities)
    for index, priority in enumerate(priorities):
        score, path = priority.priority_score, (*at, "priorities", index, "priorityScore")
        if score is None and len(scores) > 1:
            yield broken("class-scores", path)
        elif score is not None and scores[score] > 3 and scores.pop(score):
            count = sum(priority.priority_score == score for priority in priorities)
            yield broken("class-scores-three", path, value=score, count=count)


_OWN_TAINT = "cloud.google.com/compute-class:NoSchedule"  # of GKE, on the nodes of each class
_LONGEST_METADATA = 32768  # characters of a value
_DEFAULT_LOW = 80  # percent: the kubelet's own imageGcLowThresholdPercent


def check_nodes(at: Path, spec: ComputeClassSpec) -> Iterator[Mistake]:
    """Every mistake of the node settings of a class."""
    config, priorities = spec.node_pool_config, spec.priorities or ()
    if config is not None:
        yield from _check_config((*at, "nodePoolConfig"), config)
    for index, priority in enumerate(priorities):
        path: Path = (*at, "priorities", index)
        yield from _check_metadata((*path, "instanceMetadata"), priority.instance_metadata or {})
        yield from _check_taints((*path, "taints"), priority.taints)
        settings = priority.node_system_config or {}
        yield from _check_system((*path, "nodeSystemConfig"), spec, settings, spot=bool(priority.spot), everywhere="")
    if spec.priority_defaults is not None:
        path = (*at, "priorityDefaults", "nodeSystemConfig")
        spot = all(priority.spot for priority in priorities)
        settings = spec.priority_defaults.node_system_config or {}
        yield from _check_system(path, spec, settings, spot=spot, everywhere=" in every priority")


def _check_config(at: Path, config: ClassNodePoolConfigSpec) -> Iterator[Mistake]:
    custom, image = config.image_type == "custom_containerd", config.custom_image_config
    if custom and image is None:
        yield broken("class-image", (*at, "customImageConfig"), problem="required with imageType: custom_containerd")
    if image is not None and not custom:
        problem = f"cannot be combined with imageType: {config.image_type}"
        yield broken("class-image", (*at, "customImageConfig"), problem=problem)
    if (drain := config.node_drain_config) is not None:
        limits = (
            ("graceTerminationDuration", drain.grace_termination_duration, 86400),
            ("pdbTimeoutDuration", drain.pdb_timeout_duration, 604800),
        )
        for field, value, most in limits:
            if value is not None and _seconds(value) > most:
                yield broken("class-drain", (*at, "nodeDrainConfig", field), value=shown(value), most=f"{most}s")
    yield from _check_metadata((*at, "instanceMetadata"), config.instance_metadata or {})
    yield from _check_taints((*at, "taints"), config.taints)


def _check_taints(at: Path, taints: Iterable[ClassTaintSpec] | None) -> Iterator[Mistake]:
    """A node has one taint for each key and effect: https://kubernetes.io/docs/reference/kubernetes-api/, NodeSpec."""
    names = [f"{taint.key}:{taint.effect}" for taint in taints or ()]
    yield from repetitions(at, names)
    for index, name in enumerate(names):
        if name == _OWN_TAINT:
            yield broken("class-own-taints", (*at, index), value=shown(name))


def _check_metadata(at: Path, metadata: Mapping[str, str]) -> Iterator[Mistake]:
    for key, value in metadata.items():
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,127}", key):
            problem = "is not a key of at most 127 letters, digits, - and _"
        elif key in spec_data("class_rules")["reservedMetadata"]:
            problem = "is a metadata key that GKE sets itself"
        elif len(value) > _LONGEST_METADATA:
            problem = f"has a value of {len(value)} characters; allowed: at most {_LONGEST_METADATA}"
        else:
            continue
        yield broken("class-metadata", (*at, key), value=shown(key), problem=problem)


def _check_system(
    at: Path, spec: ComputeClassSpec, settings: Mapping[str, Any], *, spot: bool, everywhere: str
) -> Iterator[Mistake]:
    kubelet, linux = settings.get("kubeletConfig", {}), settings.get("linuxNodeConfig", {})
    yield from _check_kubelet((*at, "kubeletConfig"), kubelet, spot=spot, everywhere=everywhere)
    swap, path = linux.get("swapConfig", {}), (*at, "linuxNodeConfig", "swapConfig")
    profiles = [name for name in swap if name.endswith("Profile")]
    if len(profiles) > 1:
        yield broken("class-swap", (*path, profiles[1]), names=" and ".join(profiles))
    for name in profiles:
        sizes = [size for size in swap[name] if size.startswith("swapSize")]
        if len(sizes) > 1:
            yield broken("class-swap", (*path, name, sizes[1]), names=" and ".join(sizes))
    congestion = "net.ipv4.tcp_congestion_control"
    if spec.autopilot and spec.autopilot.enabled and congestion in linux.get("sysctls", {}):
        path = (*at, "linuxNodeConfig", "sysctls", congestion)
        yield broken("class-autopilot", path, why="chooses the congestion control itself")


def _check_kubelet(at: Path, kubelet: Mapping[str, Any], *, spot: bool, everywhere: str) -> Iterator[Mistake]:
    grace, critical = "shutdownGracePeriodSeconds", "shutdownGracePeriodCriticalPodsSeconds"
    if grace in kubelet and not spot:
        yield broken("class-grace-spot", (*at, grace), everywhere=everywhere)
    if critical in kubelet and grace not in kubelet:
        yield broken("class-grace-alone", (*at, critical))
    elif critical in kubelet and kubelet[critical] > kubelet[grace]:
        yield broken("class-grace-critical", (*at, critical), value=kubelet[critical], most=kubelet[grace])
    high, low = kubelet.get("imageGcHighThresholdPercent"), kubelet.get("imageGcLowThresholdPercent", _DEFAULT_LOW)
    if high is not None and high <= low:
        yield broken("class-image-garbage", (*at, "imageGcHighThresholdPercent"), value=high, low=low)
    for signal in sorted(kubelet.get("evictionSoft", {}).keys() - kubelet.get("evictionSoftGracePeriod", {}).keys()):
        yield broken("class-eviction-grace", (*at, "evictionSoft", signal))
    monitor = kubelet.get("containerLogMonitorInterval")
    if monitor is not None and not 3 <= _seconds(monitor) <= 300:
        yield broken("class-log-monitor", (*at, "containerLogMonitorInterval"), value=shown(monitor))


def _seconds(duration: str) -> float:
    return float(duration.removesuffix("s"))
