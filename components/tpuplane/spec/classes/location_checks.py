"""Whether the slices of a compute class are available in a cluster's location, and in the reservations it names."""

from collections.abc import Collection, Iterator, Mapping

from tpuplane.spec.classes.checks import known_slice_of
from tpuplane.spec.classes.compute_class import ComputeClassSpec
from tpuplane.spec.classes.machine_checks import check_gpu_places
from tpuplane.spec.classes.of_cluster import candidate_zones, has_flex_start, named_zones
from tpuplane.spec.classes.priorities import ClassPrioritySpec, ClassReservationSpec
from tpuplane.spec.cluster.cluster import ClusterPlaceSpec
from tpuplane.spec.core.errors import Mistake, Path, shown
from tpuplane.spec.core.locations import (
    allowed_zones,
    check_location,
    check_named_zone,
    is_inside,
    offering_zones,
    region_of,
    zone_required,
)
from tpuplane.spec.core.rules import broken
from tpuplane.spec.pools.hosts import ReservationSpec
from tpuplane.spec.pools.machine_checks import check_class_places, gpu_machines
from tpuplane.tpu import Slice, catalogue


def check_places(
    at: Path, key: str, cluster: ClusterPlaceSpec, reservations: Mapping[str, ReservationSpec], spec: ComputeClassSpec
) -> Iterator[Mistake]:
    """Every mistake of a class in the cluster `key`."""
    if spec.priority_defaults is not None and spec.priority_defaults.location is not None:
        path = (*at, "priorityDefaults", "location", "zones")
        yield from _check_inside(path, key, cluster, spec.priority_defaults.location.zones or ())
    for index, priority in enumerate(spec.priorities or ()):
        path = (*at, "priorities", index)
        if priority.location is not None:
            yield from _check_inside((*path, "location", "zones"), key, cluster, priority.location.zones or ())
        named = named_zones(spec, priority)
        yield from check_gpu_places(path, key, cluster, priority, named)
        yield from check_class_places(path, key, cluster, priority, named)
        shape = known_slice_of(priority)
        if shape is not None:
            yield from _check_slices(path, key, cluster, spec, priority, shape)
        for place, use in enumerate(priority.reservations.specific or () if priority.reservations else ()):
            where = (*path, "reservations", "specific", place, "name")
            yield from _check_reservation(where, cluster, reservations, use, priority, shape)


def _check_inside(at: Path, key: str, cluster: ClusterPlaceSpec, zones: tuple[str, ...]) -> Iterator[Mistake]:
    for index, zone in enumerate(zones):
        if not is_inside(zone, cluster.location):
            yield broken(
                "class-zone", (*at, index), value=shown(zone), location=region_of(cluster.location), cluster=key
            )
        else:
            yield from check_location((*at, index), zone)


def _check_slices(
    at: Path, key: str, cluster: ClusterPlaceSpec, spec: ComputeClassSpec, priority: ClassPrioritySpec, shape: Slice
) -> Iterator[Mistake]:
    """The zones offer the generation, and flex-start if the priority has it."""
    generation, location = shape.generation, cluster.location
    zones = candidate_zones(cluster, spec, priority, generation)
    offering = [zone for zone in zones if is_inside(zone, location) and catalogue().zone_offers(zone, generation.name)]
    if not offering:
        named = shown(priority.tpu.type if priority.tpu else generation.name)
        possible = offering_zones(generation.name, region_of(location))
        if zones == (location,) and possible:  # a zonal cluster, in whose region there are others
            yield zone_required((*at, "location", "zones"), location, generation.name, possible)
        elif zones == (location,) or not zones or not possible:
            yield broken("class-tpu-zone", (*at, "tpu", "type"), value=named, location=location, cluster=key)
        elif all(is_inside(zone, location) for zone in zones):
            own = priority.location is not None and priority.location.zones
            path = (*at, "location") if own else (*at[:-2], "priorityDefaults", "location")
            known = catalogue().zones(generation.name)
            yield from check_named_zone((*path, "zones", 0), zones[0], location, generation.name, known, offers=False)
        return
    flex = priority.flex_start is not None and priority.flex_start.enabled
    if flex and generation.flex_start and not has_flex_start(generation, tuple(offering)):
        allowed = allowed_zones(catalogue().zones(generation.name, flex_start=True), location)
        parts = {"location": location, "generation": generation.name, "allowed": allowed}
        yield broken("class-flex-zones", (*at, "flexStart"), **parts)


def _check_reservation(
    at: Path,
    cluster: ClusterPlaceSpec,
    reservations: Mapping[str, ReservationSpec],
    use: ClassReservationSpec,
    priority: ClassPrioritySpec,
    shape: Slice | None,
) -> Iterator[Mistake]:
    """The reservation has what the priority needs, in a zone of the cluster and of the priority."""
    if (held := reservations.get(use.name)) is None:
        allowed = ", ".join(reservations) or "none is declared"
        yield broken("reservation-declared", at, value=shown(use.name), allowed=allowed)
        return
    hardware, names = _wanted(priority, shape)
    generation = catalogue().known(held.generation or "")
    compared = (
        ("generation", generation.name if generation else held.generation, hardware),
        ("accelerator", held.accelerator, hardware),
        ("machine type", held.machine_type, names),
        ("zone", held.zone, use.zones),
    )
    unfit = [
        (f"{what} {holds}", ", ".join(wants) or "machines without TPUs and GPUs")
        for what, holds, wants in compared
        if holds is not None and wants is not None and holds not in wants
    ]
    if shape is not None and held.chips is not None and held.chips < shape.chips:
        unfit.append((f"{held.chips} chips", f"slices of {shape.chips}"))
    least = min((machine.gpus for machine in gpu_machines(priority)), default=0)
    if held.gpus is not None and held.gpus < least:
        unfit.append((f"{held.gpus} GPUs", f"nodes of {least}"))
    if unfit:  # another generation is in another zone and of another machine
        holds, wanted = unfit[0]
        yield broken("class-reservation-fits", at, value=shown(use.name), holds=holds, wants=wanted)
    elif not is_inside(held.zone, cluster.location):
        yield broken("class-reservation-place", at, value=shown(use.name), zone=held.zone, location=cluster.location)


def _wanted(priority: ClassPrioritySpec, shape: Slice | None) -> tuple[Collection[str] | None, Collection[str] | None]:
    """The accelerators and the machine types that fit a priority; None if any fits, or if another check reports it."""
    if shape is not None:
        return (shape.generation.name,), (shape.machine.name,)
    if machines := gpu_machines(priority):
        return dict.fromkeys(one.accelerator.name for one in machines), [one.name for one in machines]
    if priority.gpu is not None and priority.gpu.type is not None:
        return (priority.gpu.type,), None
    machine = priority.machine_type or priority.machine_family or "tpu"  # the reservation decides
    return (None if priority.tpu or priority.gpu or machine.startswith(("ct", "tpu")) else ()), None
