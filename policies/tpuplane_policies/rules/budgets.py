"""Rules of chips and GPUs that see the whole stack: reservations, budgets, compute classes, multislice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import reduce
from operator import and_, or_

from tpuplane.cost.charging import charging
from tpuplane.cost.rates import Rate, gpu_rate, rate
from tpuplane.labels import reservation_name
from tpuplane.tpu import Generation, catalogue

from tpuplane_policies.core.judging import Demands, Options, demand
from tpuplane_policies.core.registry import stack_rule
from tpuplane_policies.core.resources import CLUSTER, POOL, Resource, Stack
from tpuplane_policies.core.values import Truth, Value
from tpuplane_policies.rules.gpus import gpu_machine, gpu_pools, provisioned_gpus
from tpuplane_policies.rules.kinds import COMPUTE_CLASS
from tpuplane_policies.rules.pools import capacities, node_range, region_of, tpu_hosts, tpu_slice, zones

TEAM_LABEL = "team"


def _pools(stack: Stack) -> Iterator[tuple[Resource, int, int]]:
    """TPU pools with their chips at least and at most."""
    for pool in stack.of(POOL):
        hosts = tpu_hosts(pool)
        if hosts is not None:
            smallest, largest = node_range(pool)
            yield pool, smallest * hosts.machine.chips, largest * hosts.machine.chips


def provisioned(stack: Stack) -> Iterator[tuple[Resource, Generation, int]]:
    """Chips that node auto-provisioning may add in each cluster: up to its limit, in which GKE counts all pools."""
    declared: dict[tuple[str, str], int] = defaultdict(int)
    for pool, _, largest in _pools(stack):
        hosts = tpu_hosts(pool)
        if hosts is not None:
            declared[str(pool["cluster"].raw), hosts.generation.name] += largest
    generations = {generation.label: generation for generation in catalogue().generations}
    for cluster in stack.of(CLUSTER):
        if cluster["clusterAutoscaling.enabled"].get(False):
            for limit in cluster["clusterAutoscaling.resourceLimits"].each():
                generation = generations.get(limit["resourceType"].get(""))
                if generation is not None:
                    there = declared[str(cluster["name"].raw), generation.name]
                    yield cluster, generation, max(0, int(limit["maximum"].get(0)) - there)


@stack_rule("TPU007")
def reservations_are_large_enough(stack: Stack, options: Options) -> Demands:
    """What is always up of a reservation is no more than the reservation."""
    needed: dict[str, int] = defaultdict(int)
    for pool, smallest, _ in (*_pools(stack), *gpu_pools(stack)):
        if "reservation" in capacities(pool):
            for value in pool["nodeConfig.reservationAffinity.values"].get([]):
                needed[reservation_name(value)] += smallest
    for name, chips in needed.items():
        holds = options["reservations"].get(name)
        if holds is not None:
            yield demand(chips <= holds, Value(None), f"reservation {name} holds {holds:g} chips or GPUs, not {chips}")


@stack_rule("TPU012")
def chips_within_budget(stack: Stack, options: Options) -> Demands:
    """Chips and GPUs at full scale, of the stack and of each team (resource label `team`)."""
    more_chips = sum(chips for *_, chips in provisioned(stack))
    yield from _within("chips", _pools(stack), more_chips, options["chips"], options["teams"])
    more_gpus = sum(gpus for *_, gpus in provisioned_gpus(stack))
    yield from _within("GPUs", gpu_pools(stack), more_gpus, options["gpus"], options["teamGpus"])


def _within(
    what: str, pools: Iterable[tuple[Resource, int, int]], more: int, budget: float | None, budgets: dict[str, float]
) -> Demands:
    total, teams = more, defaultdict[str, int](int)
    for pool, _, largest in pools:
        total += largest
        teams[_team(pool)] += largest
    if budget is not None:
        text = f"the pools grow to {total} {what}; the stack's budget is {budget:g}"
        yield demand(total <= budget, Value(None), text)
    for team, own in budgets.items():
        text = f"team {team} grows to {teams[team]} {what}; its budget is {own:g}"
        yield demand(teams[team] <= own, Value(None), text)


@stack_rule("TPU013")
def cost_within_budget(stack: Stack, options: Options) -> Demands:
    """List prices of chips and GPU nodes at full scale, for a month; one that is not on record is estimated high."""
    if options["usdPerMonth"] is None and not options["teams"]:
        return
    total, teams = 0.0, defaultdict[str, float](float)
    for pool, _, largest in _pools(stack):
        hosts = tpu_hosts(pool)
        usd = _per_month(rate(hosts.generation.name, *_bought(pool), estimate=True), largest) if hosts else 0
        total += usd
        teams[_team(pool)] += usd
    for pool, _, largest in gpu_pools(stack):
        machine = gpu_machine(pool)
        usd = _per_month(gpu_rate(machine, *_bought(pool), estimate=True), largest) if machine else 0
        total += usd
        teams[_team(pool)] += usd
    for cluster, generation, chips in provisioned(stack):
        total += _per_month(rate(generation.name, _region(cluster), "on-demand", estimate=True), chips)
    for cluster, machine, gpus in provisioned_gpus(stack):
        total += _per_month(gpu_rate(machine, _region(cluster), "on-demand", estimate=True), gpus)
    budget = options["usdPerMonth"]
    if budget is not None:
        text = f"chips and GPUs cost {total:,.0f} USD a month at full scale; the budget is {budget:,.0f} USD"
        yield demand(total <= budget, Value(None), text)
    for team, budget in options["teams"].items():
        text = f"team {team}'s cost {teams[team]:,.0f} USD a month at full scale; its budget is {budget:,.0f} USD"
        yield demand(teams[team] <= budget, Value(None), text)


def _team(pool: Resource) -> str:
    return str(pool["nodeConfig.resourceLabels"].child(TEAM_LABEL).get(""))


def _bought(pool: Resource) -> tuple[str, str]:
    """The region in which a pool's hosts are paid for, and how."""
    where = zones(pool).get([])
    zone = where if isinstance(where, str) else next(iter(where), "")
    return region_of(zone), next(iter(capacities(pool)), "on-demand").replace("preemptible", "spot")


def _region(cluster: Resource) -> str:
    return region_of(str(cluster["location"].get("")))


def _per_month(found: Rate, units: int) -> float:
    return units * found.price.usd_per_chip_hour * charging().hours_per_month if found.price else 0


@stack_rule("TPU015")
def compute_classes_end_well(stack: Stack, options: Options) -> Demands:
    """A class ends in what can be had at any time, and names pools that exist."""
    pools = {pool["name"].raw for pool in stack.of(POOL)}
    for it in stack.of(COMPUTE_CLASS):
        priorities = list(it["spec.priorities"].each())
        if priorities and it["spec.whenUnsatisfiable"].get("DoNotScaleUp") == "DoNotScaleUp":
            yield demand(
                ~_bought_alike(priorities), priorities[-1], "the last priority may never be had, as those before it", it
            )
        for priority in priorities:
            for name in priority["nodepools"].each():
                yield demand(name.test(lambda pool: pool in pools), name, "no pool of this stack has the name", it)


def _bought_alike(priorities: list[Value]) -> Truth:
    """Whether every priority is Spot, or flex-start, or of a reservation: when that is out, so is the class."""
    ways = (
        [priority["spot"].is_true for priority in priorities],
        [priority["flexStart.enabled"].is_true for priority in priorities],
        [priority["reservations"].is_set for priority in priorities],
    )
    return reduce(or_, (reduce(and_, way) for way in ways))


@stack_rule("TPU016")
def multislice_pools_are_alike(stack: Stack, options: Options) -> Demands:
    """The pools of one group (node label `groupLabel`) in one cluster are slices of one shape."""
    groups: dict[tuple[str, str], list[Resource]] = defaultdict(list)
    for pool in stack.of(POOL):
        group = pool["nodeConfig.labels"].child(options["groupLabel"]).get()
        if group and tpu_hosts(pool) is not None:
            groups[str(pool["cluster"].raw), group].append(pool)
    for (_, group), members in groups.items():
        if len(members) > 1:
            shapes = {str(tpu_slice(pool)) for pool in members}
            multi_host = all(shape is not None and shape.multi_host for shape in map(tpu_slice, members))
            text = f"pools of {group} have the shapes {', '.join(sorted(shapes))}"
            yield demand(len(shapes) == 1, Value(None), text, members[0])
            yield demand(multi_host, Value(None), f"multislice joins multi-host slices; {group} has others", members[0])
