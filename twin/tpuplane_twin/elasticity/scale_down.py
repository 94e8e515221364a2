"""Unneeded nodes, and their deletion after a delay. Pure and deterministic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from tpuplane.labels import TPU

from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.objects import Node, Pod
from tpuplane_twin.elasticity.selectors import Selector, label_selector, selects
from tpuplane_twin.elasticity.simulation import Simulation

_UTILIZATION = 0.5
"""GKE's threshold: a node with at least this share of requests is not drained."""


@dataclass(frozen=True, slots=True)
class Budget:
    """A PodDisruptionBudget, with the evictions that it allows now."""

    namespace: str
    selector: Selector | None
    allowed: int

    @classmethod
    def parse(cls, budget: Mapping[str, Any]) -> Self:
        """Read a budget; without a status it allows no evictions."""
        return cls(
            budget["metadata"]["namespace"],
            label_selector(budget["spec"].get("selector")),
            int(budget.get("status", {}).get("disruptionsAllowed", 0)),
        )

    def covers(self, pod: Pod) -> bool:
        """Whether it applies to the pod."""
        return self.namespace == pod.namespace and self.selector is not None and selects(self.selector, pod.labels)


@dataclass(frozen=True, slots=True)
class Unneeded:
    """Names of nodes that can be deleted: empty ones, and ones whose pods fit elsewhere."""

    idle: frozenset[str] = frozenset()
    movable: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """Both."""
        return self.idle | self.movable


def unneeded(
    simulation: Simulation,
    pods: Sequence[Pod],
    groups: Sequence[Group],
    budgets: Sequence[Budget],
    thresholds: Mapping[str, float] | None = None,
) -> Unneeded:
    """The unneeded nodes of pools above their minimum.

    `pods` are the running pods; pods that `simulation` has placed on a node need it, too. The hosts of a slice are
    unneeded together. `thresholds` override GKE's threshold, by the pool's name.
    """
    busy: dict[str, list[Pod]] = {}
    for pod in pods:
        if pod.counts:
            busy.setdefault(pod.node, []).append(pod)
    expected = {simulation.nodes[at].name for _, at in simulation.placed}
    idle: set[str] = set()
    emptied: list[Node] = []
    for group in groups:
        own = [node for node in simulation.nodes if group.has(node) and group.spare(_zone(node))]
        free = [node.name for node in own if node.removable and node.name not in busy and node.name not in expected]
        if not group.is_slice or len(free) == group.size:
            idle |= set(free)
        if not group.is_slice:
            emptied += [node for node in own if node.removable and node.name in busy and node.name not in expected]
    shares = thresholds or {}
    movable = {
        node.name
        for node in emptied
        if _little_used(node, busy[node.name], shares.get(node.pool, _UTILIZATION))
        and _can_move(simulation, node, busy[node.name], frozenset(idle), budgets)
    }
    return Unneeded(frozenset(idle), frozenset(movable))


@dataclass(frozen=True, slots=True)
class Shrinkage:
    """A pool that shrinks, before and after, and the nodes to delete."""

    before: Group
    after: Group
    nodes: tuple[Node, ...]


def plan_scale_down(
    nodes: Sequence[Node], groups: Sequence[Group], found: Unneeded, ripe: frozenset[str]
) -> list[Shrinkage]:
    """The pools that shrink now. `ripe` are the nodes that were unneeded for long enough.

    Idle nodes are deleted together. If there are none, one node is drained, so that its pods are counted in their new
    place before the next.
    """
    ordered = sorted(groups, key=lambda group: group.key)
    shrunk = [_shrunk(group, nodes, found.idle & ripe) for group in ordered]
    if any(shrunk):
        return list(filter(None, shrunk))
    emptied = (_shrunk(group, nodes, found.movable & ripe, most=1) for group in ordered)
    return list(filter(None, emptied))[:1]


def _shrunk(group: Group, nodes: Sequence[Node], names: frozenset[str], most: int | None = None) -> Shrinkage | None:
    own = [node for node in nodes if node.name in names and group.has(node)]
    own.sort(key=lambda node: (_zone(node), -int(node.place.rpartition("/")[2])))
    if group.is_slice:
        whole = bool(own) and len(own) == group.size and group.can_shrink
        return Shrinkage(group, group.with_numbers(_zone(own[0]), []), tuple(own)) if whole else None
    after, going = group, list[Node]()
    for node in own:
        if len(going) != most and after.spare(_zone(node)):
            after = after.without(node.place)
            going.append(node)
    return Shrinkage(group, after, tuple(going)) if going else None


def shrunk_by(group: Group, nodes: Sequence[Node]) -> Shrinkage | None:
    """The pool without its nodes among these, even if pods run there; None if it has none. A slice is deleted whole."""
    own = [node for node in nodes if group.has(node)]
    if not own:
        return None
    after = group
    for node in own:
        after = after.with_numbers(_zone(node), []) if group.is_slice else after.without(node.place)
    return Shrinkage(group, after, tuple(own))


def _zone(node: Node) -> str:
    return node.place.rpartition("/")[0]


def _little_used(node: Node, pods: Sequence[Pod], share: float) -> bool:
    """Whether the pods request less than that share of the node's chips, or of its CPU and memory without chips."""
    resources = (TPU,) if node.allocatable.get(TPU) else ("cpu", "memory")
    asked = {resource: sum(pod.requests.get(resource, 0) for pod in pods) for resource in resources}
    return all(amount < share * node.allocatable.get(resource, 0) for resource, amount in asked.items())


def _can_move(
    simulation: Simulation, node: Node, pods: Sequence[Pod], idle: frozenset[str], budgets: Sequence[Budget]
) -> bool:
    """Whether all pods of the node may be evicted and fit on other nodes."""
    for pod in pods:
        guards = [budget for budget in budgets if budget.covers(pod)]
        if not evictable(pod, guarded=bool(guards)):
            return False
        if any(sum(map(guard.covers, pods)) > guard.allowed for guard in guards):
            return False
    elsewhere = [at for at, other in enumerate(simulation.nodes) if other.name != node.name and other.name not in idle]
    mark = simulation.mark()
    fits = simulation.place_together(pods, elsewhere)
    simulation.rewind(mark)
    return fits


def evictable(pod: Pod, *, guarded: bool) -> bool:
    """As in the cluster autoscaler: the pod needs a controller, and system pods need a budget."""
    if pod.safe_to_evict:
        return pod.safe_to_evict == "true"
    return bool(pod.owner) and (pod.namespace != "kube-system" or guarded)
