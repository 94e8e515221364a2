"""Resource flavors: what the pools of a cluster are to Kueue, with the labels and taints that the pools have."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from tpuplane.labels import (
    CAPACITY_LABEL,
    CLASS_LABEL,
    GKE_POOL_LABEL,
    MACHINE_LABEL,
    POOL_LABEL,
    QUEUED_LABEL,
    bought_labels,
    reservation_name,
)
from tpuplane.plan.pools import GpuPlan, NodePoolPlan
from tpuplane.plan.queue_model import FlavorPlan, ProvisioningPlan, TopologyPlan
from tpuplane.spec.core.names import SYSTEM_POOL
from tpuplane.spec.pools.hosts import Capacity
from tpuplane.tpu import Slice

CPU_FLAVOR = "cpu"
SLICE_TOPOLOGY = TopologyPlan("slices", (GKE_POOL_LABEL, "kubernetes.io/hostname"))
"""A multi-host pool is one slice, so the pool is the domain in which a job's hosts must be together."""
CUBE_TOPOLOGY = TopologyPlan(
    "cubes",
    (
        "cloud.google.com/gce-topology-block",
        "cloud.google.com/gke-tpu-partition-4x4x4-id",
        GKE_POOL_LABEL,
        "kubernetes.io/hostname",
    ),
)
"""Pools for dynamic slicing are cubes, which can be joined within a block (AI-Hypercomputer/xpk, super-slicing)."""
TOPOLOGIES = (SLICE_TOPOLOGY, CUBE_TOPOLOGY)

_CUBE_HEALTH = {"cloud.google.com/gke-tpu-partition-4x4x4-state": "HEALTHY"}

FLAVOR_LABEL = "tpuplane-flavor"
"""The flavor that nodes belong to. A flavor asks for labels and cannot ask for their absence: by GKE's alone, whole
GPUs would be sought on shared ones too, and a team's slices in pools of the same shape that no team has."""

ELASTIC = "-elastic"
"""End of the names of flavors of autoscaled pools, which have no topology: Kueue places only on nodes that exist, and
theirs come for pods. The name of a flavor depends on its own pools alone. Kueue changes no flavor with a topology."""

_LONGEST_LABEL = 63
# Kueue's CRD takes no more (MaxProperties of nodeLabels, apis/kueue/v1beta2/resourceflavor_types.go, v0.18.3). These go
# first where there are more: FLAVOR_LABEL implies each of them, and jobs that want such nodes seldom select by them.
_MOST_LABELS = 8
_DISPENSABLE = (CAPACITY_LABEL, "cloud.google.com/gke-accelerator-count", QUEUED_LABEL)
_LOCAL_SSD_GB = 375


def flavors(pools: Iterable[NodePoolPlan], order: Sequence[Capacity], *, system_pool: bool) -> tuple[FlavorPlan, ...]:
    """The flavors of the pools that teams use: first the CPUs, placed and not, then others in the order of capacities.

    CPUs go first because a pod that asks for no chips fits everywhere. Where they are used up Kueue goes on to TPU
    hosts, unless the pod's selectors keep it away: taints of the flavors would, and would also reject every pod with
    chips that has its toleration from GKE, which adds it after Kueue has looked.
    """
    by_name = sorted(((_name(pool), pool) for pool in pools), key=lambda item: (rank(item[1].capacity, order), item[0]))
    return (
        *(_cpus(placed=placed, system_pool=system_pool) for placed in (True, False)),
        *(_flavor(name, [pool for _, pool in of]) for name, of in groupby(by_name, key=lambda item: item[0])),
    )


def in_flavors(found: Iterable[FlavorPlan], pools: Iterable[NodePoolPlan]) -> tuple[NodePoolPlan, ...]:
    """The same pools; the nodes of those that teams use say which flavor they are."""
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
    """The name of its flavor, such as v6e-4x4-spot; pools of one name have the same labels and taints."""
    parts = [_hardware_name(pool.hardware)]
    if pool.capacity != "on-demand":
        parts.append(pool.capacity)
    if pool.queued:
        parts.append("queued")
    if pool.reservation is not None:
        parts.append(reservation_name(pool.reservation))
    if pool.dynamic_slicing:
        parts.append("cubes")
    if pool.compute_class is not None:
        parts.append(f"class-{pool.compute_class}")
    whole = "-".join(parts)
    # A class or a reservation may have a name that ends so.
    ambiguous = whole.endswith(ELASTIC)
    if not _placed(pool):
        whole += ELASTIC
    # It is the value of a label too.
    if len(whole) <= _LONGEST_LABEL and not ambiguous:
        return whole
    return f"{whole[: _LONGEST_LABEL - 9]}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}"


def _hardware_name(hardware: Slice | GpuPlan) -> str:
    """v6e-4x4, or v6e-2x4-8t where that is not the shape's usual machine; a2-highgpu-1g-1g.5gb-mps-4."""
    if isinstance(hardware, GpuPlan):
        return str(hardware)
    name, machine = f"{hardware.generation.name}-{hardware.topology}", hardware.machine
    usual = Slice.of(hardware.generation.name, hardware.topology).machine
    return name if machine == usual else f"{name}-{machine.name.rpartition('-')[2]}"


def _placed(pool: NodePoolPlan) -> bool:
    """Whether its nodes exist before Kueue places work on them. A ProvisioningRequest brings them first."""
    return pool.autoscaling is None or pool.queued


def _taints(pool: NodePoolPlan) -> Iterator[str]:
    yield pool.resource  # GKE calls the taint like the resource
    if pool.queued:
        yield QUEUED_LABEL
    if pool.compute_class is not None:
        # A team that has quota on the pool may use it without asking for its class too.
        yield CLASS_LABEL


def rank(capacity: Capacity, order: Sequence[Capacity]) -> int:
    """How late a capacity is tried; those that the order leaves out come last."""
    return order.index(capacity) if capacity in order else len(order)


def _cpus(*, placed: bool, system_pool: bool) -> FlavorPlan:
    """The system pool; in an existing cluster, which has no system pool, every node that its pods fit."""
    return FlavorPlan(
        name=CPU_FLAVOR if placed else f"{CPU_FLAVOR}{ELASTIC}",
        # A flavor with a topology needs a label; this one every node has.
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
    return FlavorPlan(
        name=name,
        node_labels=_fewer(
            {
                **hardware.node_labels,
                MACHINE_LABEL: machine.name,  # several machine types have the same GPUs, and other CPUs
                **_ways_labels(first),
                CAPACITY_LABEL: first.capacity,
                FLAVOR_LABEL: name,
                **({QUEUED_LABEL: "true"} if first.queued else {}),
                **(_CUBE_HEALTH if first.dynamic_slicing else {}),
            }
        ),
        tolerated_taints=tuple(_taints(first)),
        topology=(CUBE_TOPOLOGY if first.dynamic_slicing else SLICE_TOPOLOGY).name if _placed(first) else None,
        capacity=first.capacity,
        pools=tuple(dict.fromkeys(pool.pool for pool in pools)),
        slices=nodes // hosts,
        per_slice={
            first.resource: first.offered,
            "cpu": hosts * machine.vcpus,
            "memory": hosts * machine.memory_gb,
            "ephemeral-storage": hosts * max(map(_storage_gb, pools)),
        },
        provisioning=_provisioning(pools),
    )


def _fewer(labels: dict[str, str]) -> dict[str, str]:
    """As many of the labels as Kueue takes."""
    for key in _DISPENSABLE:
        if len(labels) > _MOST_LABELS:
            labels = {name: value for name, value in labels.items() if name != key}
    return labels


def _provisioning(pools: Sequence[NodePoolPlan]) -> ProvisioningPlan | None:
    """How the nodes are asked for. Work is promised no more time than any of the pools gives its nodes."""
    durations = [pool.flex_start.max_run_seconds for pool in pools if pool.flex_start and pool.queued]
    if not durations:
        return None
    return ProvisioningPlan((pools[0].resource,), min(durations))


def _ways_labels(pool: NodePoolPlan) -> dict[str, str]:
    """GKE's own labels of how the hosts are had. Kueue looks only at those selectors of a pod whose labels some flavor
    has: without these, a job that names its capacity would be given another's quota."""
    labels = bought_labels(pool.capacity, pool.reservation)
    if pool.compute_class is not None:
        labels[CLASS_LABEL] = pool.compute_class
    return labels


def _storage_gb(pool: NodePoolPlan) -> int:
    """Ephemeral storage of a node: its local SSDs where it has some, else its boot disk."""
    return (pool.local_ssds or 0) * _LOCAL_SSD_GB or pool.node.disk_size_gb
