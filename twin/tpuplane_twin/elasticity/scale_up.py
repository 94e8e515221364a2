"""The pools that grow for pending pods, and why others do not. Pure and deterministic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tpuplane.labels import GKE_POOL_LABEL, TPU

from tpuplane_twin.elasticity.demand import Provisioning
from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.objects import Pod
from tpuplane_twin.elasticity.options import BACKOFF, Pools
from tpuplane_twin.elasticity.simulation import Simulation

Gang = tuple[Pod, ...]

PROVISIONING = "node auto-provisioning"
MAX_SIZE = "max node group size reached"
QUEUED = "nodes come for ProvisioningRequests only"


@dataclass(frozen=True, slots=True)
class Growth:
    """A pool that grows, before and after, and its new pods."""

    before: Group
    after: Group
    pods: tuple[Pod, ...]

    @property
    def zones(self) -> list[str]:
        """The zones in which it grows."""
        return [zone for zone in self.before.zones if self.before.numbers[zone] != self.after.numbers[zone]]

    @property
    def info(self) -> str:
        """The text in the cluster autoscaler's events, one entry per instance group."""
        most = self.before.totals[1] if self.before.totals else self.before.maximum
        entries = []
        for zone in self.zones:
            old, new = len(self.before.numbers[zone]), len(self.after.numbers[zone])
            entries.append(f"{{{self.before.links[zone]} {old}->{new} (max: {most})}}")
        return f"[{' '.join(entries)}]"


@dataclass(slots=True)
class ScaleUp:
    """The plan: pools that grow, and for each pod that is not helped the reasons by pool."""

    growths: list[Growth] = field(default_factory=list)
    unhelped: list[tuple[Pod, dict[str, str]]] = field(default_factory=list)


def plan_scale_up(
    simulation: Simulation,
    pending: Sequence[Pod],
    groups: Sequence[Group],
    backoff: frozenset[str] = frozenset(),
    where: Provisioning | None = None,
    awaited: frozenset[str] = frozenset(),
    *,
    below: int | None = None,
) -> ScaleUp:
    """The plan for the `pending` pods. Pools do not grow where `backoff` has one of their scopes.

    `simulation` has the existing and future nodes. Pods that fit there are left to the scheduler; they stay placed in
    the simulation, as do the pods for which a pool grows. `where` has the rules for pools in addition to `groups`.
    While a signature is `awaited`, lower priorities of its compute class wait, too. With `below`, only pools of a
    higher priority may grow.
    """
    waiting = [gang for gang in gangs(pending) if not _fits_now(simulation, gang)]
    pools = Pools(groups, waiting, backoff, where or Provisioning(), awaited, below)
    grown: dict[str, list[Pod]] = {}
    while waiting:
        options = [
            (pools.order(group), score, group.key)
            for group in pools.candidates()
            if (score := _score(simulation, group, waiting)) is not None
        ]
        if not options:
            break
        best = min(options)[-1]
        after, helped = _grow(simulation, pools.get(best), waiting)
        pools.put(after)
        grown.setdefault(best, []).extend(pod for gang in helped for pod in gang)
        done = {gang[0].key for gang in helped}
        waiting = [gang for gang in waiting if gang[0].key not in done]
    plan = ScaleUp([Growth(pools.before[key], pools.get(key), tuple(pods)) for key, pods in sorted(grown.items())])
    mark = simulation.mark()
    current = pools.existing if waiting else []
    more = {group.key: [simulation.add(group.future(zone, -1)) for zone in group.zones] for group in current}
    for gang in waiting:
        for pod in gang:
            if pools.awaits(pod):
                continue
            reasons = {group.name: _why_not(simulation, group, pod, more[group.key], pools) for group in current}
            nothing = pools.why_nothing_is_made(pod)
            plan.unhelped.append((pod, reasons | ({PROVISIONING: nothing} if nothing else {})))
    simulation.rewind(mark)
    return plan


def gangs(pods: Sequence[Pod]) -> list[Gang]:
    """Pods that must share one node pool, together; every other pod alone. Oldest first, then largest first."""
    found: dict[object, list[Pod]] = {}
    for pod in sorted(pods, key=_order):
        terms = tuple(term for term in pod.affinity if term.topology_key == GKE_POOL_LABEL)
        found.setdefault((pod.namespace, terms) if terms else pod.key, []).append(pod)
    return [tuple(members) for members in found.values()]


def _order(pod: Pod) -> tuple[object, ...]:
    return (pod.created, -pod.requests.get(TPU, 0), -pod.requests.get("cpu", 0), pod.key)


def _fits_now(simulation: Simulation, gang: Gang) -> bool:
    """Place the gang on existing nodes, if it fits; a gang of several pods in one pool."""
    everywhere = range(len(simulation.nodes))
    if len(gang) == 1:
        return simulation.place(gang[0], everywhere) is not None
    pools: dict[str, list[int]] = {}
    for at in everywhere:
        pools.setdefault(simulation.nodes[at].pool, []).append(at)
    return any(simulation.place_together(gang, nodes) for _, nodes in sorted(pools.items()))


def _score(simulation: Simulation, group: Group, waiting: Sequence[Gang]) -> tuple[object, ...] | None:
    """The score of growing this pool, smaller is better; None if it helps no pod.

    Fewest idle chips first, then spot (the cheaper) before on-demand, then least idle CPU and memory.
    """
    mark = simulation.mark()
    after, helped = _grow(simulation, group, waiting)
    simulation.rewind(mark)
    if not helped:
        return None
    nodes = [group.templates[zone] for zone in group.zones for _ in after.numbers[zone][len(group.numbers[zone]) :]]

    def idle(resource: str) -> int:
        asked = sum(pod.requests.get(resource, 0) for gang in helped for pod in gang)
        return sum(node.allocatable.get(resource, 0) for node in nodes) - asked

    return (idle(TPU), group.pool.capacity != "spot", idle("cpu"), idle("memory"))


def _grow(simulation: Simulation, group: Group, waiting: Sequence[Gang]) -> tuple[Group, list[Gang]]:
    """Grow the pool for as many gangs as possible; the result is the pool after it, and these gangs."""
    own = [at for at, node in enumerate(simulation.nodes) if node.pool == group.name]
    helped: list[Gang] = []
    if group.is_slice:
        after = _with_slice(simulation, group, own)
        if after is group:
            return group, []
        helped = [gang for gang in waiting if simulation.place_together(gang, own)]
        return (after, helped) if helped else (group, [])
    for gang in waiting:
        mark, before, count = simulation.mark(), group, len(own)
        for pod in gang:
            if simulation.place(pod, own) is None:
                wider = _with_node_for(simulation, group, pod, own)
                if wider is None:
                    simulation.rewind(mark)
                    group = before
                    del own[count:]
                    break
                group = wider
        else:
            helped.append(gang)
    return group, helped


def _with_slice(simulation: Simulation, group: Group, own: list[int]) -> Group:
    for zone in group.growing_zones()[:1]:
        after = group.grown(zone, group.hosts)
        own += [simulation.add(group.future(zone, number)) for number in after.numbers[zone]]
        return after
    return group


def _with_node_for(simulation: Simulation, group: Group, pod: Pod, own: list[int]) -> Group | None:
    """Add one node for the pod, in the first zone where it fits."""
    for zone in group.growing_zones():
        after = group.grown(zone, 1)
        (number,) = set(after.numbers[zone]) - set(group.numbers[zone])
        mark = simulation.mark()
        at = simulation.add(group.future(zone, number))
        if simulation.place(pod, [at]) is not None:
            own.append(at)
            return after
        simulation.rewind(mark)
    return None


def _why_not(simulation: Simulation, group: Group, pod: Pod, nodes: list[int], pools: Pools) -> str:
    """Why one more node of this pool, such as `nodes`, would not help or cannot be created."""
    mismatches = [simulation.mismatch(pod, at) for at in nodes]
    obstacles = [simulation.obstacle(pod, at) for at in nodes]
    if all(mismatches):
        return str(mismatches[0])
    if group.pool.queued:
        return QUEUED
    if pools.blocked(group):
        return BACKOFF
    if not group.growing_zones():
        return pools.limit_reached(group) if group.capped(None).growing_zones() else MAX_SIZE
    if all(obstacles):
        return next(str(obstacle) for obstacle, mismatch in zip(obstacles, mismatches, strict=True) if not mismatch)
    return "not all pods that must share one node pool fit"


def reasons_message(reasons: Mapping[str, str]) -> str:
    """The cluster autoscaler's message: each reason with its number of pools, then the pools by name."""
    if not reasons:
        return "pod didn't trigger scale-up: no node pool has autoscaling enabled"
    pools: dict[str, list[str]] = {}
    for pool, reason in sorted(reasons.items()):
        pools.setdefault(reason, []).append(pool)
    summary = ", ".join(f"{len(names)} {reason}" for reason, names in sorted(pools.items()))
    detail = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in sorted(pools.items()))
    return f"pod didn't trigger scale-up: {summary} ({detail})"
