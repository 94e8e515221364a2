"""What several groups must know of a node pool: its slice, its size, how it is bought. The tables are tpuplane's."""

from __future__ import annotations

from dataclasses import dataclass

from tpuplane.tpu import Generation, MachineType, Slice, SliceError, catalogue

from tpuplane_policies.core.resources import Resource
from tpuplane_policies.core.values import Value


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
    return pool["nodeLocations"] if pool["nodeLocations"].raw is not None else pool["location"]


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
    if pool["autoscaling"].is_set.holds:
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


def region_of(location: str) -> str:
    """The region of a zone; a region is its own."""
    return "-".join(location.split("-")[:2])
