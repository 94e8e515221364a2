"""Rules about the chips and GPUs of a whole stack: reservations, budgets, compute classes, multislice."""

from collections import defaultdict
from collections.abc import Iterator

from tpuplane.cost.rates import Rate, charging, gpu_rate, rate
from tpuplane.gpu import GpuMachine, gpu_catalogue
from tpuplane.labels import reservation_name
from tpuplane.spec.core.locations import region_of
from tpuplane.tpu import Generation, catalogue

from tpuplane_policies.core.judging import Demands, Options, demand, separately
from tpuplane_policies.core.registry import stack_rule
from tpuplane_policies.core.resources import POOL, Resource, Stack
from tpuplane_policies.core.values import NOWHERE, Total, Truth, Value, all_of, any_of
from tpuplane_policies.rules import pools as of_pools
from tpuplane_policies.rules.kinds import COMPUTE_CLASS
from tpuplane_policies.rules.places import home, placed, zones
from tpuplane_policies.rules.vms import chips_of, is_tpu_vm, tpu_vms

TEAM_LABEL = "team"
NO_SUCH_TEAM = "give pools the resource label team, or remove the team's budget"


def _chips(pool: Resource) -> tuple[int, int]:
    """The minimum and maximum number of chips of a pool or a TPU VM; 0 without TPUs."""
    if is_tpu_vm(pool):
        _, chips = chips_of(pool)
        return chips, chips
    hosts = of_pools.tpu_hosts(pool)
    return _range(pool, hosts.machine.chips if hosts is not None else 0)


def _gpus(pool: Resource) -> tuple[int, int]:
    """The minimum and maximum number of GPUs of a pool; 0 without GPUs."""
    return _range(pool, of_pools.gpus_per_node(pool))


def _range(pool: Resource, per_node: int) -> tuple[int, int]:
    smallest, largest = of_pools.node_range(pool) if per_node else (0, 0)
    return smallest * per_node, largest * per_node


def provisioned(stack: Stack) -> Iterator[tuple[Resource, Generation, int]]:
    """The maximum number of chips that node auto-provisioning can add in each cluster, by generation."""
    pools = (
        (pool, hosts.generation.label, _chips(pool)[1]) for pool in placed(stack) if (hosts := of_pools.tpu_hosts(pool))
    )
    generations = {generation.label: generation for generation in catalogue().generations}
    return of_pools.auto_provisioned(stack, generations.get, pools)


@stack_rule("TPU017")
def reservations_are_large_enough(stack: Stack, options: Options) -> Demands:
    """Each reservation is large enough for the minimum sizes of its pools."""
    sizes, pools = options["reservations"], list(placed(stack)) if options["reservations"] else []
    known = set(sizes)

    def configured(pool: Resource) -> Demands:
        for name in _reservations(pool):
            text = f"the size of reservation {name} is not configured"
            yield demand(name in known, NOWHERE, text, remedy="add it to TPU017.reservations")
            known.add(name)  # one message for a reservation of several pools

    yield from separately(pools, configured)
    for name, holds in sizes.items():
        needed = Total.of(pools, lambda pool, name=name: _reservations(pool).get(name, 0))
        text = f"reservation {name} has {holds:g} chips or GPUs, not {needed.known:g}"
        yield demand(needed.at_most(holds), NOWHERE, text)


def _reservations(pool: Resource) -> dict[str, int]:
    """The reservations of a pool with TPUs or GPUs, each with the minimum number of chips or GPUs."""
    if "reservation" not in of_pools.capacities(pool) or (
        of_pools.tpu_hosts(pool) is None and not of_pools.has_gpus(pool)
    ):
        return {}
    smallest = _chips(pool)[0] + _gpus(pool)[0]
    return {reservation_name(name): smallest for name in pool["nodeConfig.reservationAffinity.values"].get([])}


@stack_rule("TPU012")
def chips_within_budget(stack: Stack, options: Options) -> Demands:
    """Chips and GPUs at full scale, for the stack and for each team (resource label `team`)."""
    pools = [*placed(stack), *tpu_vms(stack)]
    for units, count, more, budget, budgets in (
        ("chips", _chips, provisioned, options["chips"], options["teams"]),
        ("GPUs", _gpus, of_pools.provisioned_gpus, options["gpus"], options["teamGpus"]),
    ):
        if budget is not None:
            total = Total.of(pools, lambda pool, count=count: count(pool)[1])
            total += Total.of([stack], lambda stack, more=more: sum(largest for *_, largest in more(stack)))
            text = f"the pools grow to {total.known:.0f} {units}; the stack's budget is {budget:g}"
            yield demand(total.at_most(budget), NOWHERE, text)
        for team, own in budgets.items():
            grows = Total.of(pools, lambda pool, count=count, team=team: count(pool)[1] if _team(pool) == team else 0)
            text = f"team {team} has no pool with {units}"
            yield demand(~grows.at_most(0), NOWHERE, text, remedy=NO_SUCH_TEAM)
            text = f"team {team} grows to {grows.known:.0f} {units}; its budget is {own:g}"
            yield demand(grows.at_most(own), NOWHERE, text)


@stack_rule("TPU013")
def cost_within_budget(stack: Stack, options: Options) -> Demands:
    """List prices of chips and GPU nodes at full scale, in US dollars a month. Missing prices get a high estimate."""
    budget, pools = options["usdPerMonth"], [*placed(stack), *tpu_vms(stack)]
    if budget is not None:
        total = Total.of(pools, _cost) + Total.of([stack], _provisioned_cost)
        text = f"chips and GPUs cost {total.known:,.0f} USD a month at full scale; the budget is {budget:,.0f} USD"
        yield demand(total.at_most(budget), NOWHERE, text)
    for team, own in options["teams"].items():
        costs = Total.of(pools, lambda pool, team=team: _cost(pool) if _team(pool) == team else 0)
        text = f"team {team} has no pool with chips or GPUs"
        yield demand(~costs.at_most(0), NOWHERE, text, remedy=NO_SUCH_TEAM)
        text = f"team {team} costs {costs.known:,.0f} USD a month at full scale; its budget is {own:,.0f} USD"
        yield demand(costs.at_most(own), NOWHERE, text)


def _cost(pool: Resource) -> float:
    """The monthly cost of a TPU VM, or of a pool with TPUs or GPUs; 0 for others."""
    if is_tpu_vm(pool):
        (generation, chips), scheduling = chips_of(pool), pool["schedulingConfig"]
        model = "spot" if scheduling["spot"].is_true | scheduling["preemptible"].is_true else "on-demand"
        return _per_month(rate(generation.name, region_of(str(pool["zone"].get(""))), model, estimate=True), chips)
    hosts, machine = of_pools.tpu_hosts(pool), of_pools.gpu_machine(pool)
    if hosts is not None:
        return _per_month(rate(hosts.generation.name, *_bought(pool), estimate=True), _chips(pool)[1])
    gpus = _gpus(pool)[1]
    return _per_month(_gpu_rate(machine, *_bought(pool)), gpus) if gpus else 0


def _gpu_rate(machine: GpuMachine | None, region: str, capacity: str) -> Rate:
    """The price of a GPU. If it is not on record, the one on demand, which no other model exceeds, else the highest."""
    asked = ((machine, model) for model in (capacity, "on-demand") if machine is not None)
    found = (gpu_rate(known, region, model, estimate=True) for known, model in asked)
    every = [gpu_rate(known, region, "on-demand", estimate=True) for known in gpu_catalogue().machines]
    dearest = max(every, key=lambda known: known.price.usd_per_chip_hour if known.price else 0)
    return next((own for own in found if own.price), dearest)


def _provisioned_cost(stack: Stack) -> float:
    """The monthly cost of all nodes that node auto-provisioning can add."""
    total = 0.0
    for cluster, generation, chips in provisioned(stack):
        total += _per_month(rate(generation.name, _region(cluster), "on-demand", estimate=True), chips)
    for cluster, model, gpus in of_pools.provisioned_gpus(stack):
        described = any(known.name == model for known in gpu_catalogue().accelerators)
        machine = gpu_catalogue().machine_with(model) if described else None
        total += _per_month(_gpu_rate(machine, _region(cluster), "on-demand"), gpus)
    return total


def _team(pool: Resource) -> str:
    labels = pool["labels" if is_tpu_vm(pool) else "nodeConfig.resourceLabels"]
    return str(labels.child(TEAM_LABEL).get(""))


def _bought(pool: Resource) -> tuple[str, str]:
    """The region and the provisioning model that set the price of a pool."""
    where = zones(pool).get([])
    zone = where if isinstance(where, str) else next(iter(where), "")
    return region_of(zone), next(iter(of_pools.capacities(pool)), "on-demand").replace("preemptible", "spot")


def _region(cluster: Resource) -> str:
    return region_of(str(cluster["location"].get("")))


def _per_month(hourly: Rate, units: int) -> float:
    return units * hourly.price.usd_per_chip_hour * charging().hours_per_month if hourly.price else 0


@stack_rule("TPU015")
def compute_classes_have_a_fallback(stack: Stack, options: Options) -> Demands:
    """The priorities of a class use different provisioning models, and name existing pools of a stack with pools."""
    names = [pool["name"] for pool in stack.of(POOL)]
    for compute_class in stack.of(COMPUTE_CLASS):
        if priorities := list(compute_class["spec.priorities"].each()):
            anyway = ~compute_class["spec.whenUnsatisfiable"].one_of(None, "DoNotScaleUp")
            text = "every priority has the same provisioning model"
            yield demand(anyway | ~_same_model(priorities), priorities[-1], text)
        for priority in priorities:
            for at in priority["nodepools"].each() if names else ():
                same = (at.test(lambda pool, name=name: pool == name.get()) for name in names)
                text = "no pool of this stack has this name"
                yield demand(at.one_of() | any_of(same), at, text, remedy="name a pool of the stack")


def _same_model(priorities: list[Value]) -> Truth:
    """Whether all priorities are Spot, all are flex-start, or all need reservations. AnyBestEffort falls back to
    on-demand nodes."""
    models = (
        [priority["spot"].is_true for priority in priorities],
        [priority["flexStart.enabled"].is_true for priority in priorities],
        [
            priority["reservations"].is_set & ~priority["reservations.affinity"].one_of("AnyBestEffort", "None")
            for priority in priorities
        ],
    )
    return any_of(all_of(model) for model in models)


@stack_rule("TPU016")
def multislice_pools_are_alike(stack: Stack, options: Options) -> Demands:
    """The pools of one group (node label `groupLabel`) in one cluster are slices of the same shape."""
    groups: dict[tuple[tuple[str, object, object], str], list[Resource]] = defaultdict(list)
    for pool in stack.of(POOL):
        group = pool["nodeConfig.labels"].child(options["groupLabel"]).get()
        if group and of_pools.tpu_hosts(pool) is not None:
            groups[home(pool), group].append(pool)
    for (_, group), members in groups.items():
        if len(members) > 1:
            shapes = {str(of_pools.tpu_slice(pool)) for pool in members}
            multi_host = all(shape is not None and shape.multi_host for shape in map(of_pools.tpu_slice, members))
            at, text = members[0].props, f"pools of {group} have the shapes {', '.join(sorted(shapes))}"
            yield demand(len(shapes) == 1, at, text)
            yield demand(multi_host, at, f"multislice needs multi-host slices; {group} has single-host slices")
