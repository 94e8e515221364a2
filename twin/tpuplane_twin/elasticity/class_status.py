"""What GKE's cluster autoscaler writes into the status of compute classes. Pure.

Types, reasons and messages are in `data/conditions.yaml`, with their sources.
"""

import datetime as dt
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

from tpuplane.data_files import read_data

from tpuplane_twin.elasticity.classes import ComputeClass, Priority
from tpuplane_twin.elasticity.demand import Provisioning
from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.offers import CLASS, generation_called
from tpuplane_twin.gcp.locations import region_of

Json = dict[str, Any]

_data = cache(partial(read_data, "tpuplane_twin.elasticity", "conditions"))


class Priorities:
    """The conditions of the priorities of classes. A condition of a back-off ends with it."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], dict[str, tuple[Json, float]]] = {}

    def asked(self, own: ComputeClass, group: Group, zones: Sequence[str], nodes: int) -> None:
        """A pool waits for the capacity of `nodes` nodes."""
        label, _, topology = group.tpu
        tpu = f", TPU: type: {label}, topology: {topology}" if label else ""
        config = f"{{NodePool: {group.name}, MachineType: {group.pool.machine_type}{tpu}, Zones: {', '.join(zones)}}}"
        self._add(own, group, "NodeProvisioningInProgress", "PodPending", math.inf, nodes=nodes, config=config)

    def failed(self, own: ComputeClass, group: Group, cause: str, ends: Mapping[str, float], wall: float) -> None:
        """A pool is in back-off; `ends` is the answer of `Failures.failed`, and `wall` the time when its clock is 0."""
        self.succeeded(own, group)
        texts = _data()["reasons"].items()
        reason = next((name for name, parts in texts if any(part in cause.lower() for part in parts)), _data()["other"])
        whole = ends.get(f"{own.rule(group)}/{region_of(group.zones[0])}")
        end = max(ends.values()) if whole is None else whole
        kind = "ProvisioningConstrained" if whole is None else "ProvisioningSuspended"
        if whole is None and "ProvisioningSuspended" in self._of(own, group):
            return
        until = dt.datetime.fromtimestamp(wall + end, dt.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        self._add(own, group, kind, reason, end, until=until)

    def succeeded(self, own: ComputeClass, group: Group) -> None:
        """A pool waits no longer."""
        self._of(own, group).pop("NodeProvisioningInProgress", None)

    def unneeded(self) -> None:
        """No pod waits for nodes."""
        for found in self._found.values():
            found.pop("NodeProvisioningInProgress", None)

    def dues(self, now: float) -> Iterator[float]:
        """When back-offs end."""
        yield from (end for found in self._found.values() for _, end in found.values() if now < end < math.inf)

    def of_class(self, own: ComputeClass, now: float) -> dict[str, list[Json]]:
        """The conditions of each priority of the class that has had one, in their order."""
        for found in self._found.values():
            for kind in [kind for kind, (_, end) in found.items() if end <= now]:
                del found[kind]
        mine = sorted((identifier, found) for (name, identifier), found in self._found.items() if name == own.name)
        return {identifier: [condition for condition, _ in found.values()] for identifier, found in mine}

    def _of(self, own: ComputeClass, group: Group) -> dict[str, tuple[Json, float]]:
        return self._found.setdefault((own.name, own.identifier(group)), {})

    def _add(self, own: ComputeClass, group: Group, kind: str, reason: str, end: float, **facts: object) -> None:
        message = _data()["priority"][kind].format(reason=reason, **facts)
        self._of(own, group)[kind] = condition(kind, reason, message), end


def conditions(own: ComputeClass, groups: Sequence[Group], where: Provisioning) -> list[Json]:
    """The conditions of a class: the first of each type, and its health. `groups` are the autoscaled pools."""
    found: dict[str, Json] = {}
    for reason, about in _problems(own, groups, where):
        row = _data()["class"][reason]
        found.setdefault(row["type"], condition(row["type"], reason, row["message"].format(*about)))
    ill = any(not _data()["class"][problem["reason"]].get("harmless") for problem in found.values())
    health = condition("Health", "Health", _data()["health"][str(not ill)], status=not ill)
    return [*found.values(), health]


def dated(of_class: list[Json], of_priorities: Mapping[str, list[Json]], known: Json, now: str) -> Json:
    """The status with these conditions. Those that differ from the `known` status have the time `now`."""
    before = {part["identifier"]: part["conditions"] for part in known.get("priorityStatuses", ())}
    priorities = [
        {"identifier": identifier, "conditions": _dated(said, before.get(identifier, ()), now)}
        for identifier, said in of_priorities.items()
    ]
    return {"conditions": _dated(of_class, known.get("conditions", ()), now), "priorityStatuses": priorities}


def _dated(said: Sequence[Json], known: Sequence[Json], now: str) -> list[Json]:
    of_type = {old["type"]: old for old in known}
    return [
        old if new.items() <= (old := of_type.get(new["type"], {})).items() else {**new, "lastTransitionTime": now}
        for new in said
    ]


def _problems(own: ComputeClass, groups: Sequence[Group], where: Provisioning) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each reason that applies, and what its message names."""
    named = [name for priority in own.priorities for name in priority.spec.get("nodepools", ())]
    pools = {group.name: group for group in groups}
    mine = [group for group in groups if group.compute_class == own.name]
    others = [group for group in mine if own.rank(group) == own.last and not own.anyway]
    yield from (("NoRuleMatching", (group.name,)) for group in others)
    yield from (("CrdLabelNotMatching", (name,)) for name in named if name in pools and pools[name] not in mine)
    for group in mine if own.name != where.default_class else ():
        node = next(iter(group.templates.values()))
        values = [taint.value for taint in node.taints if taint.key == CLASS]
        if set(values) != {own.name}:
            yield "TaintValueNotMatching" if values else "TaintMissing", (group.name,)
    yield from (("NodePoolNotExist", (name,)) for name in named if name not in pools)
    if not own.creates and len(others) == len(mine):
        yield "NapDisabledAndNoMatchingNodegroups", ()
    for priority in own.priorities:
        for reservation in priority.reservations:
            project, name = reservation.get("project"), reservation["name"]
            held = where.reservations.get((project or where.key.split("/")[1], name))
            about = f"{project}/{name}" if project else name
            if held is None:
                yield "ReservationNotFound", (about,)
            elif cause := _unusable(priority, held):
                yield "ReservationUnusable", (about, cause)


def _unusable(priority: Priority, held: Mapping[str, Any]) -> str:
    """Why a reservation cannot serve a priority, or empty."""
    texts, tpu, whole = _data()["unusable"], priority.spec.get("tpu"), held.get("aggregateReservation")
    if not held.get("specificReservationRequired"):
        return str(texts["any"])
    if tpu is None or whole is None:
        return str(texts["machines"] if tpu else texts["hardware"] if whole else "")
    label, topology, count = tpu.get("type", ""), tpu.get("topology", ""), tpu.get("count", 0)
    if not all(side.isdecimal() for side in topology.split("x")):
        return str(texts["malformed"].format(topology))
    chips = math.prod(int(side) for side in topology.split("x"))
    if whole.get("workloadType") == ("SERVING" if chips > count else "BATCH"):
        return str(texts["singleHost" if chips > count else "multiHost"])
    generation = generation_called(label)
    family = generation.machines[0].name.partition("-")[0] if generation else None
    parts = (part.get("accelerator", {}) for part in whole.get("reservedResources", ()))
    fitting = (part for part in parts if part.get("acceleratorType", "").rpartition("/")[2] == family)
    if any(int(part["acceleratorCount"]) >= chips for part in fitting):
        return ""
    return str(texts["missing"].format(f"{{{label}, {topology}, {count}}}"))


def condition(kind: str, reason: str, message: str, *, status: bool = True) -> Json:
    """A condition as the API has it, without its time."""
    return {"type": kind, "status": str(status), "reason": reason, "message": message}
