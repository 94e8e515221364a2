"""Properties of TPU and GPU node pools that several groups of rules need."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from tpuplane.gpu import GpuError, GpuMachine, gpu_catalogue
from tpuplane.quantities import counted
from tpuplane.tpu import Generation, MachineType, Slice, SliceError, catalogue

from tpuplane_policies.core.judging import Demand, demand
from tpuplane_policies.core.resources import CLUSTER, POOL, Resource, Stack
from tpuplane_policies.core.values import UndecidedError, Value

T = TypeVar("T")


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
    """The number of zones by which GKE multiplies the node counts of a pool."""
    at = pool["nodeLocations"]
    if at.is_unknown:
        raise UndecidedError(at)
    return len(tuple(at.each())) or 1


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


def cluster_of(pool: Resource) -> str:
    """The name of a pool's cluster, also if the property is a path."""
    return str(pool["cluster"].get("")).rpartition("/")[2]


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
    declared: dict[tuple[str, str], int] = defaultdict(int)
    for pool, name, largest in pools if clusters else ():
        declared[cluster_of(pool), name] += largest
    for cluster in clusters:
        for limit in cluster["clusterAutoscaling.resourceLimits"].each():
            name = limit["resourceType"].get("")
            if name in names:
                existing = declared[str(cluster["name"].get("")), name]
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
        for pool in stack.of(POOL)
        if (machine := gpu_machine(pool))
    )
    names = (accelerator.name for accelerator in gpu_catalogue().accelerators)
    known = {name: gpu_catalogue().machine_with(name) for name in names}
    return auto_provisioned(stack, known, pools)
