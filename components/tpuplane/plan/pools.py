"""Node pools: how many GKE pools a pool of slices is, and how each is set."""

from __future__ import annotations

from tpuplane.cpu import cpu_catalogue
from tpuplane.labels import POOL_LABEL
from tpuplane.plan.hosts import host_fields
from tpuplane.plan.model import AutoscalingPlan, GpuPlan, NodePoolPlan, UpgradePlan
from tpuplane.spec import ClusterSpec, GpuPoolSpec, PlatformSpec, PoolSpec
from tpuplane.spec.locations import gpu_zones, pool_zone, region_of, system_zones
from tpuplane.spec.names import SYSTEM_POOL, node_pool_names, workload_policy_name
from tpuplane.tpu import Slice

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


def system_pool(cluster: ClusterSpec, labels: dict[str, str]) -> NodePoolPlan:
    """The CPU pool of a cluster."""
    spec = cluster.system_pool
    machine = spec.machine_type or cpu_catalogue().system_machine(region_of(cluster.location))
    return NodePoolPlan(
        name=SYSTEM_POOL,
        pool=SYSTEM_POOL,
        index=0,
        zones=system_zones(cluster.location),
        machine_type=machine,
        disk_type=spec.disk_type or cpu_catalogue().family_of(machine).boot_disk,
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
    zone = pool_zone(cluster.location, pool)
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
            slice=shape,
            node_count=_node_count(pool, shape),
            autoscaling=_autoscaling(pool, shape, index),
            placement_topology=shape.topology if shape.multi_host else None,
            workload_policy=workload_policy_name(cluster_name, key, pool),
            accelerator_topology_mode=pool.accelerator_topology_mode,
            upgrade=_NO_SPARE,
            **host_fields(key, pool, labels, spec),
            replace_on=_REPLACE_MULTI_HOST if shape.multi_host else _REPLACE_SINGLE_HOST,
        )
        for index, name in enumerate(node_pool_names(key, pool))
    ]


def gpu_pool(
    key: str, pool: GpuPoolSpec, cluster: ClusterSpec, labels: dict[str, str], spec: PlatformSpec
) -> NodePoolPlan:
    """The GKE node pool of a pool of GPU nodes."""
    machine, scaling = pool.machine, pool.autoscaling
    zones = gpu_zones(cluster.location, pool)
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
        **host_fields(key, pool, labels, spec),
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
