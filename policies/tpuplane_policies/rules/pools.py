"""Properties of TPU and GPU node pools that several groups of rules need."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

from tpuplane.gpu import GpuError, GpuMachine, gpu_catalogue
from tpuplane.quantities import counted
from tpuplane.tpu import Generation, MachineType, Slice, SliceError, catalogue

from tpuplane_policies.core.judging import Demand, demand
from tpuplane_policies.core.resources import CLUSTER, POOL, Resource, Stack, keeps_default_pool
from tpuplane_policies.core.values import UNKNOWN, UndecidedError, Value
from tpuplane_policies.rules.places import cluster_home, home, may_be, placed, zone_count

T = TypeVar("T")

_ACCELERATED = re.compile(r"(a[0-9]|g[2-9])\w*-", re.IGNORECASE)
"""The start of machine types with GPUs, such as a3-highgpu-8g and g2-standard-4. G1 has shared cores and no GPU."""


@dataclass(frozen=True, slots=True)
class Hosts:
    """The machines of a TPU pool."""

    generation: Generation
    machine: MachineType


def _machine_type(pool: Resource) -> str:
    return str(pool["nodeConfig.machineType"].scalar.get(""))


def tpu_hosts(pool: Resource) -> Hosts | None:
    """The TPU machines of a pool; None for other pools."""
    try:
        return Hosts(*catalogue().machine(_machine_type(pool)))
    except SliceError:
        return None


def is_cube(pool: Resource) -> bool:
    """Whether the pool is a cube for dynamic slices: it has a workload policy, and GKE connects its hosts only then."""
    hosts, placement = tpu_hosts(pool), pool["placementPolicy"]
    dynamic = hosts is not None and bool(hosts.generation.partitions)
    return dynamic and bool(placement["policyName"].get("")) and not placement["tpuTopology"].get("")


def tpu_slice(pool: Resource) -> Slice | None:
    """The slice of a TPU pool; None for other pools and for a wrong shape, which TPU001 and TPU002 report.

    A cube for dynamic slices counts as a slice.
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


def node_range(pool: Resource) -> tuple[int, int]:
    """The minimum and maximum number of nodes in all zones together."""
    if totals := int(pool["autoscaling.totalMaxNodeCount"].get(0)):
        return int(pool["autoscaling.totalMinNodeCount"].get(0)), totals
    count = zone_count(pool)
    if pool["autoscaling"].is_set:
        smallest, largest = pool["autoscaling.minNodeCount"].get(0), pool["autoscaling.maxNodeCount"].get(0)
        return int(smallest) * count, int(largest) * count
    fixed = pool["nodeCount"].get(None)
    fixed = int(pool["initialNodeCount"].get(0) if fixed is None else fixed) * count
    return fixed, fixed


def sized_by(pool: Resource, bound: Literal["Min", "Max"]) -> Value:
    """The property with the minimum or maximum number of nodes."""
    scaling = pool["autoscaling"]
    if scaling.is_set:
        total = int(scaling["totalMaxNodeCount"].get(0))
        return scaling[f"total{bound}NodeCount" if total else f"{bound.lower()}NodeCount"]
    return pool["initialNodeCount" if pool["nodeCount"].raw is None else "nodeCount"]


def capacities(pool: Resource) -> list[str]:
    """The provisioning models that the pool sets; empty for on-demand."""
    asked = {
        "spot": pool["nodeConfig.spot"].is_true,
        "preemptible": pool["nodeConfig.preemptible"].is_true,
        "flex-start": pool["nodeConfig.flexStart"].is_true,
        "reservation": pool["nodeConfig.reservationAffinity.consumeReservationType"].one_of("SPECIFIC_RESERVATION"),
    }
    return [name for name, wanted in asked.items() if wanted]


def node_configs(resource: Resource) -> Iterator[Value]:
    """The node configurations of a pool, or of a cluster: of a default pool that it keeps, and of auto-provisioning."""
    if resource.type == POOL:
        yield resource["nodeConfig"]
        return
    if resource["nodeConfig"].is_set & keeps_default_pool(resource):
        yield resource["nodeConfig"]
    if resource["clusterAutoscaling.enabled"].is_true:
        yield resource["clusterAutoscaling.autoProvisioningDefaults"]


def auto_provisioned(
    stack: Stack, named: Callable[[str], T | None], pools: Iterable[tuple[Resource, str, int]]
) -> Iterator[tuple[Resource, T, int]]:
    """The number of chips or GPUs that node auto-provisioning can add in each cluster: GKE's limits minus the pools.

    `named` returns the object to yield for a resource type in the limits, None for other resources. Each of the `pools`
    has its resource type and its maximum number of chips or GPUs.
    """
    clusters = [cluster for cluster in stack.of(CLUSTER) if cluster["clusterAutoscaling.enabled"].is_true]
    declared = [(home(pool), name, most) for pool, name, most in pools] if clusters else []
    for cluster in clusters:
        own = cluster_home(cluster)
        inside = [(place, name, most) for place, name, most in declared if may_be(place, own)]
        if len(clusters) > 1 and any(UNKNOWN in (*place, *own) for place, *_ in inside):
            raise UndecidedError(cluster["location"])
        for limit in cluster["clusterAutoscaling.resourceLimits"].each():
            name = str(limit["resourceType"].get(""))
            if (kind := named(name)) is not None:
                existing = sum(most for _, other, most in inside if other == name)
                yield cluster, kind, max(0, int(limit["maximum"].get(0)) - existing)


def gpu_machine(pool: Resource) -> GpuMachine | None:
    """The machine type of a GPU pool; None for other pools and for GPUs attached to a general-purpose machine type."""
    try:
        return gpu_catalogue().machine(_machine_type(pool))
    except GpuError:
        return None


def has_gpus(pool: Resource) -> bool:
    """Whether the nodes have GPUs, also GPUs that the catalogue does not describe."""
    name = _machine_type(pool)
    return _ACCELERATED.match(name) is not None or any(count for _, count in gpus(pool))


def gpus(pool: Resource) -> list[tuple[str, int]]:
    """The known GPUs of one node by their model, including attached ones."""
    if (machine := gpu_machine(pool)) is not None:
        return [(machine.accelerator.name, machine.gpus)]
    parts = pool["nodeConfig.guestAccelerators"].each()
    return [(str(part["type"].get("")), int(part["count"].get(0))) for part in parts]


def gpus_per_node(pool: Resource) -> int:
    """The number of GPUs of one node, including attached ones.

    Raises `UndecidedError` also if only the machine type says that there are GPUs, and the catalogue lacks it.
    """
    count = sum(count for _, count in gpus(pool))
    if not count and has_gpus(pool):
        name = pool["nodeConfig.machineType"].get()
        raise UndecidedError(Value(UNKNOWN, f"nodeConfig.guestAccelerators, the GPUs of {name}", pool))
    return count


def offered_per_node(pool: Resource) -> int:
    """The `nvidia.com/gpu` capacity of a node: GPUs times partitions times containers that share one."""
    if (config := next(iter(pool["nodeConfig.guestAccelerators"].each()), None)) is None:
        return gpus_per_node(pool)
    clients = int(config["gpuSharingConfig.maxSharedClientsPerGpu"].get(0))
    if (machine := gpu_machine(pool)) is None:
        return gpus_per_node(pool) * (clients or 1)
    return machine.offers(config["gpuPartitionSize"].get(""), clients)


def provisioned_gpus(stack: Stack) -> Iterator[tuple[Resource, str, int]]:
    """The maximum number of GPUs of each model that node auto-provisioning can add in each cluster."""
    pools = ((pool, name, node_range(pool)[1] * count) for pool in placed(stack) for name, count in gpus(pool))
    return auto_provisioned(stack, lambda name: name if name.startswith("nvidia-") else None, pools)
