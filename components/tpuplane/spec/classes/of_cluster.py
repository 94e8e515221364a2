"""The compute classes of one cluster, with priorities instead of presets, and the pools of each class."""

from collections.abc import Iterator
from typing import Any

from tpuplane.spec.classes.compute_class import ComputeClassSpec
from tpuplane.spec.classes.priorities import ClassPrioritySpec
from tpuplane.spec.cluster.cluster import ClusterPlaceSpec, ClusterSpec
from tpuplane.spec.core.locations import is_zone, offering_zones
from tpuplane.spec.core.rules import spec_data
from tpuplane.spec.platform import PlatformSpec
from tpuplane.spec.pools.hosts import ReservationUseSpec
from tpuplane.tpu import Generation, catalogue


def expanded(spec: ComputeClassSpec, *, flex_start: bool) -> ComputeClassSpec:
    """The class with the priorities and settings of its preset; without a preset the class itself.

    Without `flex_start`, the priority with flex-start is omitted.
    """
    if spec.preset is None or spec.tpu is None or spec.reservation is None:
        return spec
    own = spec.model_dump(by_alias=True, exclude_unset=True, exclude={"preset", "tpu", "reservation", "priorities"})
    preset = spec_data("class_presets")[spec.preset]
    tpu = spec.tpu.model_dump(by_alias=True, exclude_none=True)
    priorities = [
        _priority(priority, tpu, spec.reservation)
        for priority in preset["priorities"]
        if flex_start or "flexStart" not in priority
    ]
    return ComputeClassSpec.model_validate({**preset, **own, "priorities": priorities})


def _priority(priority: dict[str, Any], tpu: dict[str, Any], reservation: ReservationUseSpec) -> dict[str, Any]:
    if not priority.get("reservation"):
        return {"tpu": tpu, **priority}
    block = {"name": reservation.block} if reservation.block else None
    if block and reservation.sub_block:
        block |= {"reservationSubBlock": {"name": reservation.sub_block}}  # type: ignore[dict-item]
    specific = {"name": reservation.name, **({"reservationBlock": block} if block else {})}
    return {"tpu": tpu, "reservations": {"affinity": "Specific", "specific": [specific]}}


def classes_of(spec: PlatformSpec, key: str) -> dict[str, ComputeClassSpec]:
    """The classes of the cluster `key`, by name."""
    return {name: class_in(spec.clusters[key], own_class) for name, own_class in _present(spec, key)}


def _present(spec: PlatformSpec, key: str) -> Iterator[tuple[str, ComputeClassSpec]]:
    return (item for item in spec.classes.items() if item[1].clusters is None or key in item[1].clusters)


def class_in(cluster: ClusterPlaceSpec, spec: ComputeClassSpec) -> ComputeClassSpec:
    """A class in a cluster, with priorities instead of its preset."""
    generation = catalogue().known(spec.tpu.type) if spec.tpu is not None else None
    if generation is None:
        return expanded(spec, flex_start=False)
    zones = candidate_zones(cluster, spec, None, generation)
    return expanded(spec, flex_start=has_flex_start(generation, zones))


def namespace_classes(spec: PlatformSpec, key: str) -> dict[str, str]:
    """The default class of pods in each namespace of the cluster `key`."""
    return {own: name for name, own_class in _present(spec, key) for own in own_class.default_namespaces}


def pool_classes(cluster: ClusterSpec, classes: dict[str, ComputeClassSpec]) -> dict[str, str]:
    """The class of each pool that belongs to one, by the pool's name."""
    own = owners(cluster)
    named = {
        pool: name
        for name, own_class in classes.items()
        for priority in own_class.priorities or ()
        for pool in priority.nodepools or ()
        if pool in own
    }
    return named | {key: owner for key, owner in own.items() if owner is not None}


def owners(cluster: ClusterSpec) -> dict[str, str | None]:
    """The class that each pool names, by the pool's name; None if it names none."""
    return {key: pool.compute_class for (_, key), pool in cluster.all_pools.items()}


def named_zones(spec: ComputeClassSpec, priority: ClassPrioritySpec | None) -> tuple[str, ...]:
    """The zones of a priority, else those of its class."""
    defaults = spec.priority_defaults.location if spec.priority_defaults else None
    location = (priority.location if priority else None) or defaults
    return (location.zones if location else None) or ()


def candidate_zones(
    cluster: ClusterPlaceSpec, spec: ComputeClassSpec, priority: ClassPrioritySpec | None, generation: Generation
) -> tuple[str, ...]:
    """The possible zones of a priority's slices: those that it or its class names, else all with the generation."""
    if zones := named_zones(spec, priority):
        return zones
    return (cluster.location,) if is_zone(cluster.location) else offering_zones(generation.name, cluster.location)


def has_flex_start(generation: Generation, zones: tuple[str, ...]) -> bool:
    """Whether one of the zones is known to offer flex-start for the generation."""
    return generation.flex_start and not set(zones).isdisjoint(catalogue().zones(generation.name, flex_start=True))
