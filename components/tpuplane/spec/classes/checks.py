"""The checks of one compute class, independent of clusters."""

import re
from collections import Counter
from collections.abc import Iterator

from tpuplane.spec.classes.compute_class import ComputeClassSpec
from tpuplane.spec.classes.machine_checks import check_machines
from tpuplane.spec.classes.node_checks import check_nodes
from tpuplane.spec.classes.priorities import ClassPrioritySpec
from tpuplane.spec.core.errors import Mistake, Path, shown
from tpuplane.spec.core.rules import broken
from tpuplane.tpu import Slice, SliceError, catalogue

_BESIDE_POOLS = {"nodepools", "priority_score", "allocation_strategy"}
_FLEX_SECONDS = range(600, 604801)


def slice_of(priority: ClassPrioritySpec) -> Slice | None:
    """The slices of a priority; None if it has none. Raises `SliceError`."""
    if priority.tpu is None:
        return None
    machine = priority.machine_type
    return Slice.for_nodes(priority.tpu.type, priority.tpu.topology, machine, chips_per_node=priority.tpu.count)


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
    if seconds is not None and seconds not in _FLEX_SECONDS:
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
