"""The decisions of one check of a cluster: scale-ups, scale-downs and messages. Pure; time is a parameter."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tpuplane_twin.elasticity.classes import ComputeClass
from tpuplane_twin.elasticity.demand import Provisioning, asked
from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.migration import Moves, ended, lifetime, plan_moves
from tpuplane_twin.elasticity.objects import Node, Pod
from tpuplane_twin.elasticity.offers import CLASS
from tpuplane_twin.elasticity.queued import Answers, Queue, plan_answers
from tpuplane_twin.elasticity.scale_down import Budget, Shrinkage, Unneeded, plan_scale_down, unneeded
from tpuplane_twin.elasticity.scale_up import ScaleUp, plan_scale_up
from tpuplane_twin.elasticity.simulation import Simulation

Since = Mapping[str, float]
"""The time since which each node is unneeded, in seconds of the caller's clock."""


@dataclass(frozen=True)
class View:
    """A cluster at one moment."""

    nodes: Sequence[Node]
    pods: Sequence[Pod]
    groups: Sequence[Group]
    budgets: Sequence[Budget] = ()
    backoff: frozenset[str] = frozenset()
    """What is in back-off after a failure: keys of `scopes`."""
    awaited: frozenset[str] = frozenset()
    """Signatures of pools that wait for capacity."""
    where: Provisioning = field(default_factory=Provisioning)
    born: Mapping[str, float] = field(default_factory=dict)
    """The creation time of each node, in seconds of the caller's clock."""
    queue: Queue = field(default_factory=Queue)
    """The ProvisioningRequests."""

    @property
    def pending(self) -> list[Pod]:
        """The pods without a node."""
        return [pod for pod in self.pods if pod.unschedulable]

    @property
    def settled(self) -> bool:
        """Whether there is nothing to decide: nothing is pending, and no pool can shrink or be deleted."""
        waits = self.queue.open or any(pod.unschedulable for pod in self.pods)
        return not waits and not any(group.can_shrink or group.pool.autoprovisioned for group in self.groups)

    @property
    def idle(self) -> bool:
        """Whether no decision is possible: no autoscaled pool, no auto-provisioning, no pod with a compute class."""
        named = any(asked(pod, CLASS) or self.where.default_class for pod in self.pending)
        return not (self.groups or self.where.enabled or named or self.queue.open)

    def dues(self, since: Since, delay: float) -> Iterator[float]:
        """When nodes become ripe for deletion, expire, or are due for replacement."""
        yield from self.queue.dues()
        groups = {group.name: group for group in self.groups}
        for node in self.nodes:
            group = groups.get(node.pool)
            if group is None:
                continue
            if node.name in since:
                yield since[node.name] + idle_seconds(self.where.classes.get(group.compute_class), delay)
            life = lifetime(group)
            if life is not None and node.name in self.born:
                yield self.born[node.name] + life
                yield self.born[node.name] + life - (group.recycle_lead_seconds or 0)


@dataclass(slots=True)
class Decision:
    """What to do now, and the times since which nodes are unneeded."""

    up: ScaleUp = field(default_factory=ScaleUp)
    down: list[Shrinkage] = field(default_factory=list)
    moves: Moves = field(default_factory=Moves)
    ended: list[Shrinkage] = field(default_factory=list)
    """Expired nodes."""
    deleted: list[Group] = field(default_factory=list)
    """Empty pools that the autoscaler created."""
    since: dict[str, float] = field(default_factory=dict)
    answers: Answers = field(default_factory=Answers)
    """To ProvisioningRequests."""


def decide(view: View, since: Since, now: float, delay: float) -> Decision:
    """Decide. A node is deleted after it was unneeded for `delay` seconds, but never during a scale-up."""
    if view.settled:
        return Decision()
    nodes = [replace(node, removable=False) if view.queue.books(node) else node for node in _expected(view)]
    simulation = Simulation(nodes, view.pods)
    up = plan_scale_up(simulation, view.pending, view.groups, view.backoff, view.where, view.awaited)
    decision = Decision(up, ended=ended(view.nodes, view.groups, view.born, now))
    decision.answers = plan_answers(view.queue, view.nodes, view.groups, view.where.limits, now)
    found = Unneeded()
    running = [pod for pod in view.pods if pod.node]
    classes = {group.name: view.where.classes.get(group.compute_class) for group in view.groups}
    if any(group.can_shrink for group in view.groups):
        thresholds = {name: found.threshold for name, found in classes.items() if found is not None}
        shares = {name: threshold for name, threshold in thresholds.items() if threshold is not None}
        found = unneeded(simulation, running, view.groups, view.budgets, shares)
    decision.since = {name: since.get(name, now) for name in sorted(found.names)}
    grown = {growth.after.key for growth in up.growths}
    if not grown and not decision.ended:
        pools = {node.name: node.pool for node in nodes}
        ripe = frozenset(
            name
            for name, start in decision.since.items()
            if now - start >= idle_seconds(classes.get(pools[name]), delay)
        )
        decision.down = plan_scale_down(nodes, view.groups, found, ripe)
        if not view.pending and not decision.down:
            decision.moves = plan_moves(nodes, running, view.groups, view.where, view.backoff, view.born, now)
            grown = {growth.after.key for growth in decision.moves.growths}
    decision.deleted = [
        group
        for group in view.groups
        if group.pool.autoprovisioned and not group.size and not {group.key, group.signature} & (grown | view.awaited)
    ]
    return decision


def idle_seconds(found: ComputeClass | None, usual: float) -> float:
    """How long a node of the class must be unneeded before it is deleted."""
    return usual if found is None or found.idle_seconds is None else found.idle_seconds


def _expected(view: View) -> list[Node]:
    """The existing nodes that stay, and the nodes that are being created."""
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
