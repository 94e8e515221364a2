"""Moves of running pods: to a higher priority of their class, and away from expiring nodes. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tpuplane_twin.elasticity.demand import Provisioning
from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.objects import Node, Pod
from tpuplane_twin.elasticity.scale_down import Shrinkage, evictable, shrunk_by
from tpuplane_twin.elasticity.scale_up import Growth, plan_scale_up
from tpuplane_twin.elasticity.simulation import Simulation

FLEX_START_SECONDS = 604_800
"""GKE's default lifetime of flex-start nodes."""


@dataclass(slots=True)
class Moves:
    """Pools that grow for pods that move, and nodes that are drained because their pods fit elsewhere."""

    growths: list[Growth] = field(default_factory=list)
    emptied: list[Shrinkage] = field(default_factory=list)


def lifetime(group: Group) -> int | None:
    """Lifetime of the pool's nodes in seconds; None: unlimited."""
    if group.pool.max_run_seconds is None and group.pool.capacity == "flex-start":
        return FLEX_START_SECONDS
    return group.pool.max_run_seconds


def ended(nodes: Sequence[Node], groups: Sequence[Group], born: Mapping[str, float], now: float) -> list[Shrinkage]:
    """The expired nodes. A slice is deleted as a whole, with the first expired host."""
    return [gone for group in groups if (gone := shrunk_by(group, _aged(group, nodes, born, now, 0))) is not None]


def plan_moves(
    nodes: Sequence[Node],
    pods: Sequence[Pod],
    groups: Sequence[Group],
    where: Provisioning,
    backoff: frozenset[str],
    born: Mapping[str, float],
    now: float,
) -> Moves:
    """The moves of one pool's pods: pools of the lowest priority first, then expiring ones."""
    own = {group.name: [node for node in nodes if group.has(node)] for group in groups}
    candidates = [
        *sorted(
            (group for group in groups if _misplaced(group, where)), key=lambda group: (-where.rank(group), group.name)
        ),
        *(group for group in groups if group.recycle_lead_seconds is not None),
    ]
    for group in candidates:
        recycled = not _misplaced(group, where)
        leaving = _aged(group, nodes, born, now, group.recycle_lead_seconds or 0) if recycled else own[group.name]
        if leaving and not group.is_slice:
            leaving = leaving[:1]
        names = {node.name for node in leaving}
        moving = [pod for pod in pods if pod.node in names and pod.counts]
        if not moving or not all(evictable(pod, guarded=False) for pod in moving):
            continue
        better = [
            other
            for other in groups
            if other.key != group.key and (recycled or other.compute_class == group.compute_class)
            if recycled or where.rank(other) < where.rank(group)
        ]
        places = [node for node in nodes if any(other.has(node) for other in better)]
        simulation = Simulation(places, [pod for pod in pods if pod.node not in names])
        waiting = [replace(pod, node="", unschedulable=True) for pod in moving]
        limit = None if recycled else where.rank(group)
        plan = plan_scale_up(simulation, waiting, better, backoff, where, below=limit)
        if plan.unhelped:
            continue
        if plan.growths:
            return Moves(growths=plan.growths)
        gone = shrunk_by(group, leaving)
        if gone is not None:
            return Moves(emptied=[gone])
    return Moves()


def _misplaced(group: Group, where: Provisioning) -> bool:
    found = where.classes.get(group.compute_class)
    return found is not None and found.migrates and group.size > 0 and where.rank(group) > 0


def _aged(group: Group, nodes: Sequence[Node], born: Mapping[str, float], now: float, lead: float) -> list[Node]:
    """The pool's nodes that expire within `lead` seconds; all hosts of a slice if one expires."""
    life = lifetime(group)
    own = [node for node in nodes if group.has(node)]
    if life is None:
        return []
    aged = [node for node in own if now - born.get(node.name, now) >= life - lead]
    return own if aged and group.is_slice else aged
