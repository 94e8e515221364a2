"""Node pools: how many GKE pools a pool of slices is, and how each is set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypedDict

from tpuplane.cpu import cpu_catalogue
from tpuplane.gpu import GpuMachine
from tpuplane.labels import CAPACITY_LABEL, POOL_LABEL
from tpuplane.plan.context import Context
from tpuplane.spec import (
    ExtraNetworkSpec,
    FlexStartSpec,
    GpuPoolSpec,
    PoolSpec,
    ReservationSpec,
    SecondaryBootDiskSpec,
    SystemPoolSpec,
)
from tpuplane.spec.core.locations import gpu_zones, pool_zone, region_of, system_zones
from tpuplane.spec.core.names import SYSTEM_POOL, node_pool_names, workload_policy_name
from tpuplane.spec.pools.capacity import Capacity, MaintenanceInterval
from tpuplane.spec.pools.gpu import GpuDriver, GpuSharingStrategy
from tpuplane.spec.pools.hosts import HostsSpec
from tpuplane.tpu import Slice


@dataclass(frozen=True, slots=True)
class AutoscalingPlan:
    """Per-zone node limits. For a multi-host slice min is 0 or the slice's hosts and max is the slice's hosts."""

    min_nodes: int
    max_nodes: int
    location_policy: Literal["ANY", "BALANCED"] = "ANY"


@dataclass(frozen=True, slots=True)
class UpgradePlan:
    """Surge upgrade settings, in nodes."""

    max_surge: int
    max_unavailable: int


@dataclass(frozen=True, slots=True)
class GpuPlan:
    """The GPUs of a pool's nodes: which, with what driver, and how containers share them."""

    machine: GpuMachine
    driver: GpuDriver
    sharing: GpuSharingStrategy | None = None
    max_clients: int | None = None  # containers on one GPU or partition; exactly with `sharing`
    partition_size: str | None = None

    @property
    def per_node(self) -> int:
        """What a node offers as `nvidia.com/gpu`."""
        return self.machine.offers(self.partition_size, self.max_clients)


@dataclass(frozen=True, slots=True)
class NodePoolPlan:
    """One GKE node pool.

    A multi-host TPU pool is exactly one slice; a single-host TPU pool holds `node_count` one-host slices; a GPU pool
    has `gpu`; the system pool has neither. Exactly one of `node_count` and `autoscaling` is set, in nodes of each
    zone. `replace_on` names the inputs whose change must replace the pool although the provider would update it in
    place (or do nothing at all).
    """

    name: str  # GKE node pool name, at most 40 characters, stable when the count changes
    pool: str  # key in the user's file ("trainer"); "system" for the system pool
    index: int  # slice number within `pool`; 0 for single-host and system pools
    zones: tuple[str, ...]  # node_locations
    machine_type: str
    disk_type: str
    disk_size_gb: int
    capacity: Capacity
    reservation: str | None = None  # name or path in Google's form; exactly with capacity "reservation"
    flex_start: FlexStartSpec | None = None  # exactly with capacity "flex-start"
    host_maintenance: MaintenanceInterval | None = None  # None: the machine's own
    slice: Slice | None = None
    gpu: GpuPlan | None = None
    local_ssds: int | None = None  # None: whatever the machine comes with
    compact: bool = False  # nodes close together, without a TPU topology
    node_count: int | None = None
    autoscaling: AutoscalingPlan | None = None
    placement_topology: str | None = None  # placement_policy.tpu_topology; None where no placement is wanted
    workload_policy: str | None = None  # name of the compute resource policy (tpu7x multi-host), else None
    accelerator_topology_mode: str | None = None  # of that policy; None: Compute Engine's own
    upgrade: UpgradePlan = UpgradePlan(max_surge=1, max_unavailable=0)
    auto_repair: bool = True
    auto_upgrade: bool = True
    max_pods_per_node: int | None = None
    image_streaming: bool = False
    secondary_boot_disks: tuple[SecondaryBootDiskSpec, ...] = ()
    extra_networks: tuple[ExtraNetworkSpec, ...] = ()
    compute_class: str | None = None  # the class that alone may use the nodes; None: any pod that tolerates TPUs
    node_labels: dict[str, str] = field(default_factory=dict)  # ours only; GKE adds its own TPU labels
    resource_labels: dict[str, str] = field(default_factory=dict)
    replace_on: tuple[str, ...] = ()

    @property
    def dynamic_slicing(self) -> bool:
        """Whether its chips are a cube that is joined with others only when a slice is made."""
        return self.accelerator_topology_mode == "PROVISION_ONLY"

    @property
    def min_nodes(self) -> int:
        """Nodes that are always there, in each zone."""
        return self.autoscaling.min_nodes if self.autoscaling is not None else self.max_nodes

    @property
    def max_nodes(self) -> int:
        """Nodes at full scale, in each zone."""
        if self.autoscaling is not None:
            return self.autoscaling.max_nodes
        return self.node_count or 0


# Where the generation names no boot disk of its own.
_DISK = "pd-balanced"

# A slice has no spare hosts to surge to, a pool placed COMPACT cannot grow, and GPUs are rarely there twice: hosts are
# upgraded in place (GoogleCloudPlatform/cluster-toolkit, modules/compute/gke-node-pool).
_NO_SPARE = UpgradePlan(max_surge=0, max_unavailable=1)

# The provider plans an update for a changed topology, sends nothing, and shows the same difference for ever; a changed
# machine type it sends as an in-place update, which GKE cannot do to a slice. Measured with pulumi-gcp 9.35.
_REPLACE_SINGLE_HOST = ("nodeConfig.machineType",)
_REPLACE_GPU = ("placementPolicy",)
_REPLACE_MULTI_HOST = ("nodeConfig.machineType", "nodeLocations", "placementPolicy")


class _HostFields(TypedDict):
    """The fields of a `NodePoolPlan` that come from `HostsSpec` alone."""

    disk_size_gb: int
    capacity: Capacity
    reservation: str | None
    flex_start: FlexStartSpec | None
    host_maintenance: MaintenanceInterval | None
    auto_repair: bool
    auto_upgrade: bool
    max_pods_per_node: int
    image_streaming: bool
    secondary_boot_disks: tuple[SecondaryBootDiskSpec, ...]
    extra_networks: tuple[ExtraNetworkSpec, ...]
    node_labels: dict[str, str]
    resource_labels: dict[str, str]


def _host_fields(key: str, pool: HostsSpec, context: Context) -> _HostFields:
    """The plan of a pool's hosts."""
    return {
        "disk_size_gb": pool.disk_size_gb,
        "capacity": pool.capacity,
        "reservation": _reservation(pool, context),
        "flex_start": (pool.flex_start or FlexStartSpec()) if pool.capacity == "flex-start" else None,
        "host_maintenance": _host_maintenance(pool, context.reservations),
        "auto_repair": pool.auto_repair and pool.capacity != "flex-start",
        "auto_upgrade": pool.auto_upgrade,
        "max_pods_per_node": pool.max_pods_per_node,
        "image_streaming": pool.image_streaming,
        "secondary_boot_disks": pool.secondary_boot_disks,
        "extra_networks": pool.extra_networks,
        "node_labels": {**pool.node_labels, POOL_LABEL: key, CAPACITY_LABEL: pool.capacity},
        "resource_labels": {**context.labels, **pool.labels, POOL_LABEL: key},
    }


def _reservation(pool: HostsSpec, context: Context) -> str | None:
    """The reservation as Google's API names it: alone, or by its path where it is shared or the pool wants a block."""
    use = pool.reservation
    if use is None:
        return None
    owner = context.reservations[use.name].project or context.project
    if owner == context.project and use.block is None:
        return use.name
    path = f"projects/{owner}/reservations/{use.name}"
    if use.block is not None:
        path += f"/reservationBlocks/{use.block}"
    if use.sub_block is not None:
        path += f"/reservationSubBlocks/{use.sub_block}"
    return path


def _host_maintenance(pool: HostsSpec, reservations: Mapping[str, ReservationSpec]) -> MaintenanceInterval | None:
    """The pool's own, else that of its reservation: Compute Engine gives no reserved host that differs in it."""
    if pool.host_maintenance is not None or pool.reservation is None:
        return pool.host_maintenance
    return reservations[pool.reservation.name].maintenance_interval


def system_pool(spec: SystemPoolSpec, context: Context, name: str = SYSTEM_POOL) -> NodePoolPlan:
    """A pool without accelerators."""
    machine = spec.machine_type or cpu_catalogue().system_machine(region_of(context.location))
    return NodePoolPlan(
        name=name,
        pool=name,
        index=0,
        zones=system_zones(context.location),
        machine_type=machine,
        disk_type=spec.disk_type or cpu_catalogue().family_of(machine).boot_disk,
        disk_size_gb=spec.disk_size_gb,
        capacity="on-demand",
        autoscaling=AutoscalingPlan(spec.min_nodes, spec.max_nodes, location_policy="BALANCED"),
        node_labels={POOL_LABEL: name},
        resource_labels={**context.labels, POOL_LABEL: name},
    )


def tpu_pools(key: str, pool: PoolSpec, context: Context) -> tuple[NodePoolPlan, ...]:
    """The GKE node pools of a pool: for multi-host slices one each, for single-host slices one in all."""
    shape = pool.slice
    zone = pool_zone(context.location, pool)
    if zone is None:
        raise ValueError(f"pool {key!r} has no zone; was the description checked?")
    return tuple(
        NodePoolPlan(
            name=name,
            pool=key,
            index=index,
            zones=(zone,),
            machine_type=shape.machine.name,
            disk_type=pool.disk_type or next(iter(shape.generation.boot_disk_types), _DISK),
            slice=shape,
            node_count=_node_count(pool, shape),
            autoscaling=_autoscaling(pool, shape, index),
            placement_topology=shape.topology if shape.multi_host else None,
            workload_policy=workload_policy_name(context.cluster_name, key, pool),
            accelerator_topology_mode=pool.accelerator_topology_mode,
            upgrade=_NO_SPARE,
            **_host_fields(key, pool, context),
            replace_on=_REPLACE_MULTI_HOST if shape.multi_host else _REPLACE_SINGLE_HOST,
        )
        for index, name in enumerate(node_pool_names(key, pool))
    )


def gpu_pool(key: str, pool: GpuPoolSpec, context: Context) -> NodePoolPlan:
    """The GKE node pool of a pool of GPU nodes."""
    machine, scaling = pool.machine, pool.autoscaling
    zones = gpu_zones(context.location, pool)
    if not zones:
        raise ValueError(f"pool {key!r} has no zone; was the description checked?")
    return NodePoolPlan(
        name=key,
        pool=key,
        index=0,
        zones=zones,
        machine_type=machine.name,
        disk_type=pool.disk_type or machine.boot_disks[0],
        gpu=GpuPlan(
            machine=machine,
            driver=pool.driver,
            sharing=pool.sharing.strategy if pool.sharing else None,
            max_clients=pool.sharing.max_clients if pool.sharing else None,
            partition_size=pool.partition_size,
        ),
        local_ssds=pool.local_ssds or machine.local_ssds or None,
        compact=pool.compact_placement,
        node_count=None if scaling else pool.max_nodes,
        autoscaling=AutoscalingPlan(scaling.min_nodes, scaling.max_nodes) if scaling else None,
        upgrade=_NO_SPARE,
        **_host_fields(key, pool, context),
        replace_on=_REPLACE_GPU,
    )


def _node_count(pool: PoolSpec, shape: Slice) -> int | None:
    if pool.autoscaling is not None:
        return None
    return shape.hosts if shape.multi_host else pool.max_slices


def _autoscaling(pool: PoolSpec, shape: Slice, index: int) -> AutoscalingPlan | None:
    """Limits per zone: GKE judges a slice by these and ignores the totals."""
    if pool.autoscaling is None:
        return None
    if shape.multi_host:
        # All or nothing: the first `min_slices` pools stay up, the others come and go with the work.
        return AutoscalingPlan(shape.hosts if index < pool.min_slices else 0, shape.hosts)
    return AutoscalingPlan(pool.min_slices, pool.max_slices)
