"""One look at a cluster: what grows, what shrinks, what to say of it. Pure; time comes in as a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.objects import Node, Pod
from tpuplane_twin.elasticity.scale_down import Budget, Shrinkage, Unneeded, plan_scale_down, unneeded
from tpuplane_twin.elasticity.scale_up import ScaleUp, plan_scale_up
from tpuplane_twin.elasticity.simulation import Simulation

Since = Mapping[str, float]
"""From when each unneeded node has been so, in seconds of the caller's clock."""


@dataclass(frozen=True)
class View:
    """A cluster at one moment."""

    nodes: Sequence[Node]
    pods: Sequence[Pod]
    groups: Sequence[Group]
    budgets: Sequence[Budget] = ()
    backoff: frozenset[str] = frozenset()

    @property
    def pending(self) -> list[Pod]:
        """The pods for which the scheduler has found no node."""
        return [pod for pod in self.pods if pod.unschedulable]

    @property
    def settled(self) -> bool:
        """Whether there is nothing to decide: nobody waits, and no pool is above its minimum."""
        return not any(pod.unschedulable for pod in self.pods) and not any(group.can_shrink for group in self.groups)


@dataclass(slots=True)
class Decision:
    """What to do now, and since when which node has been unneeded."""

    up: ScaleUp = field(default_factory=ScaleUp)
    down: list[Shrinkage] = field(default_factory=list)
    since: dict[str, float] = field(default_factory=dict)


def decide(view: View, since: Since, now: float, delay: float) -> Decision:
    """Decide. A node goes once it has been unneeded for `delay` seconds, and none goes while others come."""
    if view.settled:
        return Decision()
    nodes = _expected(view)
    simulation = Simulation(nodes, view.pods)
    decision = Decision(plan_scale_up(simulation, view.pending, view.groups, view.backoff))
    found = Unneeded()
    if any(group.can_shrink for group in view.groups):
        running = [pod for pod in view.pods if pod.node]
        found = unneeded(simulation, running, view.groups, view.budgets)
    decision.since = {name: since.get(name, now) for name in sorted(found.names)}
    if not decision.up.growths:
        ripe = frozenset(name for name, start in decision.since.items() if now - start >= delay)
        decision.down = plan_scale_down(nodes, view.groups, found, ripe)
    return decision


def _expected(view: View) -> list[Node]:
    """The nodes that are there and stay, and those that are about to come."""
    groups = {group.name: group for group in view.groups}
    nodes = [node for node in view.nodes if node.pool not in groups or groups[node.pool].has(node)]
    there = {(node.pool, node.place) for node in nodes}
    return nodes + [
        group.future(zone, number)
        for group in view.groups
        for zone, numbers in group.numbers.items()
        for number in numbers
        if (group.name, f"{zone}/{number}") not in there
    ]
