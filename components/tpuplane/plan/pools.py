"""Node pools: how many GKE pools a pool of slices is, and how each is set."""

from __future__ import annotations

from tpuplane.plan.model import (
    AutoscalingPlan,
    ExtraNetworkPlan,
    FlexStartPlan,
    NodePoolPlan,
    SecondaryBootDiskPlan,
    UpgradePlan,
)
from tpuplane.spec import ClusterSpec, FlexStartSpec, PlatformSpec, PoolSpec
from tpuplane.spec.capacity import MaintenanceInterval, seconds
from tpuplane.spec.locations import pool_zone, system_machine, system_zones
from tpuplane.spec.names import SYSTEM_POOL, node_pool_names, workload_policy_name
from tpuplane.tpu import Slice

POOL_LABEL = "tpuplane-pool"
PLATFORM_LABEL = "tpuplane-platform"
CAPACITY_LABEL = "tpuplane-capacity"
"""How a TPU pool is bought. GKE labels reserved and on-demand hosts alike; Kueue must tell them apart."""

# Where the generation names no boot disk of its own.
_DISK = "pd-balanced"

# A slice has no spare hosts to surge to, and a pool placed COMPACT cannot grow: hosts are upgraded in place
# (GoogleCloudPlatform/cluster-toolkit, modules/compute/gke-node-pool).
_SLICE_UPGRADE = UpgradePlan(max_surge=0, max_unavailable=1)

# The provider plans an update for a changed topology, sends nothing, and shows the same difference for ever; a changed
# machine type it sends as an in-place update, which GKE cannot do to a slice. Measured with pulumi-gcp 9.35.
_REPLACE_SINGLE_HOST = ("nodeConfig.machineType",)
_REPLACE_MULTI_HOST = ("nodeConfig.machineType", "nodeLocations", "placementPolicy")


def system_pool(cluster: ClusterSpec, labels: dict[str, str]) -> NodePoolPlan:
    """The CPU pool of a cluster."""
    spec = cluster.system_pool
    return NodePoolPlan(
        name=SYSTEM_POOL,
        pool=SYSTEM_POOL,
        index=0,
        zones=system_zones(cluster.location),
        machine_type=spec.machine_type or system_machine(cluster.location),
        disk_type=_DISK,
        disk_size_gb=spec.disk_size_gb,
        capacity="on-demand",
        autoscaling=AutoscalingPlan(spec.min_nodes, spec.max_nodes, location_policy="BALANCED"),
        node_labels={POOL_LABEL: SYSTEM_POOL},
        resource_labels={**labels, POOL_LABEL: SYSTEM_POOL},
    )


def tpu_pools(
    key: str, pool: PoolSpec, cluster: ClusterSpec, cluster_name: str, labels: dict[str, str], spec: PlatformSpec
) -> list[NodePoolPlan]:
    """The GKE node pools of a pool: for multi-host slices one each, for single-host slices one in all."""
    shape = pool.slice
    zone = pool_zone(cluster, pool)
    if zone is None:
        raise ValueError(f"pool {key!r} has no zone; was the description checked?")
    return [
        NodePoolPlan(
            name=name,
            pool=key,
            index=index,
            zones=(zone,),
            machine_type=shape.machine.name,
            disk_type=pool.disk_type or next(iter(shape.generation.boot_disk_types), _DISK),
            disk_size_gb=pool.disk_size_gb,
            capacity=pool.capacity,
            reservation=_reservation(pool, spec),
            flex_start=_flex_start(pool),
            host_maintenance=_host_maintenance(pool, spec),
            slice=shape,
            node_count=_node_count(pool, shape),
            autoscaling=_autoscaling(pool, shape, index),
            placement_topology=shape.topology if shape.multi_host else None,
            workload_policy=workload_policy_name(cluster_name, key, shape),
            upgrade=_SLICE_UPGRADE,
            auto_repair=pool.auto_repair and pool.capacity != "flex-start",
            auto_upgrade=pool.auto_upgrade,
            max_pods_per_node=pool.max_pods_per_node,
            image_streaming=pool.image_streaming,
            secondary_boot_disks=tuple(
                SecondaryBootDiskPlan(disk.disk_image, image_cache=disk.mode == "CONTAINER_IMAGE_CACHE")
                for disk in pool.secondary_boot_disks
            ),
            extra_networks=tuple(ExtraNetworkPlan(extra.network, extra.subnetwork) for extra in pool.extra_networks),
            node_labels={**pool.node_labels, POOL_LABEL: key, CAPACITY_LABEL: pool.capacity},
            resource_labels={**labels, **pool.labels, POOL_LABEL: key},
            replace_on=_REPLACE_MULTI_HOST if shape.multi_host else _REPLACE_SINGLE_HOST,
        )
        for index, name in enumerate(node_pool_names(key, pool))
    ]


def _reservation(pool: PoolSpec, spec: PlatformSpec) -> str | None:
    """The reservation as Google's API names it: alone, or by its path where it is shared or the pool wants a block."""
    use = pool.reservation
    if use is None:
        return None
    owner = spec.reservations[use.name].project or spec.project
    if owner == spec.project and use.block is None:
        return use.name
    path = f"projects/{owner}/reservations/{use.name}"
    if use.block is not None:
        path += f"/reservationBlocks/{use.block}"
    if use.sub_block is not None:
        path += f"/reservationSubBlocks/{use.sub_block}"
    return path


def _flex_start(pool: PoolSpec) -> FlexStartPlan | None:
    if pool.capacity != "flex-start":
        return None
    flex = pool.flex_start or FlexStartSpec()
    return FlexStartPlan(max_run_duration=f"{seconds(flex.max_run_duration)}s", queued=flex.queued)


def _host_maintenance(pool: PoolSpec, spec: PlatformSpec) -> MaintenanceInterval | None:
    """The pool's own, else that of its reservation: Compute Engine gives no reserved host that differs in it."""
    if pool.host_maintenance is not None or pool.reservation is None:
        return pool.host_maintenance
    return spec.reservations[pool.reservation.name].maintenance_interval


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
