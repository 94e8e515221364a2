"""Pods that move although they run: to a higher priority of their class, and off nodes whose time ends. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tpuplane_twin.elasticity.demand import Provisioning
from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.objects import Node, Pod
from tpuplane_twin.elasticity.scale_down import Shrinkage, evictable, shrunk_by
from tpuplane_twin.elasticity.scale_up import Growth, plan_scale_up
from tpuplane_twin.elasticity.simulation import Simulation

FLEX_START_SECONDS = 604_800
"""How long flex-start nodes live where nobody says (GKE's)."""


@dataclass(slots=True)
class Moves:
    """Pools that grow so that pods can move, and nodes that are emptied because their pods have a place."""

    growths: list[Growth] = field(default_factory=list)
    emptied: list[Shrinkage] = field(default_factory=list)


def lifetime(group: Group) -> int | None:
    """Seconds that a node of the pool lives; None: for ever."""
    if group.max_run_seconds is None and group.capacity == "flex-start":
        return FLEX_START_SECONDS
    return group.max_run_seconds


def ended(nodes: Sequence[Node], groups: Sequence[Group], born: Mapping[str, float], now: float) -> list[Shrinkage]:
    """The nodes whose time is over. A slice goes whole, with the first of its hosts."""
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
    """One pool's pods at a time: the least wanted pool first, then what is nearest to its end."""
    own = {group.name: [node for node in nodes if group.has(node)] for group in groups}
    candidates = [
        *sorted((it for it in groups if _misplaced(it, where)), key=lambda it: (-where.rank(it), it.name)),
        *(it for it in groups if it.recycle_lead_seconds is not None),
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
            it
            for it in groups
            if it.key != group.key and (recycled or it.compute_class == group.compute_class)
            if recycled or where.rank(it) < where.rank(group)
        ]
        places = [node for node in nodes if any(it.has(node) for it in better)]
        simulation = Simulation(places, [pod for pod in pods if pod.node not in names])
        waiting = [replace(pod, node="", unschedulable=True) for pod in moving]
        limit = None if recycled else where.rank(group)
        plan = plan_scale_up(simulation, waiting, better, backoff, where, below=limit)
        if plan.refusals:
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
    """The pool's nodes that have no more than `lead` seconds to live; all of a slice if any has."""
    life = lifetime(group)
    own = [node for node in nodes if group.has(node)]
    if life is None:
        return []
    aged = [node for node in own if now - born.get(node.name, now) >= life - lead]
    return own if aged and group.is_slice else aged
