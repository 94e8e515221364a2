"""Resource flavors: what the pools of a cluster are to Kueue, with the labels and taints that the pools have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from tpuplane.plan.hosts import CAPACITY_LABEL, POOL_LABEL
from tpuplane.plan.model import CLASS_LABEL, NodePoolPlan
from tpuplane.plan.queue_model import TPU, FlavorPlan, TopologyPlan
from tpuplane.spec.capacity import Capacity
from tpuplane.spec.names import SYSTEM_POOL
from tpuplane.tpu import Slice

CPU_FLAVOR = "cpu"
SLICE_TOPOLOGY = TopologyPlan("slices", ("cloud.google.com/gke-nodepool", "kubernetes.io/hostname"))
"""A multi-host pool is one slice, so the pool is the domain in which a job's hosts must be together."""

_TPU_TAINT = "google.com/tpu"
_QUEUED_TAINT = "cloud.google.com/gke-queued"


def flavor_name(shape: Slice, capacity: Capacity, *, queued: bool = False) -> str:
    """Name of the flavor of such slices: v6e-4x4, v6e-2x4-8t (not the shape's usual machine), v5e-4x8-spot."""
    name = f"{shape.generation.name}-{shape.topology}"
    if shape.machine != Slice.of(shape.generation.name, shape.topology).machine:
        name += f"-{shape.machine.name.rpartition('-')[2]}"
    if capacity != "on-demand":
        name += f"-{capacity}"
    return f"{name}-queued" if queued else name


def flavors(
    pools: Sequence[NodePoolPlan], used: Iterable[str], order: Sequence[Capacity], *, system_pool: bool
) -> tuple[FlavorPlan, ...]:
    """The flavors of the pools that teams use (by key): first the CPUs, then slices in the order of capacities.

    CPUs go first because a pod that asks for no chips fits everywhere, and must not sit on a TPU host.
    """
    wanted = set(used)
    named = sorted(
        ((_name(pool), pool) for pool in pools if pool.slice is not None and pool.pool in wanted),
        key=lambda item: (_rank(item[1].capacity, order), item[0]),
    )
    # Kueue places within a topology only on nodes that are there; the hosts of an elastic pool are not, before work is
    # admitted. One flavor without a topology beside others that have one stops every job that names none.
    static = all(pool.autoscaling is None for _, pool in named)
    topology = SLICE_TOPOLOGY.name if static else None
    return (
        _cpus(topology, system_pool=system_pool),
        *(
            _flavor(name, [pool for _, pool in of], topology)
            for name, of in groupby(named, key=lambda item: item[0])
        ),
    )  # fmt: skip


def flavor_of(pools: Sequence[NodePoolPlan], key: str) -> str | None:
    """The name of the flavor that a pool belongs to; None for a pool without a node pool (no slices)."""
    return next((_name(pool) for pool in pools if pool.pool == key and pool.slice is not None), None)


def _name(pool: NodePoolPlan) -> str:
    if pool.slice is None:
        raise ValueError(f"{pool.name!r} is no TPU pool")
    return flavor_name(pool.slice, pool.capacity, queued=_queued(pool))


def _queued(pool: NodePoolPlan) -> bool:
    return pool.flex_start is not None and pool.flex_start.queued


def _taints(pools: Sequence[NodePoolPlan]) -> Iterator[str]:
    yield _TPU_TAINT
    if _queued(pools[0]):
        yield _QUEUED_TAINT
    if any(pool.compute_class is not None for pool in pools):
        # A team that has quota on the pool may use it without asking for its class too.
        yield CLASS_LABEL


def _rank(capacity: Capacity, order: Sequence[Capacity]) -> int:
    return order.index(capacity) if capacity in order else len(order)


def _cpus(topology: str | None, *, system_pool: bool) -> FlavorPlan:
    """The system pool; in a cluster of somebody else's, which has none of ours, every node that its pods fit."""
    return FlavorPlan(
        name=CPU_FLAVOR,
        node_labels={POOL_LABEL: SYSTEM_POOL} if system_pool else {},
        tolerated_taints=(),
        topology=topology,
        capacity="on-demand",
        pools=(SYSTEM_POOL,),
        slices=0,
        per_slice={},
    )


def _flavor(name: str, pools: Sequence[NodePoolPlan], topology: str | None) -> FlavorPlan:
    first = pools[0]
    shape = first.slice
    if shape is None:
        raise ValueError(f"{first.name!r} is no TPU pool")
    return FlavorPlan(
        name=name,
        node_labels={**shape.node_labels, CAPACITY_LABEL: first.capacity},
        tolerated_taints=tuple(_taints(pools)),
        topology=topology,
        capacity=first.capacity,
        pools=tuple(dict.fromkeys(pool.pool for pool in pools)),
        slices=sum(pool.max_nodes for pool in pools) // shape.hosts,
        per_slice={
            TPU: shape.chips,
            "cpu": shape.hosts * shape.machine.vcpus,
            "memory": shape.hosts * shape.machine.memory_gb,
            "ephemeral-storage": shape.hosts * first.disk_size_gb,
        },
        queued=_queued(first),
    )
