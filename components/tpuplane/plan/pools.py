"""GKE node pools: their number for a pool of the description, and their settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from tpuplane.cpu import CpuError, cpu_catalogue
from tpuplane.gpu import GpuMachine, division_labels
from tpuplane.labels import CAPACITY_LABEL, GPU, POOL_LABEL, TPU
from tpuplane.spec import FlexStartSpec, GpuPoolSpec, PoolSpec, ReservationSpec, SystemPoolSpec
from tpuplane.spec.core.adopted import kept, named
from tpuplane.spec.core.fields import narrowed
from tpuplane.spec.core.locations import region_of, system_zones
from tpuplane.spec.core.names import SYSTEM_POOL
from tpuplane.spec.pools.gpu import GpuDriver, GpuSharingSpec
from tpuplane.spec.pools.hosts import Capacity, HostsSpec, MaintenanceInterval, NodeSettingsSpec
from tpuplane.spec.pools.sizes import PoolSize
from tpuplane.tpu import Slice


@dataclass(frozen=True, slots=True)
class Context:
    """The cluster of pools and classes: a cluster of a platform, or any other cluster."""

    location: str  # region or zone of the cluster
    project: str | None  # None: known only while the program runs
    cluster_name: str | None = None  # the prefix of workload policies; None: known only while the program runs
    labels: Mapping[str, str] = field(default_factory=dict)  # Google Cloud labels of all resources of the cluster
    reservations: Mapping[str, ReservationSpec] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AutoscalingPlan:
    """Limits per zone. For a multi-host slice, the minimum is 0 or all of its hosts, and the maximum is all hosts."""

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
    """The GPUs of a pool's nodes, their driver, and how containers share them."""

    machine: GpuMachine
    driver: GpuDriver
    sharing: GpuSharingSpec | None = None  # as in the description
    partition_size: str | None = None
    hosts: ClassVar[int] = 1  # as of a TPU slice: its parts are single nodes

    @property
    def per_node(self) -> int:
        """The capacity `nvidia.com/gpu` of a node."""
        return self.machine.offers(self.partition_size, self.sharing.max_clients if self.sharing else None)

    @property
    def node_labels(self) -> dict[str, str]:
        """GKE's labels of the nodes."""
        shared = (self.sharing.strategy, self.sharing.max_clients) if self.sharing else (None, None)
        return {**self.machine.node_labels, **division_labels(self.partition_size, *shared)}

    def __str__(self) -> str:
        sharing = self.sharing
        shared = (sharing.strategy.lower().replace("_", "-"), str(sharing.max_clients)) if sharing else ()
        return "-".join(filter(None, (self.machine.name, self.partition_size, *shared)))


@dataclass(frozen=True, slots=True)
class NodePoolPlan:
    """One GKE node pool.

    A multi-host TPU pool is exactly one slice. A single-host TPU pool has `node_count` slices. A GPU pool has `gpu`.
    The system pool has neither. Either `node_count` or `autoscaling` is set, in nodes of each zone. A change to the
    inputs in `replace_on` replaces the pool, because the provider would update it in place, or not at all.
    """

    name: str  # GKE node pool name, at most 40 characters; does not depend on the number of slices
    pool: str  # key in the user's file ("trainer"); "system" for the system pool
    node: NodeSettingsSpec  # of each node, as in the description
    zones: tuple[str, ...]  # node_locations
    machine_type: str
    disk_type: str
    capacity: Capacity
    first_key: str = ""  # `pool` before it was renamed: Pulumi knows its resources by this name
    index: int = 0  # slice number within `pool`; 0 for single-host, GPU and system pools
    reservation: str | None = None  # name or path in Google's form; only with capacity "reservation"
    flex_start: FlexStartSpec | None = None  # only with capacity "flex-start"
    host_maintenance: MaintenanceInterval | None = None  # None: the default of the machine type
    slice: Slice | None = None
    gpu: GpuPlan | None = None
    local_ssds: int | None = None  # None: those of the machine type
    compact: bool = False  # nodes close together, without a TPU topology
    node_count: int | None = None
    autoscaling: AutoscalingPlan | None = None
    placement_topology: str | None = None  # placement_policy.tpu_topology; None without placement
    workload_policy: str | None = None  # name of the compute resource policy (tpu7x multi-host), else None
    accelerator_topology_mode: str | None = None  # of that policy; None: Compute Engine's default
    sub_slices: tuple[str, ...] = ()  # topologies of parts of its slice that jobs can have, largest first
    upgrade: UpgradePlan = UpgradePlan(max_surge=1, max_unavailable=0)
    auto_repair: bool = True
    auto_upgrade: bool = True
    max_pods_per_node: int | None = None  # None: GKE's default
    compute_class: str | None = None  # only its pods can use the nodes; None: any pod that tolerates TPUs
    node_labels: dict[str, str] = field(default_factory=dict)  # GKE adds its own TPU labels
    resource_labels: dict[str, str] = field(default_factory=dict)
    replace_on: tuple[str, ...] = ()
    imported: bool = False  # `tpuplane import` has adopted the node pool; further slices are not adopted
    kept: tuple[str, ...] = ()  # properties of an adopted pool that stay as they are

    @property
    def region(self) -> str:
        """The region of its zones."""
        return region_of(self.zones[0])

    @property
    def hardware(self) -> Slice | GpuPlan:
        """The slice or GPUs of its nodes. Raises `ValueError` for a pool without accelerators."""
        found = self.gpu or self.slice
        if found is None:
            raise ValueError(f"{self.name!r} has neither TPUs nor GPUs")
        return found

    @property
    def resource(self) -> str:
        """The resource that pods request, which is also the name of the nodes' taint."""
        return TPU if self.gpu is None else GPU

    @property
    def offered(self) -> int:
        """The amount of this resource in a slice or a node."""
        return self.hardware.per_node if isinstance(self.hardware, GpuPlan) else self.hardware.chips

    @property
    def node_accelerators(self) -> int:
        """Chips or GPUs of one node."""
        machine = self.hardware.machine
        return machine.gpus if isinstance(machine, GpuMachine) else machine.chips

    @property
    def accelerators(self) -> int:
        """Chips or GPUs at full scale, over all zones."""
        return self.node_accelerators * self.max_nodes * len(self.zones)

    @property
    def queued(self) -> bool:
        """Whether only a ProvisioningRequest adds nodes."""
        return self.flex_start is not None and self.flex_start.queued

    @property
    def dynamic_slicing(self) -> bool:
        """Whether its chips are a cube, which dynamic slicing divides, or joins with other cubes."""
        return self.accelerator_topology_mode == "PROVISION_ONLY"

    @property
    def min_nodes(self) -> int:
        """Nodes that always exist, in each zone."""
        return self.autoscaling.min_nodes if self.autoscaling is not None else self.max_nodes

    @property
    def max_nodes(self) -> int:
        """Nodes at full scale, in each zone."""
        if self.autoscaling is not None:
            return self.autoscaling.max_nodes
        return self.node_count or 0


# Hosts are upgraded in place: a slice has no spare hosts for a surge, a pool with COMPACT placement cannot grow, and
# additional GPUs are rarely available (GoogleCloudPlatform/cluster-toolkit, modules/compute/gke-node-pool).
_NO_SPARE = UpgradePlan(max_surge=0, max_unavailable=1)

# The provider plans an update for a changed topology, sends nothing, and shows the same diff at every update. It
# updates a changed machine type in place, which GKE cannot do for a slice. Measured with pulumi-gcp 9.35.
_REPLACE_SINGLE_HOST = ("nodeConfig.machineType",)
_REPLACE_GPU = ("placementPolicy",)
_REPLACE_MULTI_HOST = ("nodeConfig.machineType", "nodeLocations", "placementPolicy")


def _reservation(pool: HostsSpec, context: Context) -> str | None:
    """The reservation as in Google's API: its name, or its path if it is shared or the pool names a block."""
    if (use := pool.reservation) is None:
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
    """The interval of the pool, else of its reservation, because Compute Engine requires the same interval."""
    if pool.host_maintenance is not None or pool.reservation is None:
        return pool.host_maintenance
    return reservations[pool.reservation.name].maintenance_interval


def system_pool(spec: SystemPoolSpec, context: Context, name: str = SYSTEM_POOL) -> NodePoolPlan:
    """A pool without accelerators."""
    machine = spec.machine_type or cpu_catalogue().system_machine(region_of(context.location))
    try:
        family = cpu_catalogue().family_of(machine)
    except CpuError:  # only an adopted pool can have a machine type that is not in the catalogue
        family = None
    given = named(spec.adopted, name)
    return NodePoolPlan(
        name=given,
        pool=name,
        node=NodeSettingsSpec(disk_size_gb=spec.disk_size_gb),
        zones=(spec.adopted and spec.adopted.zones) or system_zones(context.location, family),
        machine_type=machine,
        disk_type=spec.disk_type or (family.boot_disk if family else "pd-balanced"),
        capacity="on-demand",
        autoscaling=AutoscalingPlan(spec.min_nodes, spec.max_nodes, location_policy="BALANCED"),
        node_labels={POOL_LABEL: name},
        resource_labels={**context.labels, POOL_LABEL: name},
        imported=spec.adopted is not None and given in spec.adopted.names,
        kept=kept(spec.adopted),
    )


def node_pools(key: str, pool: HostsSpec, context: Context) -> tuple[NodePoolPlan, ...]:
    """The GKE node pools of a pool: one for each multi-host slice, or one for all single-host slices or GPU nodes."""
    size = pool.size_in(context.location)
    if not size.zones:
        raise ValueError(f"pool {key!r} has no zone; was the description checked?")
    fixed = size.nodes_per_piece if size.spans_pools else size.max_nodes
    first = NodePoolPlan(
        name=key,
        pool=key,
        first_key=pool.formerly or key,
        node=narrowed(pool, NodeSettingsSpec),
        zones=size.zones,
        machine_type=size.machine_type,
        disk_type=pool.disk_type or size.boot_disk,
        capacity=pool.capacity,
        reservation=_reservation(pool, context),
        flex_start=(pool.flex_start or FlexStartSpec()) if pool.capacity == "flex-start" else None,
        host_maintenance=_host_maintenance(pool, context.reservations),
        node_count=None if size.scale.bounds else fixed,
        upgrade=_NO_SPARE,
        auto_repair=pool.auto_repair and pool.capacity != "flex-start",
        auto_upgrade=pool.auto_upgrade,
        max_pods_per_node=pool.max_pods_per_node,
        node_labels={**pool.node_labels, POOL_LABEL: key, CAPACITY_LABEL: pool.capacity},
        resource_labels={**context.labels, **pool.labels, POOL_LABEL: key},
        kept=kept(pool.adopted),
    )
    if isinstance(pool, PoolSpec):
        first = _with_slices(first, pool, context)
    elif isinstance(pool, GpuPoolSpec):
        first = _with_gpus(first, pool)
    adopted = pool.adopted.names if pool.adopted else ()
    return tuple(
        replace(first, name=name, index=index, autoscaling=_autoscaling(size, index), imported=name in adopted)
        for index, name in enumerate(pool.names(key).every())
    )


def _with_slices(plan: NodePoolPlan, pool: PoolSpec, context: Context) -> NodePoolPlan:
    shape = pool.slice
    return replace(
        plan,
        slice=shape,
        placement_topology=shape.topology if shape.multi_host else None,
        workload_policy=pool.workload_policy(context.cluster_name, plan.pool),
        accelerator_topology_mode=pool.accelerator_topology_mode,
        sub_slices=tuple(topology for topology in shape.sub_slices if topology in pool.sub_slices),
        replace_on=_REPLACE_MULTI_HOST if shape.multi_host else _REPLACE_SINGLE_HOST,
        # An upgrade of one host ends the slices of the others too (llm-d, TPU Dynamic Slicing on GKE).
        upgrade=UpgradePlan(0, shape.hosts) if pool.provision_only else plan.upgrade,
    )


def _with_gpus(plan: NodePoolPlan, pool: GpuPoolSpec) -> NodePoolPlan:
    return replace(
        plan,
        gpu=GpuPlan(pool.machine, pool.driver, pool.sharing, pool.partition_size),
        local_ssds=pool.local_ssds or pool.machine.local_ssds or None,
        compact=pool.compact_placement,
        replace_on=_REPLACE_GPU,
    )


def _autoscaling(size: PoolSize, index: int) -> AutoscalingPlan | None:
    """Limits per zone. For a slice, GKE ignores total limits."""
    if size.scale.bounds is None:
        return None
    if size.spans_pools:
        # All hosts or none: the first `minSlices` pools always exist, and GKE adds and removes the others.
        return AutoscalingPlan(size.nodes_per_piece if index < size.scale.minimum else 0, size.nodes_per_piece)
    return AutoscalingPlan(size.min_nodes, size.max_nodes)
