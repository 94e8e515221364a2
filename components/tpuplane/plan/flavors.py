"""Kueue's resource flavors of the pools of a cluster, with the labels and taints of the pools."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from tpuplane.labels import (
    BLOCK_LABEL,
    CAPACITY_LABEL,
    CLASS_LABEL,
    COUNT_LABEL,
    GKE_POOL_LABEL,
    HOSTNAME,
    MACHINE_LABEL,
    POOL_LABEL,
    QUEUED_LABEL,
    TOPOLOGY_LABEL,
    bought_labels,
    partition_label,
    reservation_name,
    sub_slice_label,
)
from tpuplane.plan.pools import GpuPlan, NodePoolPlan
from tpuplane.plan.queue_model import FlavorPlan, ProvisioningPlan, TopologyPlan
from tpuplane.spec.core.names import SYSTEM_POOL
from tpuplane.spec.pools.hosts import Capacity
from tpuplane.tpu import Slice, catalogue

CPU_FLAVOR = "cpu"
SLICE_TOPOLOGY = TopologyPlan("slices", (GKE_POOL_LABEL, HOSTNAME))
"""A multi-host pool is one slice, so all hosts of a job must be in one pool."""
_CUBE, *_PARTS = map(partition_label, catalogue().generation("tpu7x").partitions)
CUBE_TOPOLOGY = TopologyPlan("cubes", (BLOCK_LABEL, _CUBE, GKE_POOL_LABEL, *_PARTS, HOSTNAME))
"""Pools for dynamic slicing are cubes. A slice is several cubes of a block, one cube or a part of it
(AI-Hypercomputer/xpk, branch slice-main: the nodes of the slice controller's tests)."""
TOPOLOGIES = (SLICE_TOPOLOGY, CUBE_TOPOLOGY)


def topologies(found: Iterable[FlavorPlan]) -> tuple[TopologyPlan, ...]:
    """The topologies of flavors, each one once."""
    own = list(found)
    used = {flavor.topology for flavor in own}
    parts = dict.fromkeys(_topology(flavor.sub_slices) for flavor in own if flavor.sub_slices)
    return (*(topology for topology in TOPOLOGIES if topology.name in used), *parts)


def _topology(sub_slices: Sequence[str]) -> TopologyPlan:
    """The topology of slices with these parts. Kueue does not allow other levels, so they are in its name."""
    pool, host = SLICE_TOPOLOGY.levels
    return TopologyPlan("-".join((SLICE_TOPOLOGY.name, *sub_slices)), (pool, *map(sub_slice_label, sub_slices), host))


FLAVOR_LABEL = "tpuplane-flavor"
"""The flavor of a node. A flavor can require labels but not their absence. With GKE's labels alone, Kueue would also
count shared GPUs as whole ones, and pools of the same shape without a team as pools of a team."""

ELASTIC = "-elastic"
"""End of the names of flavors of autoscaled pools. They have no topology, because Kueue places pods only on existing
nodes, and their nodes are added for pods. The name of a flavor depends only on its own pools, because Kueue does not
allow changes to a flavor with a topology."""

# In the name of a reservation it looks like a part of the flavor's name that comes after the reservation.
_LATER_PART = re.compile("-class-|-cubes$|-of-[0-9]")
_LONGEST_LABEL = 63
# The maximum of Kueue's CRD (MaxProperties of nodeLabels, apis/kueue/v1beta2/resourceflavor_types.go, v0.18.3). If
# there are more, these are omitted first: FLAVOR_LABEL implies each of them, and jobs seldom select nodes by them.
_MOST_LABELS = 8
_DISPENSABLE = (CAPACITY_LABEL, COUNT_LABEL, QUEUED_LABEL)
_LOCAL_SSD_GB = 375


def flavors(pools: Iterable[NodePoolPlan], order: Sequence[Capacity], *, system_pool: bool) -> tuple[FlavorPlan, ...]:
    """The flavors of the pools of teams: first CPUs, with and without a topology, then others by the order of capacity.

    CPUs are first because a pod without chips fits every flavor. If the CPUs are in use, Kueue tries TPU hosts, unless
    the pod's selectors prevent it. Taints of the flavors would prevent it too, but would also reject each pod with
    chips whose toleration comes from GKE, which adds it after Kueue's decision.
    """
    by_name = sorted(((_name(pool), pool) for pool in pools), key=lambda item: (rank(item[1].capacity, order), item[0]))
    return (
        *(_cpus(placed=placed, system_pool=system_pool) for placed in (True, False)),
        *(_flavor(name, [pool for _, pool in named]) for name, named in groupby(by_name, key=lambda item: item[0])),
    )


def in_flavors(found: Iterable[FlavorPlan], pools: Iterable[NodePoolPlan]) -> tuple[NodePoolPlan, ...]:
    """The same pools; the nodes of teams have the label of their flavor."""
    used = {(flavor.name, pool) for flavor in found for pool in flavor.pools}
    return tuple(
        replace(pool, node_labels={**pool.node_labels, FLAVOR_LABEL: name})
        if ((name := _name(pool)), pool.pool) in used
        else pool
        for pool in pools
    )


def flavor_of(found: Iterable[FlavorPlan], members: Iterable[NodePoolPlan]) -> str | None:
    """The name of the flavor that the node pools of one pool belong to; None without a node pool (no slices)."""
    names = {_name(pool) for pool in members}
    return next((flavor.name for flavor in found if flavor.name in names), None)


def _name(pool: NodePoolPlan) -> str:
    """The name of its flavor, such as v6e-4x4-spot. Pools with the same flavor have the same labels and taints."""
    reservation = reservation_name(pool.reservation or "")
    possible = (
        _hardware_name(pool.hardware),
        pool.capacity if pool.capacity != "on-demand" else "",
        "queued" if pool.queued else "",
        reservation,
        "cubes" if pool.dynamic_slicing else "",
        *(("of", *pool.sub_slices) if pool.sub_slices else ()),
        f"class-{pool.compute_class}" if pool.compute_class is not None else "",
    )
    parts = [part for part in possible if part]
    whole, end = "-".join(parts), "" if _placed(pool) else ELASTIC
    # The name of a class or a reservation can have this end.
    ambiguous = whole.endswith(ELASTIC)
    whole += end
    known_by = whole
    if _LATER_PART.search(reservation):
        ambiguous, known_by = True, "/".join(parts) + end
    # The name is also the value of a label.
    if len(whole) <= _LONGEST_LABEL and not ambiguous:
        return whole
    return f"{whole[: _LONGEST_LABEL - 9]}-{hashlib.sha256(known_by.encode()).hexdigest()[:8]}"


def _hardware_name(hardware: Slice | GpuPlan) -> str:
    """v6e-4x4, or v6e-2x4-8t if it is not the default machine type of the shape; a2-highgpu-1g-1g.5gb-mps-4."""
    if isinstance(hardware, GpuPlan):
        return str(hardware)
    name, machine = f"{hardware.generation.name}-{hardware.topology}", hardware.machine
    usual = Slice.of(hardware.generation.name, hardware.topology).machine
    return name if machine == usual else f"{name}-{machine.name.rpartition('-')[2]}"


def _placed(pool: NodePoolPlan) -> bool:
    """Whether its nodes exist before Kueue places pods on them. A ProvisioningRequest adds them before."""
    return pool.autoscaling is None or pool.queued


def _taints(pool: NodePoolPlan) -> Iterator[str]:
    yield pool.resource  # GKE's taint has the name of the resource
    if pool.queued:
        yield QUEUED_LABEL
    if pool.compute_class is not None:
        # A team with quota in the pool can use it without requesting its class.
        yield CLASS_LABEL


def rank(capacity: Capacity, order: Sequence[Capacity]) -> int:
    """The position of a capacity in the order. Capacities that the order omits are last."""
    return order.index(capacity) if capacity in order else len(order)


def _cpus(*, placed: bool, system_pool: bool) -> FlavorPlan:
    """The system pool; in an existing cluster, which has no system pool, all nodes."""
    return FlavorPlan(
        name=CPU_FLAVOR if placed else f"{CPU_FLAVOR}{ELASTIC}",
        # A flavor with a topology requires a label. Every node has this one.
        node_labels={POOL_LABEL: SYSTEM_POOL} if system_pool else {"kubernetes.io/os": "linux"},
        tolerated_taints=(),
        topology=SLICE_TOPOLOGY.name if placed else None,
        capacity="on-demand",
        pools=(SYSTEM_POOL,),
        slices=0,
        per_slice={},
    )


def _flavor(name: str, pools: Sequence[NodePoolPlan]) -> FlavorPlan:
    first, nodes = pools[0], sum(pool.max_nodes * len(pool.zones) for pool in pools)
    hardware = first.hardware
    hosts, machine = hardware.hosts, hardware.machine
    # Hosts of a cube have no topology, and the one of their slice differs by job. A label with the state of the cube
    # would hide degraded cubes, and healthy parts of a cube with a bad host.
    omitted = (TOPOLOGY_LABEL,) if first.dynamic_slicing else ()
    labels = {key: value for key, value in hardware.node_labels.items() if key not in omitted}
    labels[MACHINE_LABEL] = machine.name  # several machine types have the same GPUs, and other CPUs
    # Kueue compares only selectors with labels that a flavor has: a job that selects a capacity must not get another.
    labels |= bought_labels(first.capacity, first.reservation)
    labels |= {} if first.compute_class is None else {CLASS_LABEL: first.compute_class}
    labels |= {CAPACITY_LABEL: first.capacity, FLAVOR_LABEL: name, **({QUEUED_LABEL: "true"} if first.queued else {})}
    topology = CUBE_TOPOLOGY if first.dynamic_slicing else _topology(first.sub_slices)
    # Ephemeral storage of a node: its local SSDs if it has some, else its boot disk.
    storage = max((pool.local_ssds or 0) * _LOCAL_SSD_GB or pool.node.disk_size_gb for pool in pools)
    return FlavorPlan(
        name=name,
        node_labels=_fewer(labels),
        tolerated_taints=tuple(_taints(first)),
        topology=topology.name if _placed(first) else None,
        capacity=first.capacity,
        pools=tuple(dict.fromkeys(pool.pool for pool in pools)),
        slices=nodes // hosts,
        per_slice={
            first.resource: first.offered,
            "cpu": hosts * machine.vcpus,
            "memory": hosts * machine.memory_gb,
            "ephemeral-storage": hosts * storage,
        },
        provisioning=_provisioning(pools),
        sub_slices=first.sub_slices,
    )


def _fewer(labels: dict[str, str]) -> dict[str, str]:
    """The labels without those above Kueue's maximum."""
    for key in _DISPENSABLE:
        if len(labels) > _MOST_LABELS:
            labels = {name: value for name, value in labels.items() if name != key}
    return labels


def _provisioning(pools: Sequence[NodePoolPlan]) -> ProvisioningPlan | None:
    """The ProvisioningRequest for the nodes, with the shortest run duration of the pools."""
    durations = [pool.flex_start.max_run_seconds for pool in pools if pool.flex_start and pool.queued]
    return ProvisioningPlan((pools[0].resource,), min(durations)) if durations else None
