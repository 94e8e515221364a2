"""Properties of TPU and GPU node pools that several groups of rules need."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from tpuplane.gpu import GpuError, GpuMachine, gpu_catalogue
from tpuplane.quantities import counted
from tpuplane.spec.core.locations import is_zone
from tpuplane.tpu import Generation, MachineType, Slice, SliceError, catalogue

from tpuplane_policies.core.judging import Demand, demand
from tpuplane_policies.core.resources import CLUSTER, POOL, Resource, Stack
from tpuplane_policies.core.values import UNKNOWN, UndecidedError, Value

T = TypeVar("T")

DEFAULT_ZONES = 3
"""The zones in which GKE creates a regional cluster: https://docs.cloud.google.com/kubernetes-engine/docs/concepts/
types-of-clusters#regional_clusters."""


@dataclass(frozen=True, slots=True)
class Hosts:
    """The machines of a TPU pool."""

    generation: Generation
    machine: MachineType


def tpu_hosts(pool: Resource) -> Hosts | None:
    """The TPU machines of a pool; None for other pools.

    Raises:
        UndecidedError: if the machine type is unknown.

    """
    name = str(pool["nodeConfig.machineType"].get(""))
    try:
        return Hosts(*catalogue().machine(name))
    except SliceError:
        return None


def is_cube(pool: Resource) -> bool:
    """Whether the pool is a cube for dynamic slices: it has a workload policy, and GKE connects its hosts only then.

    Raises:
        UndecidedError: if the machine type, the policy or the topology is unknown.

    """
    hosts, placement = tpu_hosts(pool), pool["placementPolicy"]
    dynamic = hosts is not None and bool(hosts.generation.partitions)
    return dynamic and bool(placement["policyName"].get("")) and not placement["tpuTopology"].get("")


def tpu_slice(pool: Resource) -> Slice | None:
    """The slice of a TPU pool; None for other pools and for a wrong shape, which TPU001 and TPU002 report.

    A cube for dynamic slices counts as a slice.

    Raises:
        UndecidedError: if the machine type or the topology is unknown.

    """
    if (hosts := tpu_hosts(pool)) is None:
        return None
    whole = hosts.generation.partitions[0] if is_cube(pool) else hosts.machine.single_host_topology
    topology = pool["placementPolicy.tpuTopology"].get(whole)
    try:
        return Slice.of(hosts.generation.name, topology, hosts.machine.name) if topology else None
    except SliceError:
        return None


def of_the_slice(at: Value, shape: Slice) -> Demand:
    """That a number of hosts is that of the slice; a number that is not set is 1."""
    whole = at.test(lambda number: (1 if number is None else int(number)) == shape.hosts)
    text, remedy = f"a {shape} slice has {counted(shape.hosts, 'host')}", f"set {at.path} to {shape.hosts}"
    return demand(whole, at, text, remedy=remedy)


def zones(pool: Resource) -> Value:
    """The zones of a pool, or its location if it sets none."""
    return pool["location"] if pool["nodeLocations"].raw is None else pool["nodeLocations"]


def zone_count(pool: Resource) -> int:
    """The number of zones by which GKE multiplies the node counts of a pool; one if it sets no location. See `placed`.

    Raises:
        UndecidedError: if the zones, or the location of a pool without zones, are unknown.

    """
    at = pool["nodeLocations"]
    if at.is_unknown:
        raise UndecidedError(at)
    if own := len(tuple(at.each())):
        return own
    place = str(pool["location"].get(""))
    return DEFAULT_ZONES if place and not is_zone(place) else 1


def placed(stack: Stack) -> Iterator[Resource]:
    """The pools of a stack. A pool that sets no zones has those of its cluster, and its location if it sets none."""
    clusters = list(stack.of(CLUSTER))
    for pool in stack.of(POOL):
        inherits = clusters and pool["nodeLocations"].raw in (None, [])
        yield replace(pool, load=partial(_with_zones, pool, clusters)) if inherits else pool


def _with_zones(pool: Resource, clusters: list[Resource]) -> dict[str, object]:
    """The properties of a pool with the zones of its cluster. They are unknown if clusters differ that can be its."""
    place = pool["location"].raw
    try:
        own = clusters_of(pool, clusters)
        sure = own and UNKNOWN not in (*home(pool), *(part for cluster in own for part in _home(cluster)))
    except UndecidedError:
        own, sure = clusters, False
    where = [_location_and_zones(cluster, place) for cluster in own] + ([] if sure else [(place, None)])
    place, zones = where[0] if all(one == where[0] for one in where) else (UNKNOWN, UNKNOWN)
    return {**pool.props.raw, "location": place, "nodeLocations": zones}


def _location_and_zones(cluster: Resource, place: object) -> tuple[object, object]:
    """Those of a pool at `place` that sets no zones. A zonal cluster omits its own zone from the list."""
    zones = cluster["nodeLocations"].raw
    own = cluster["location"].raw if place in (None, UNKNOWN) else place
    if own is UNKNOWN or not zones or not isinstance(zones, list):
        return own, zones and UNKNOWN
    return own, [own, *zones] if is_zone(str(own)) else zones


def node_range(pool: Resource) -> tuple[int, int]:
    """The minimum and maximum number of nodes in all zones together."""
    if totals := pool["autoscaling.totalMaxNodeCount"].get(0):
        return int(pool["autoscaling.totalMinNodeCount"].get(0)), int(totals)
    count = zone_count(pool)
    if pool["autoscaling"].is_set:
        smallest, largest = pool["autoscaling.minNodeCount"].get(0), pool["autoscaling.maxNodeCount"].get(0)
        return int(smallest) * count, int(largest) * count
    fixed = pool["nodeCount"].get(None)
    fixed = int(pool["initialNodeCount"].get(0) if fixed is None else fixed) * count
    return fixed, fixed


def capacities(pool: Resource) -> list[str]:
    """The provisioning models that the pool sets; empty for on-demand."""
    asked = {
        "spot": pool["nodeConfig.spot"].get(False),
        "preemptible": pool["nodeConfig.preemptible"].get(False),
        "flex-start": pool["nodeConfig.flexStart"].get(False),
        "reservation": pool["nodeConfig.reservationAffinity.consumeReservationType"].get("") == "SPECIFIC_RESERVATION",
    }
    return [name for name, wanted in asked.items() if wanted]


def home(pool: Resource) -> tuple[str, object, object]:
    """The name, the location and the project of a pool's cluster, also if the property is a path.

    Raises:
        UndecidedError: if the property is unknown.

    """
    words = str(pool["cluster"].get("")).split("/")
    named = dict(zip(words[::2], words[1::2], strict=False))  # projects/…/locations/…/clusters/…
    return words[-1], named.get("locations", pool["location"].raw), named.get("projects", pool["project"].raw)


def _home(cluster: Resource) -> tuple[str, object, object]:
    return str(cluster["name"].get("")), cluster["location"].raw, cluster["project"].raw


def may_be(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """Whether two homes can be the same: their names are equal, and so are the locations and projects that they set."""
    told = zip(one[1:], other[1:], strict=True)
    return one[0] == other[0] and all(a == b or not {None, UNKNOWN}.isdisjoint((a, b)) for a, b in told)


def clusters_of(pool: Resource, clusters: Iterable[Resource]) -> list[Resource]:
    """The clusters that a pool can be in: those with its cluster's name, and with its location and project.

    Raises:
        UndecidedError: if the pool's cluster is unknown, or if the names of clusters are and no other is the pool's.

    """
    place, unnamed, found = home(pool), list[Value](), list[Resource]()
    for cluster in clusters:
        if cluster["name"].is_unknown:
            unnamed.append(cluster["name"])
        elif may_be(place, _home(cluster)):
            found.append(cluster)
    if unnamed and not found:
        raise UndecidedError(*unnamed)
    return found


def node_configs(resource: Resource) -> Iterator[Value]:
    """The node configurations of a pool, or of a cluster: of its default pool and of node auto-provisioning."""
    if resource.type == POOL:
        yield resource["nodeConfig"]
        return
    if resource["nodeConfig"].is_set & ~resource["enableAutopilot"].is_true:
        yield resource["nodeConfig"]
    if resource["clusterAutoscaling.enabled"].is_true:
        yield resource["clusterAutoscaling.autoProvisioningDefaults"]


def auto_provisioned(
    stack: Stack, names: Mapping[str, T], pools: Iterable[tuple[Resource, str, int]]
) -> Iterator[tuple[Resource, T, int]]:
    """The number of chips or GPUs that node auto-provisioning can add in each cluster: GKE's limits minus the pools.

    Args:
        stack: the stack with the clusters.
        names: the objects to yield, by the resource type in the limits.
        pools: each pool with its resource type and its maximum number of chips or GPUs.

    """
    clusters = [cluster for cluster in stack.of(CLUSTER) if cluster["clusterAutoscaling.enabled"].is_true]
    declared = [(home(pool), name, most) for pool, name, most in pools] if clusters else []
    for cluster in clusters:
        own = _home(cluster)
        inside = [(place, name, most) for place, name, most in declared if may_be(place, own)]
        if len(clusters) > 1 and any(UNKNOWN in (*place, *own) for place, *_ in inside):
            raise UndecidedError(cluster["location"])
        for limit in cluster["clusterAutoscaling.resourceLimits"].each():
            name = limit["resourceType"].get("")
            if name in names:
                existing = sum(most for _, other, most in inside if other == name)
                yield cluster, names[name], max(0, int(limit["maximum"].get(0)) - existing)


def gpu_machine(pool: Resource) -> GpuMachine | None:
    """The machine type of a GPU pool; None for other pools and for GPUs attached to a general-purpose machine type.

    Raises:
        UndecidedError: if the machine type is unknown.

    """
    try:
        return gpu_catalogue().machine(str(pool["nodeConfig.machineType"].get("")))
    except GpuError:
        return None


def gpus_per_node(pool: Resource) -> int:
    """The number of GPUs of one node, including attached ones."""
    if (machine := gpu_machine(pool)) is not None:
        return machine.gpus
    return sum(int(attached["count"].get(0)) for attached in pool["nodeConfig.guestAccelerators"].each())


def offered_per_node(pool: Resource) -> int:
    """The `nvidia.com/gpu` capacity of a node: GPUs times partitions times containers that share one."""
    if (machine := gpu_machine(pool)) is None:
        return gpus_per_node(pool)
    if (config := next(iter(pool["nodeConfig.guestAccelerators"].each()), None)) is None:
        return machine.gpus
    clients = config["gpuSharingConfig.maxSharedClientsPerGpu"].get(0)
    return machine.offers(config["gpuPartitionSize"].get(""), int(clients))


def provisioned_gpus(stack: Stack) -> Iterator[tuple[Resource, GpuMachine, int]]:
    """The maximum number of GPUs that node auto-provisioning can add in each cluster, by default machine type."""
    pools = (
        (pool, machine.accelerator.name, node_range(pool)[1] * machine.gpus)
        for pool in placed(stack)
        if (machine := gpu_machine(pool))
    )
    names = (accelerator.name for accelerator in gpu_catalogue().accelerators)
    known = {name: gpu_catalogue().machine_with(name) for name in names}
    return auto_provisioned(stack, known, pools)
