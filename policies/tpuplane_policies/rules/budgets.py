"""Rules about the chips and GPUs of a whole stack: reservations, budgets, compute classes, multislice."""

from collections import defaultdict
from collections.abc import Iterator
from functools import reduce
from operator import and_, or_

from tpuplane.cost.rates import Rate, charging, gpu_rate, rate
from tpuplane.labels import reservation_name
from tpuplane.tpu import Generation, catalogue

from tpuplane_policies.core.judging import Demands, Options, demand
from tpuplane_policies.core.registry import stack_rule
from tpuplane_policies.core.resources import POOL, Resource, Stack
from tpuplane_policies.core.values import NOWHERE, Truth, Value
from tpuplane_policies.rules.kinds import COMPUTE_CLASS
from tpuplane_policies.rules.pools import (
    auto_provisioned,
    capacities,
    cluster_of,
    gpu_machine,
    gpu_pools,
    node_range,
    provisioned_gpus,
    region_of,
    tpu_hosts,
    tpu_slice,
    zones,
)

TEAM_LABEL = "team"
NO_SUCH_TEAM = "give pools the resource label team, or remove the team's budget"


def _pools(stack: Stack) -> Iterator[tuple[Resource, int, int]]:
    """TPU pools with their minimum and maximum number of chips."""
    for pool in stack.of(POOL):
        hosts = tpu_hosts(pool)
        if hosts is not None:
            smallest, largest = node_range(pool)
            yield pool, smallest * hosts.machine.chips, largest * hosts.machine.chips


def provisioned(stack: Stack) -> Iterator[tuple[Resource, Generation, int]]:
    """Chips that node auto-provisioning can add in each cluster."""
    pools = ((pool, hosts.generation.label, most) for pool, _, most in _pools(stack) if (hosts := tpu_hosts(pool)))
    return auto_provisioned(stack, {it.label: it for it in catalogue().generations}, pools)


@stack_rule("TPU017")
def reservations_are_large_enough(stack: Stack, options: Options) -> Demands:
    """The minimum sizes of pools fit into their reservation."""
    sizes, needed = options["reservations"], defaultdict[str, int](int)
    if not sizes:
        return
    for pool, smallest, _ in (*_pools(stack), *gpu_pools(stack)):
        if "reservation" in capacities(pool):
            for value in pool["nodeConfig.reservationAffinity.values"].get([]):
                needed[reservation_name(value)] += smallest
    for name, chips in needed.items():
        holds = sizes.get(name)
        text = f"the size of reservation {name} is not configured"
        yield demand(holds is not None, NOWHERE, text, remedy="add it to TPU017.reservations")
        if holds is not None:
            yield demand(chips <= holds, NOWHERE, f"reservation {name} has {holds:g} chips or GPUs, not {chips}")


@stack_rule("TPU012")
def chips_within_budget(stack: Stack, options: Options) -> Demands:
    """Chips and GPUs at full scale, for the stack and for each team (resource label `team`)."""
    for what, pools, more, budget, budgets in (
        ("chips", _pools, provisioned, options["chips"], options["teams"]),
        ("GPUs", gpu_pools, provisioned_gpus, options["gpus"], options["teamGpus"]),
    ):
        if budget is not None:
            total = sum(largest for *_, largest in (*pools(stack), *more(stack)))
            text = f"the pools grow to {total} {what}; the stack's budget is {budget:g}"
            yield demand(total <= budget, NOWHERE, text)
        for team, own in budgets.items():
            grows = [largest for pool, _, largest in pools(stack) if _team(pool) == team]
            yield demand(bool(grows), NOWHERE, f"team {team} has no pool with {what}", remedy=NO_SUCH_TEAM)
            text = f"team {team} grows to {sum(grows)} {what}; its budget is {own:g}"
            yield demand(sum(grows) <= own, NOWHERE, text)


@stack_rule("TPU013")
def cost_within_budget(stack: Stack, options: Options) -> Demands:
    """List prices of chips and GPU nodes at full scale, for a month. Missing prices get a high estimate."""
    budget = options["usdPerMonth"]
    if budget is not None:
        total = sum(usd for _, usd in _costs(stack))
        for cluster, generation, chips in provisioned(stack):
            total += _per_month(rate(generation.name, _region(cluster), "on-demand", estimate=True), chips)
        for cluster, machine, gpus in provisioned_gpus(stack):
            total += _per_month(gpu_rate(machine, _region(cluster), "on-demand", estimate=True), gpus)
        text = f"chips and GPUs cost {total:,.0f} USD a month at full scale; the budget is {budget:,.0f} USD"
        yield demand(total <= budget, NOWHERE, text)
    for team, own in options["teams"].items():
        costs = [usd for pool, usd in _costs(stack) if _team(pool) == team]
        yield demand(bool(costs), NOWHERE, f"team {team} has no pool with chips or GPUs", remedy=NO_SUCH_TEAM)
        text = f"team {team} costs {sum(costs):,.0f} USD a month at full scale; its budget is {own:,.0f} USD"
        yield demand(sum(costs) <= own, NOWHERE, text)


def _costs(stack: Stack) -> Iterator[tuple[Resource, float]]:
    """The monthly cost of each pool with TPUs or GPUs."""
    for pool, _, largest in _pools(stack):
        hosts = tpu_hosts(pool)
        if hosts is not None:
            yield pool, _per_month(rate(hosts.generation.name, *_bought(pool), estimate=True), largest)
    for pool, _, largest in gpu_pools(stack):
        machine = gpu_machine(pool)
        if machine is not None:
            yield pool, _per_month(gpu_rate(machine, *_bought(pool), estimate=True), largest)


def _team(pool: Resource) -> str:
    return str(pool["nodeConfig.resourceLabels"].child(TEAM_LABEL).get(""))


def _bought(pool: Resource) -> tuple[str, str]:
    """The region and the provisioning model that set the price of a pool."""
    where = zones(pool).get([])
    zone = where if isinstance(where, str) else next(iter(where), "")
    return region_of(zone), next(iter(capacities(pool)), "on-demand").replace("preemptible", "spot")


def _region(cluster: Resource) -> str:
    return region_of(str(cluster["location"].get("")))


def _per_month(found: Rate, units: int) -> float:
    return units * found.price.usd_per_chip_hour * charging().hours_per_month if found.price else 0


@stack_rule("TPU015")
def compute_classes_have_a_fallback(stack: Stack, options: Options) -> Demands:
    """The priorities of a class use different provisioning models, and name existing pools."""
    classes = list(stack.of(COMPUTE_CLASS))
    pools = {pool["name"].get() for pool in stack.of(POOL)} if classes else set()
    for it in classes:
        priorities = list(it["spec.priorities"].each())
        if priorities:
            falls_back = ~it["spec.whenUnsatisfiable"].one_of(None, "DoNotScaleUp") | ~_same_model(priorities)
            yield demand(falls_back, priorities[-1], "every priority has the same provisioning model")
        for priority in priorities:
            for name in priority["nodepools"].each():
                text = "no pool of this stack has this name"
                yield demand(name.one_of(*pools), name, text, remedy="name a pool of the stack")


def _same_model(priorities: list[Value]) -> Truth:
    """Whether all priorities are Spot, all are flex-start, or all use reservations."""
    models = (
        [priority["spot"].is_true for priority in priorities],
        [priority["flexStart.enabled"].is_true for priority in priorities],
        [priority["reservations"].is_set for priority in priorities],
    )
    return reduce(or_, (reduce(and_, model) for model in models))


@stack_rule("TPU016")
def multislice_pools_are_alike(stack: Stack, options: Options) -> Demands:
    """The pools of one group (node label `groupLabel`) in one cluster are slices of the same shape."""
    groups: dict[tuple[str, str], list[Resource]] = defaultdict(list)
    for pool in stack.of(POOL):
        group = pool["nodeConfig.labels"].child(options["groupLabel"]).get()
        if group and tpu_hosts(pool) is not None:
            groups[cluster_of(pool), group].append(pool)
    for (_, group), members in groups.items():
        if len(members) > 1:
            shapes = {str(tpu_slice(pool)) for pool in members}
            multi_host = all(shape is not None and shape.multi_host for shape in map(tpu_slice, members))
            at, text = members[0].props, f"pools of {group} have the shapes {', '.join(sorted(shapes))}"
            yield demand(len(shapes) == 1, at, text)
            yield demand(multi_host, at, f"multislice needs multi-host slices; {group} has single-host slices")
