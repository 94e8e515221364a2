"""What the platform grows to at full scale, against declared quota and GKE's own limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tpuplane.gpu import GpuError, gpu_catalogue
from tpuplane.spec.capacity import Capacity
from tpuplane.spec.errors import Mistake, Path, dotted, shown
from tpuplane.spec.locations import gpu_zones, is_zone, known_zones, locations, pool_zone, region_of
from tpuplane.spec.networks import address_needs
from tpuplane.spec.platform import PlatformSpec
from tpuplane.spec.provisioned import provisioning_zones, tpu_rooms
from tpuplane.spec.rules import broken
from tpuplane.tpu import SliceError, catalogue

# The quota that each way of buying counts against. A reservation needs none of its own.
_COUNTS: dict[str, tuple[Capacity, ...]] = {"onDemand": ("on-demand",), "preemptible": ("spot", "flex-start")}

# Nodes of a pool in one zone, and of a cluster (google/gke-policy-automation, scalability).
_MAX_POOL_NODES = 1000
_MAX_CLUSTER_NODES = 15000


class _Use(NamedTuple):
    """The chips or GPUs of a pool at full scale, or of what auto-provisioning may add to the pools."""

    path: str
    zones: tuple[str, ...]
    hardware: str  # generation or accelerator
    capacity: Capacity
    amount: int


def check_quotas(spec: PlatformSpec) -> Iterator[Mistake]:
    """Refuse quotas of what does not exist, and a platform that outgrows one."""
    uses = list(_uses(spec))
    for location, generations in spec.quotas.items():
        at: Path = ("quotas", location)
        region = region_of(location)
        known = region in locations().regions
        if not known or (is_zone(location) and region in locations().zones and location not in known_zones(region)):
            yield broken("quota-location", at, value=shown(location))
            continue
        for name, quota in generations.items():
            try:
                hardware, words = _hardware(name)
            except (SliceError, GpuError) as error:
                yield Mistake((*at, name), str(error))
                continue
            for field, granted in (("onDemand", quota.on_demand), ("preemptible", quota.preemptible)):
                counted = [
                    use
                    for use in uses
                    if use.hardware == hardware
                    and use.capacity in _COUNTS[field]
                    and location in (*use.zones, *map(region_of, use.zones))
                ]
                needed = sum(use.amount for use in counted)
                if granted is not None and needed > granted:
                    pools = ", ".join(f"{use.path} {use.amount}" for use in counted)
                    yield broken("quota", (*at, name, field), value=granted, needed=needed, pools=pools, **words)


def check_limits(spec: PlatformSpec) -> Iterator[Mistake]:
    """Refuse node pools and clusters larger than GKE makes them."""
    for key, cluster in spec.clusters.items():
        at: Path = ("clusters", key)
        for pool_key, pool in cluster.pools.items():
            try:
                nodes = 0 if pool.slice.multi_host else pool.max_slices
            except SliceError:
                continue  # reported where it stands
            if nodes > _MAX_POOL_NODES:
                field = ("autoscaling", "maxSlices") if pool.autoscaling else ("slices",)
                cause = f"{nodes} single-host slices are as many nodes of one pool"
                yield broken("pool-nodes", (*at, "pools", pool_key, *field), cause=cause, allowed=_MAX_POOL_NODES)
        for pool_key, gpu_pool in cluster.gpu_pools.items():
            if gpu_pool.max_nodes > _MAX_POOL_NODES:
                field = ("autoscaling", "maxNodes") if gpu_pool.autoscaling else ("nodes",)
                cause = f"{gpu_pool.max_nodes} nodes in a zone"
                yield broken("pool-nodes", (*at, "gpuPools", pool_key, *field), cause=cause, allowed=_MAX_POOL_NODES)
        total = address_needs(cluster).nodes
        if total > _MAX_CLUSTER_NODES:
            yield broken("cluster-nodes", (*at, "pools"), value=total, allowed=_MAX_CLUSTER_NODES)


def _uses(spec: PlatformSpec) -> Iterator[_Use]:
    for key, cluster in spec.clusters.items():
        for pool_key, pool in cluster.pools.items():
            try:
                shape = pool.slice
            except SliceError:
                continue  # reported where it stands
            zone, path = pool_zone(cluster, pool), dotted(("clusters", key, "pools", pool_key))
            if zone is not None and pool.max_slices:
                yield _Use(path, (zone,), shape.generation.name, pool.capacity, pool.max_slices * shape.chips)
        for room in tpu_rooms(cluster):
            if room.chips:
                # Pods that say nothing else get on-demand hosts.
                path, zones = dotted(("clusters", key, "autoProvisioning")), provisioning_zones(cluster)
                yield _Use(path, zones, room.generation.name, "on-demand", room.chips)
        for pool_key, gpu_pool in cluster.gpu_pools.items():
            try:
                machine, zones = gpu_pool.machine, gpu_zones(cluster, gpu_pool)
            except GpuError:
                continue  # reported where it stands
            path, gpus = dotted(("clusters", key, "gpuPools", pool_key)), gpu_pool.max_nodes * machine.gpus
            for zone in zones if gpus else ():
                yield _Use(path, (zone,), machine.accelerator.name, gpu_pool.capacity, gpus)


def _hardware(name: str) -> tuple[str, dict[str, Any]]:
    """The generation or accelerator called `name`, and how a rule speaks of it. Raises `SliceError` or `GpuError`."""
    if name.startswith("nvidia-"):
        return gpu_catalogue().accelerator(name).name, {"unit": "GPUs", "fixed": "nodes", "most": "maxNodes"}
    return catalogue().generation(name).name, {"unit": "chips", "fixed": "slices", "most": "maxSlices"}
