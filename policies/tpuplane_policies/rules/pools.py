"""What several groups must know of a node pool: its slice, its size, how it is bought. The tables are tpuplane's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from tpuplane.tpu import Generation, MachineType, Slice, SliceError, catalogue

from tpuplane_policies.core.resources import CLUSTER, Resource, Stack
from tpuplane_policies.core.values import Value

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Hosts:
    """The machines of a TPU pool."""

    generation: Generation
    machine: MachineType


def tpu_hosts(pool: Resource) -> Hosts | None:
    """The TPU machines of a pool; None for a pool of others.

    Raises:
        UndecidedError: if the machine type is not known yet.

    """
    name = str(pool["nodeConfig.machineType"].get(""))
    try:
        return Hosts(*catalogue().machine(name))
    except SliceError:
        return None


def tpu_slice(pool: Resource) -> Slice | None:
    """The slice of a TPU pool; None for another pool, and where the shape is wrong (TPU001 and TPU002 say how).

    Raises:
        UndecidedError: if the machine type or the topology is not known yet.

    """
    hosts = tpu_hosts(pool)
    if hosts is None:
        return None
    topology = pool["placementPolicy.tpuTopology"].get(hosts.machine.single_host_topology)
    try:
        return Slice.of(hosts.generation.name, topology, hosts.machine.name) if topology else None
    except SliceError:
        return None


def zones(pool: Resource) -> Value:
    """Where the nodes are, as far as the pool itself says: its zones, or its location where that is a zone."""
    return pool["location"] if pool["nodeLocations"].one_of(None) else pool["nodeLocations"]


def zone_count(pool: Resource) -> int:
    """Zones that the pool's counts are multiplied by."""
    stated = pool["nodeLocations"].get([])
    return len(stated) or 1


def node_range(pool: Resource) -> tuple[int, int]:
    """Nodes at least and at most, in all zones together."""
    totals = pool["autoscaling.totalMaxNodeCount"].get(0)
    if totals:
        return int(pool["autoscaling.totalMinNodeCount"].get(0)), int(totals)
    count = zone_count(pool)
    if pool["autoscaling"].is_set:
        smallest, largest = pool["autoscaling.minNodeCount"].get(0), pool["autoscaling.maxNodeCount"].get(0)
        return int(smallest) * count, int(largest) * count
    fixed = pool["nodeCount"].get(None)
    fixed = int(pool["initialNodeCount"].get(0) if fixed is None else fixed) * count
    return fixed, fixed


def capacities(pool: Resource) -> list[str]:
    """The ways in which the pool asks to be bought; on-demand is none of them."""
    asked = {
        "spot": pool["nodeConfig.spot"].get(False),
        "preemptible": pool["nodeConfig.preemptible"].get(False),
        "flex-start": pool["nodeConfig.flexStart"].get(False),
        "reservation": pool["nodeConfig.reservationAffinity.consumeReservationType"].get("") == "SPECIFIC_RESERVATION",
    }
    return [name for name, wanted in asked.items() if wanted]


def cluster_of(pool: Resource) -> str:
    """The name of a pool's cluster, which may be written as a path."""
    return str(pool["cluster"].get("")).rpartition("/")[2]


def auto_provisioned(
    stack: Stack, names: Mapping[str, T], pools: Iterable[tuple[Resource, str, int]]
) -> Iterator[tuple[Resource, T, int]]:
    """What node auto-provisioning may add in each cluster: up to its limits, in which GKE counts all pools.

    `names`: the resource types that count. `pools`: each pool's resource type, and how many at most.
    """
    clusters = [it for it in stack.of(CLUSTER) if it["clusterAutoscaling.enabled"].is_true]
    declared: dict[tuple[str, str], int] = defaultdict(int)
    for pool, name, largest in pools if clusters else ():
        declared[cluster_of(pool), name] += largest
    for cluster in clusters:
        for limit in cluster["clusterAutoscaling.resourceLimits"].each():
            name = limit["resourceType"].get("")
            if name in names:
                there = declared[str(cluster["name"].get("")), name]
                yield cluster, names[name], max(0, int(limit["maximum"].get(0)) - there)


def region_of(location: str) -> str:
    """The region of a zone; a region is its own."""
    return "-".join(location.split("-")[:2])
