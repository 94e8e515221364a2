"""TPU node pools: shape, placement, size. TPU and GPU node pools: provisioning model."""

import re

from tpuplane.cpu import cpu_catalogue
from tpuplane.labels import GKE_POOL_LABEL, TPU
from tpuplane.spec.core.locations import is_inside
from tpuplane.tpu import SliceError, catalogue

from tpuplane_policies.core.judging import Demands, Options, demand, of_each
from tpuplane_policies.core.registry import resource_rule, stack_rule
from tpuplane_policies.core.resources import DEFAULT_POOL, POOL, Resource
from tpuplane_policies.core.values import Truth
from tpuplane_policies.rules import pools
from tpuplane_policies.rules.places import placed, zones

POOLS = (POOL, DEFAULT_POOL)
LABEL_PREFIX = "cloud.google.com/gke-tpu-"
ANOTHER_MODEL = "use spot, a reservation or on-demand nodes"
REMOVED_LABEL = "remove the label from the pool"
LONGEST_RUN = 7 * 24 * 3600  # seconds that flex-start hosts may run


@resource_rule("TPU001", *POOLS)
def topology_of_the_generation(pool: Resource, options: Options) -> Demands:
    """The catalogue of TPU generations has the topology, or the generation's rule for large slices allows it."""
    if (hosts := pools.tpu_hosts(pool)) is None:
        return
    at = pool["placementPolicy.tpuTopology"]
    if at.get() is None:
        known = hosts.machine.single_host_topology is not None
        yield demand(known, at, f"{hosts.machine.name} supports only multi-host slices, which need a topology")
        return
    ok = hosts.generation.accepts(at.get())
    yield demand(ok, at, f"not a {hosts.generation.name} topology; allowed: {', '.join(hosts.generation.topologies)}")


@resource_rule("TPU002", *POOLS)
def machine_makes_the_topology(pool: Resource, options: Options) -> Demands:
    """The machine type is known and its chips make the topology."""
    at, topology = pool["nodeConfig.machineType"], pool["placementPolicy.tpuTopology"]
    if pools.tpu_hosts(pool) is None:
        text, remedy = "the machine type has no TPUs", f"remove {topology.path}, or choose a TPU machine type"
        yield demand(~topology.is_set, topology, text, remedy=remedy)
    if str(at.get("")).lower().startswith(("ct", "tpu")):
        try:
            hosts = catalogue().machine(at.get())
        except SliceError as error:
            yield demand(False, at, str(error))
            return
        if (wanted := topology.get()) and hosts[0].accepts(wanted):
            fitting = [machine.name for machine in hosts[0].machines_for(wanted)]
            yield demand(at.get() in fitting, at, f"does not support {wanted}; allowed: {', '.join(fitting)}")


@resource_rule("TPU003", POOL)
def a_slice_is_whole(pool: Resource, options: Options) -> Demands:
    """A multi-host pool has all hosts of the slice, or none."""
    shape = pools.tpu_slice(pool)
    if shape is None or not shape.multi_host:
        return
    scaling = pool["autoscaling"]
    for total in ("totalMinNodeCount", "totalMaxNodeCount"):
        text, remedy = "GKE scales a slice by the counts per zone", f"remove {scaling[total].path}"
        yield demand(scaling[total].is_zero, scaling[total], text, remedy=remedy)
    if scaling.is_set:
        smallest, largest = scaling["minNodeCount"], scaling["maxNodeCount"]
        remedy = f"set {smallest.path} to 0 or {shape.hosts}"
        text = f"GKE scales a slice only as a whole; allowed: 0, {shape.hosts}"
        yield demand(smallest.test(lambda least: int(least or 0) in (0, shape.hosts)), smallest, text, remedy=remedy)
        yield pools.of_the_slice(largest, shape)
    else:
        yield pools.of_the_slice(
            pool["initialNodeCount"] if pool["nodeCount"].one_of(None) else pool["nodeCount"], shape
        )


@resource_rule("TPU004", POOL)
def placed_as_the_generation_is(pool: Resource, options: Options) -> Demands:
    """A single host needs no placement. Several hosts need the placement of their generation."""
    if (shape := pools.tpu_slice(pool)) is None:
        return
    kind, policy = pool["placementPolicy.type"], pool["placementPolicy.policyName"]
    if shape.placement == "none":
        text, remedy = "a single host needs no placement", f"remove {pool['placementPolicy'].path}"
        yield demand(kind.one_of(None, ""), kind, text, remedy=remedy)
    elif shape.placement == "compact":
        text, remedy = f"{shape.generation.name} slices need COMPACT placement", f"set {kind.path} to COMPACT"
        yield demand(kind.one_of("COMPACT"), kind, text, remedy=remedy)
    else:
        text, remedy = f"{shape.generation.name} slices need a workload policy", f"name the policy in {policy.path}"
        yield demand(policy.scalar.is_set, policy, text, remedy=remedy)
        text, remedy = "with a workload policy, GKE stores no type", f'set {kind.path} to ""'
        yield demand(kind.one_of(None, ""), kind, text, remedy=remedy)


@stack_rule("TPU005")
@of_each(placed)
def one_zone_that_has_them(pool: Resource, options: Options) -> Demands:
    """There is exactly one zone, also by the cluster, and the catalogue knows that it offers the generation."""
    if (hosts := pools.tpu_hosts(pool)) is None:
        return
    at = zones(pool)
    if at.raw is None or (isinstance(at.raw, str) and at.raw.count("-") < 2):
        yield demand(False, pool["nodeLocations"], "a TPU pool is in exactly one zone")
        return
    where = tuple(at.each())
    yield demand(Truth(None, (at,)) if at.is_unknown else len(where) == 1, at, "a TPU pool is in exactly one zone")
    location = pool["location"]
    for zone in where:
        inside = zone.test(lambda name: bool(location.test(lambda place: place is None or is_inside(name, place))))
        text, remedy = f"{zone.raw} is not in {location.raw}", "name a zone of the pool's location"
        yield demand(inside, at, text, remedy=remedy)
        offered = zone.test(lambda name: catalogue().zone_offers(name, hosts.generation.name) is not None)
        known = ", ".join(catalogue().zones(hosts.generation.name))
        text = f"{zone.raw} is not known to offer {hosts.generation.name}; known: {known}"
        yield demand(offered, at, text)


@resource_rule("TPU006", *POOLS)
def one_provisioning_model(pool: Resource, options: Options) -> Demands:
    """Spot, flex-start and reservations exclude each other."""
    hosts, machine = pools.tpu_hosts(pool), pools.gpu_machine(pool)
    if hosts is None and not pools.has_gpus(pool):
        return
    config, asked = pool["nodeConfig"], pools.capacities(pool)
    yield demand(len(asked) <= 1, config, f"{', '.join(asked)} are set together, but a pool has one provisioning model")
    if "flex-start" in asked:
        if (accelerator := hosts.generation if hosts is not None else machine) is not None:
            text = f"flex-start does not offer {accelerator.name}"
            yield demand(accelerator.flex_start, config["flexStart"], text, remedy=ANOTHER_MODEL)
        affinity = config["reservationAffinity.consumeReservationType"]
        text, remedy = "flex-start uses no reservation", "remove reservationAffinity"
        yield demand(affinity.one_of(None, "NO_RESERVATION"), affinity, text, remedy=remedy)
    if pool["queuedProvisioning.enabled"].is_true:
        mixed = not {"spot", "preemptible", "reservation"} & set(asked)
        at, text = pool["queuedProvisioning.enabled"], f"not allowed with {', '.join(asked)}"
        yield demand(mixed, at, text, remedy=f"remove queuedProvisioning or {', '.join(asked)}")


@resource_rule("TPU007", *POOLS)
def reservations_are_named(pool: Resource, options: Options) -> Demands:
    """TPUs need a named reservation."""
    affinity = pool["nodeConfig.reservationAffinity"]
    if pools.tpu_hosts(pool) is None or ~affinity.is_set:
        return
    kind, values = affinity["consumeReservationType"], affinity["values"]
    yield demand(kind.one_of("SPECIFIC_RESERVATION", "NO_RESERVATION"), kind, "TPUs need a SPECIFIC_RESERVATION")
    if kind.get() == "SPECIFIC_RESERVATION":
        named = affinity["key"].one_of("compute.googleapis.com/reservation-name") & values.is_set
        yield demand(named, values, "names no reservation")


@resource_rule("TPU008", POOL)
def gke_labels_and_taint_are_kept(pool: Resource, options: Options) -> Demands:
    """A pool does not override the labels and the taint that GKE sets on TPU nodes."""
    if (shape := pools.tpu_slice(pool)) is None:
        return
    labels = pool["nodeConfig.labels"]
    for key in labels.names():
        if key in shape.node_labels or key == GKE_POOL_LABEL or key.startswith(LABEL_PREFIX):
            own = pool["name"].get() if key == GKE_POOL_LABEL else shape.node_labels.get(key)
            yield demand(labels.child(key).one_of(own), labels.child(key), "GKE sets this label", remedy=REMOVED_LABEL)
    for taint in pool["nodeConfig.taints"].each():
        kept = ~taint["key"].one_of(TPU) | taint["effect"].one_of("NO_SCHEDULE")
        yield demand(kept, taint["effect"], "GKE's taint is NO_SCHEDULE", remedy=f"remove {taint.path}")


@resource_rule("TPU009", *POOLS)
def flex_start_ends(pool: Resource, options: Options) -> Demands:
    """Flex-start hosts run for at most seven days. GKE creates them for pods, and does not repair them."""
    if pool["nodeConfig.flexStart"].is_true:
        at = pool["nodeConfig.maxRunDuration"]
        allowed = ~at.is_set | at.test(_is_run_duration)
        yield demand(allowed, at, "not a run time of flex-start hosts; allowed: 600s to 604800s")
        repair, scaling = pool["management.autoRepair"], pool["autoscaling"]
        text, remedy = "GKE does not repair flex-start hosts", f"set {repair.path} to false"
        yield demand(~repair.is_true, repair, text, remedy=remedy)
        counts = pool["nodeCount"], pool["initialNodeCount"], scaling["minNodeCount"], scaling["totalMinNodeCount"]
        for count in counts:
            text, remedy = "GKE creates flex-start hosts only for pods", f"autoscale from 0, without {count.path}"
            yield demand(count.is_zero, count, text, remedy=remedy)


def _is_run_duration(duration: object) -> bool:
    seconds = re.fullmatch(r"([0-9]{1,9})s", str(duration or ""))
    return seconds is not None and 600 <= int(seconds[1]) <= LONGEST_RUN


@resource_rule("TPU010", POOL)
def upgrades_need_no_spare_slice(pool: Resource, options: Options) -> Demands:
    """An upgrade cannot request additional hosts for a slice."""
    shape = pools.tpu_slice(pool)
    if shape is None or not shape.multi_host:
        return
    upgrade = pool["upgradeSettings"]
    yield demand(~upgrade["strategy"].one_of("BLUE_GREEN"), upgrade["strategy"], "needs a second slice")
    if upgrade["strategy"].get("SURGE") == "SURGE":
        at = upgrade["maxSurge"]
        text, remedy = "a slice has no additional host; allowed: 0", f"set {at.path} to 0"
        yield demand(at.is_zero & ~at.one_of(None), at, text, remedy=remedy)
        at = upgrade["maxUnavailable"]
        text, remedy = "without it, no host can be upgraded; allowed: 1 or more", f"set {at.path} to 1 or more"
        yield demand(~at.is_zero, at, text, remedy=remedy)


@stack_rule("TPU011")
@of_each(placed)
def machines_are_in_the_zone(pool: Resource, options: Options) -> Demands:
    """The zone offers the machine family, as far as the catalogue knows the zone."""
    machine = pool["nodeConfig.machineType"]
    if pools.tpu_hosts(pool) is not None:
        return
    name = str(machine.get("e2-medium")).partition("-")[0]  # e2-medium: GKE's own default
    if (family := cpu_catalogue().families.get(name)) is not None:
        for zone in zones(pool).each():
            allowed = ", ".join(cpu_catalogue().families_in(str(zone.raw)))
            text = f"not available in {zone.raw}; allowed: {allowed}"
            yield demand(zone.test(family.may_be_in), machine, text)


@resource_rule("TPU014", *POOLS)
def no_idle_on_demand_accelerators(pool: Resource, options: Options) -> Demands:
    """Outside production, on-demand chips and GPUs scale to 0."""
    units = "chips" if pools.tpu_hosts(pool) is not None else "GPUs"
    if (units == "GPUs" and not pools.has_gpus(pool)) or pools.capacities(pool):
        return
    at = pools.sized_by(pool, "Min")
    yield demand(pools.node_range(pool)[0] == 0, at, f"on-demand {units} cost money while they are idle; allowed: 0")
