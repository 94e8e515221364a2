"""Compute classes as the autoscaler sees them. Pure."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.offers import Offer, generation_called, machine_for, reservation_path

log = logging.getLogger(__name__)

Json = Mapping[str, Any]

_EFFECTS = {"NoSchedule": "NO_SCHEDULE", "PreferNoSchedule": "PREFER_NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}


@dataclass(frozen=True, slots=True)
class Priority:
    """One priority of a compute class, with its fields for TPUs and node pools. `rank` 0 is the highest."""

    rank: int
    spec: Json
    place: int = 0
    """Its place among the priorities of the class, by which the class's status names it."""

    @property
    def capacity(self) -> str:
        """The provisioning model."""
        if self.spec.get("spot"):
            return "spot"
        if self.spec.get("flexStart", {}).get("enabled"):
            return "flex-start"
        return "reservation" if self.reservations else "on-demand"

    @property
    def reservations(self) -> list[Json]:
        """The specific reservations of its nodes."""
        found: list[Json] = self.spec.get("reservations", {}).get("specific") or []
        return found

    def matches(self, group: Group) -> bool:
        """Whether an existing node pool matches this priority."""
        spec = self.spec
        if "nodepools" in spec:
            return group.name in spec["nodepools"]
        tpu, gpu, machine, family = (spec.get(name) for name in ("tpu", "gpu", "machineType", "machineFamily"))
        if not (tpu or gpu or machine or family) or self.capacity != group.pool.capacity:
            return False
        zones, names = spec.get("location", {}).get("zones"), group.pool.reservation_names
        return (
            # GKE's definition requires no field of `tpu` and `gpu`; incomplete ones match nothing.
            (tpu is None or (tpu.get("type"), tpu.get("count"), tpu.get("topology")) == group.tpu)
            and (gpu is None or (gpu.get("type"), gpu.get("count", 1)) == group.gpu)
            and machine in (None, group.pool.machine.name)
            and family in (None, group.pool.machine.family)
            and (not self.reservations or any(_path(path) in names for path in self.reservations))
            and (zones is None or set(group.zones) <= set(zones))
        )

    def offers(self, name: str, zones: tuple[str, ...]) -> list[Offer]:
        """The TPU pools that this priority can create for the class `name`, by reservation and zone."""
        tpu: Json = self.spec.get("tpu") or {}
        label, topology, count = tpu.get("type", ""), tpu.get("topology", ""), tpu.get("count", 0)
        generation = generation_called(label) if label else None
        machine = machine_for(generation, topology, count) if generation and topology else None
        if generation is None or machine is None:
            return []
        flex = self.spec.get("flexStart", {})
        run, lead = self.spec.get("maxRunDurationSeconds"), flex.get("nodeRecycling", {}).get("leadTimeSeconds")
        places = [
            (zone, reservation)
            for reservation in (self.reservations or [{}])
            for zone in reservation.get("zones") or self.spec.get("location", {}).get("zones") or zones
        ]
        return [
            Offer(
                machine=machine,
                generation=generation,
                topology=topology,
                zone=zone,
                capacity=self.capacity,
                reservation=_path(reservation) if reservation else "",
                policy=(self.spec.get("placement") or {}).get("policyName", ""),
                max_run_seconds=None if run is None else int(run),
                recycle_lead_seconds=None if lead is None else int(lead),
                wait_seconds=int(self.spec.get("capacityCheckWaitTimeSeconds", 0)),
                compute_class=name,
                rank=self.rank,
                labels=tuple(sorted((self.spec.get("nodeLabels") or {}).items())),
                taints=tuple(
                    (taint["key"], taint.get("value", ""), _EFFECTS[taint["effect"]])
                    for taint in self.spec.get("taints") or []
                ),
            )
            for zone, reservation in places
        ]


@dataclass(frozen=True, slots=True)
class ComputeClass:
    """A compute class."""

    name: str
    priorities: tuple[Priority, ...] = ()
    creates: bool = False
    """Whether node pools are created for it."""
    anyway: bool = False
    """Whether pods get other nodes if no priority has capacity."""
    migrates: bool = False
    """Whether pods move to a higher priority when it has capacity again."""
    idle_seconds: float | None = None
    """The delay before unneeded nodes are deleted; None: the default."""
    threshold: float | None = None
    """The share of used resources below which a node is drained; None: the default."""
    last: int = field(default=0)
    """The rank of pools that match no priority."""

    @classmethod
    def parse(cls, item: Json) -> Self:
        """Read the API server's JSON. Priorities with the same score have the same rank."""
        spec: Json = item.get("spec", {})
        given: list[Json] = spec.get("priorities") or []
        scores = [int(priority.get("priorityScore", 0)) for priority in given]
        if any(scores):
            steps = sorted(set(scores), reverse=True)
            ranks = [steps.index(score) for score in scores]
        else:
            ranks = list(range(len(given)))
        defaults = spec.get("priorityDefaults") or {}
        priorities = sorted(
            (Priority(ranks[place], {**defaults, **priority}, place) for place, priority in enumerate(given)),
            key=lambda priority: priority.rank,
        )
        policy = spec.get("autoscalingPolicy") or {}
        delay, threshold = policy.get("consolidationDelayMinutes"), policy.get("consolidationThreshold")
        return cls(
            name=item["metadata"]["name"],
            priorities=tuple(priorities),
            creates=bool((spec.get("nodePoolAutoCreation") or {}).get("enabled")),
            anyway=spec.get("whenUnsatisfiable") == "ScaleUpAnyway",
            migrates=bool((spec.get("activeMigration") or {}).get("optimizeRulePriority")),
            idle_seconds=None if delay is None else 60.0 * delay,
            threshold=None if threshold is None else threshold / 100,
            last=max(ranks, default=-1) + 1,
        )

    def rank(self, group: Group) -> int:
        """The rank of an existing node pool: that of the first matching priority, else `last`."""
        return next((priority.rank for priority in self.priorities if priority.matches(group)), self.last)

    def identifier(self, group: Group) -> str:
        """How the class's status names the priority of an existing node pool."""
        matching = (str(priority.place) for priority in self.priorities if priority.matches(group))
        return next(matching, "ScaleUpAnyway")

    def rule(self, group: Group) -> str:
        """The name of the priority that a stockout of the pool suspends, or empty.

        Never one of named pools or of several reservations, nor the last one, after which nothing is tried.
        """
        at = next((at for at, priority in enumerate(self.priorities) if priority.matches(group)), len(self.priorities))
        if at + 1 >= len(self.priorities) + self.anyway or "nodepools" in self.priorities[at].spec:
            return ""
        return "" if len(self.priorities[at].reservations) > 1 else f"{self.name}/{at}"


def readable_classes(items: Iterable[Json]) -> dict[str, ComputeClass]:
    """The classes by name. An unreadable class is logged and left out, so that autoscaling continues."""
    classes = {}
    for item in items:
        name = str(item["metadata"]["name"])
        try:
            classes[name] = ComputeClass.parse(item)
        except Exception:
            log.exception("the compute class %s cannot be read", name)
    return classes


def _path(reservation: Json) -> str:
    block = reservation.get("reservationBlock") or {}
    part = block.get("reservationSubBlock") or {}
    return reservation_path(reservation["name"], reservation.get("project"), block.get("name"), part.get("name"))
