"""The checks of the node settings of a compute class: images, metadata, draining, kubelet and Linux."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tpuplane.spec.classes.compute_class import ComputeClassSpec
from tpuplane.spec.classes.nodes import ClassNodePoolConfigSpec, ClassTaintSpec
from tpuplane.spec.core.errors import Mistake, Path, shown
from tpuplane.spec.core.repetitions import repetitions
from tpuplane.spec.core.rules import broken, spec_data

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
            problem = "is one that GKE sets itself"
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
    if critical in kubelet and kubelet[critical] > kubelet.get(grace, -1):
        allowed = f"at most {kubelet[grace]}" if grace in kubelet else f"only with {grace}"
        yield broken("class-grace-critical", (*at, critical), value=kubelet[critical], allowed=allowed)
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
