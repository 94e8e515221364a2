"""What must hold within a pool of GPU nodes, and between it and its cluster."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic.alias_generators import to_camel

from tpuplane.gpu import GpuError, GpuMachine, gpu_catalogue
from tpuplane.spec.cluster.cluster import ClusterPlaceSpec
from tpuplane.spec.cluster.network_paths import Home
from tpuplane.spec.core.errors import Mistake, Path, choice, shown
from tpuplane.spec.core.locations import gpu_zones, is_zone, locations, region_of
from tpuplane.spec.core.rules import broken
from tpuplane.spec.pools.capacity_checks import check_scale, check_way, gpu_scale
from tpuplane.spec.pools.gpu import GpuPoolSpec
from tpuplane.spec.pools.host_checks import check_hosts


def check_gpu_pool(at: Path, home: Home, cluster: ClusterPlaceSpec, pool: GpuPoolSpec) -> Iterator[Mistake]:
    """Every mistake of one pool; `home` is where its cluster is."""
    scale = gpu_scale(pool)
    yield from check_scale(at, scale)
    yield from check_way(at, pool, scale)
    if pool.machine_type is None and pool.accelerator is None:
        yield broken("gpu-machine", (*at, "machineType"))
        yield from check_hosts(at, home, cluster, pool)
        return
    try:
        machine = pool.machine
    except GpuError as error:
        yield Mistake((*at, to_camel(error.field)), str(error))
        yield from check_hosts(at, home, cluster, pool)
        return  # zones, disks and partitions hang on it
    yield from check_hosts(at, home, cluster, pool, rdma=machine.gpudirect == "RDMA")
    yield from _check_zones(at, cluster, pool, machine)
    yield from _check_disks(at, pool, machine)
    yield from _check_partition(at, pool, machine)
    yield from _check_sold(at, pool, machine)
    if pool.compact_placement:
        yield from _check_compact(at, cluster, pool, machine)


def _check_zones(at: Path, cluster: ClusterPlaceSpec, pool: GpuPoolSpec, machine: GpuMachine) -> Iterator[Mistake]:
    location = cluster.location
    if region_of(location) not in locations().regions:
        return  # nothing can be said about zones of a place that is not there
    inside = [zone for zone in machine.zones if location in (zone, region_of(zone))]
    if not gpu_zones(cluster.location, pool):
        if inside:
            message = f"required: several zones of {location} offer {machine.name}; allowed: {', '.join(inside)}"
            yield Mistake((*at, "zones"), message)
        else:
            elsewhere = ", ".join(machine.zones)
            yield Mistake(
                (*at, "zones"), f"no known zone of {location} offers {machine.name}; zones with it: {elsewhere}"
            )
    for index, zone in enumerate(pool.zones):
        path: Path = (*at, "zones", index)
        if zone in pool.zones[:index]:
            yield Mistake(path, f"{shown(zone)} stands in the list twice; remove one")
        elif location not in (zone, region_of(zone)):
            known = inside or [f"a zone of {location}, though none is known to offer {machine.name}"]
            yield Mistake(path, choice(zone, f"in the cluster's location {location}", known))
        else:
            yield from _offered(path, zone, machine)
    if not pool.zones and is_zone(location):
        field = "machineType" if pool.machine_type else "accelerator"
        for mistake in _offered((*at, field), location, machine):
            yield Mistake(mistake.path, f"{shown(machine.name)} does not fit the cluster's zone: {mistake.message}")


def _offered(path: Path, zone: str, machine: GpuMachine) -> Iterator[Mistake]:
    try:
        gpu_catalogue().check_zone(zone, machine)
    except GpuError as error:
        yield Mistake(path, str(error))


def _check_disks(at: Path, pool: GpuPoolSpec, machine: GpuMachine) -> Iterator[Mistake]:
    if pool.disk_type is not None and pool.disk_type not in machine.boot_disks:
        yield Mistake((*at, "diskType"), choice(pool.disk_type, f"a boot disk of {machine.name}", machine.boot_disks))
    choices = (machine.local_ssds,) if machine.local_ssds else machine.local_ssd_choices
    if pool.local_ssds is not None and pool.local_ssds not in choices:
        allowed = ", ".join(map(str, choices))
        yield broken("gpu-local-ssds", (*at, "localSsds"), value=pool.local_ssds, machine=machine.name, allowed=allowed)


def _check_partition(at: Path, pool: GpuPoolSpec, machine: GpuMachine) -> Iterator[Mistake]:
    sizes = machine.accelerator.partitions
    if pool.partition_size is not None and pool.partition_size not in sizes:
        yield broken(
            "gpu-partition",
            (*at, "partitionSize"),
            value=shown(pool.partition_size),
            accelerator=machine.accelerator.name,
            allowed=", ".join(sizes) or "none: it is used whole",
        )


def _check_sold(at: Path, pool: GpuPoolSpec, machine: GpuMachine) -> Iterator[Mistake]:
    if pool.capacity not in machine.capacities:
        allowed = ", ".join(machine.capacities)
        value = shown(pool.capacity)
        yield broken("gpu-capacity", (*at, "capacity"), value=value, machine=machine.name, allowed=allowed)


def _check_compact(at: Path, cluster: ClusterPlaceSpec, pool: GpuPoolSpec, machine: GpuMachine) -> Iterator[Mistake]:
    path = (*at, "compactPlacement")
    zones = len(gpu_zones(cluster.location, pool))
    if zones > 1:
        yield broken("gpu-compact-zone", path, count=zones)
    if pool.max_nodes > machine.compact_nodes:
        allowed = machine.compact_nodes
        yield broken("gpu-compact-nodes", path, value=pool.max_nodes, machine=machine.name, allowed=allowed)
    if pool.capacity != "flex-start":
        return
    if pool.flex_start is not None and pool.flex_start.queued:
        yield broken("gpu-compact-queued", path)
    elif not machine.compact_flex:
        known = ", ".join(it.name for it in gpu_catalogue().machines if it.compact_flex)
        yield broken("gpu-compact-flex", path, machine=machine.name, allowed=known)
