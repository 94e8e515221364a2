"""The checks of a pool of GPU nodes, and of its settings with its cluster."""

from collections.abc import Iterator
from itertools import chain

from pydantic.alias_generators import to_camel

from tpuplane.gpu import Accelerator, GpuError, GpuMachine, gpu_catalogue
from tpuplane.spec.cluster.cluster import ClusterPlaceSpec
from tpuplane.spec.core.errors import Mistake, Path, shown
from tpuplane.spec.core.locations import check_named_zone, is_inside, is_zone, locations, region_of, zone_required
from tpuplane.spec.core.rules import broken, check_boot_disk
from tpuplane.spec.pools.capacity_checks import check_flex_version
from tpuplane.spec.pools.gpu import GpuPoolSpec
from tpuplane.spec.pools.hosts import MOST_PODS
from tpuplane.tpu import GkeVersion


def check_gpu_pool(at: Path, pool: GpuPoolSpec) -> Iterator[Mistake]:
    """The machine type of a pool exists."""
    if pool.machine_type is None and pool.accelerator is None:
        yield broken("gpu-machine", (*at, "machineType"))
        return
    try:
        _ = pool.machine
    except GpuError as error:
        yield Mistake((*at, to_camel(error.field)), str(error))


def check_gpu_offer(at: Path, cluster: ClusterPlaceSpec, pool: GpuPoolSpec) -> Iterator[Mistake]:
    """Google offers the machine type with these zones, disks, partitions, capacity and placement."""
    try:
        machine = pool.machine
    except GpuError:
        return
    yield from _check_zones(at, cluster, pool, machine)
    yield from check_boot_disk((*at, "diskType"), pool.disk_type, machine.name, machine.boot_disks)
    yield from check_local_ssds((*at, "localSsds"), pool.local_ssds, machine.name, machine)
    yield from check_partition((*at, "partitionSize"), pool.partition_size, machine.accelerator)
    yield from check_parts(at, pool.max_pods_per_node, pool.offered, machine)
    yield from _check_sold(at, pool, machine)
    rdma, chosen = bool(pool.extra_networks), "machineType" if pool.machine_type else "accelerator"
    yield from check_gpu_version((*at, "extraNetworks" if rdma else chosen), cluster, machine, rdma=rdma)
    if pool.capacity == "flex-start" and not pool.queued:
        yield from check_flex_version(at, cluster, "GPU")
    if pool.compact_placement:
        yield from _check_compact(at, cluster, pool, machine)


def _check_zones(at: Path, cluster: ClusterPlaceSpec, pool: GpuPoolSpec, machine: GpuMachine) -> Iterator[Mistake]:
    location = cluster.location
    if region_of(location) not in locations().regions:
        return  # `check_location` reports it
    inside = [zone for zone in machine.zones if is_inside(zone, location)]
    if not pool.zones_in(location):
        message = f"no known zone of {location} offers {machine.name}; zones with it: {', '.join(machine.zones)}"
        if inside:
            message = f"required: several zones of {location} offer {machine.name}; allowed: {', '.join(inside)}"
        yield Mistake((*at, "zones"), message)
    for index, zone in enumerate(pool.zones):
        path, zones = (*at, "zones", index), machine.zones
        yield from check_named_zone(path, zone, location, machine.name, zones, offers=zone in zones)
    if not pool.zones and is_zone(location) and inside and location not in machine.zones:
        yield zone_required((*at, "zones"), location, machine.name, inside)
    elif not pool.zones and is_zone(location):
        try:
            gpu_catalogue().check_zone(location, machine)
        except GpuError as error:
            field = "machineType" if pool.machine_type else "accelerator"
            yield Mistake((*at, field), f"{shown(machine.name)} is not possible in the cluster's zone: {error}")


def check_local_ssds(at: Path, count: int | None, owner: str, *machines: GpuMachine) -> Iterator[Mistake]:
    """One of the machine types has this number of local SSDs, or can have it."""
    options = ((known.local_ssds,) if known.local_ssds else known.local_ssd_choices for known in machines)
    choices = sorted(set(chain.from_iterable(options)))
    if count is not None and count not in choices:
        allowed = ", ".join(map(str, choices)) or "none"
        yield broken("gpu-local-ssds", at, value=count, machine=owner, allowed=allowed)


def check_partition(at: Path, size: str | None, accelerator: Accelerator) -> Iterator[Mistake]:
    """The GPU can be divided into partitions of this size."""
    if size is not None and size not in accelerator.partitions:
        allowed = ", ".join(accelerator.partitions) or "none: this GPU cannot be partitioned"
        yield broken("gpu-partition", at, value=shown(size), accelerator=accelerator.name, allowed=allowed)


def check_parts(at: Path, pods: int, offered: int, machine: GpuMachine) -> Iterator[Mistake]:
    """A node takes a pod for each part of its GPUs, because a container gets one part, or as many as a node can take.
    GKE's own pods count too."""
    wanted = min(offered, MOST_PODS - 1)
    if pods <= wanted and offered != machine.gpus:
        yield broken("gpu-parts", (*at, "maxPodsPerNode"), value=pods, parts=offered, wanted=wanted, most=MOST_PODS)


def check_gpu_version(
    at: Path, cluster: ClusterPlaceSpec, machine: GpuMachine, *, rdma: bool, named: str = "the cluster"
) -> Iterator[Mistake]:
    """GKE's version supports the machine type, or GPUDirect RDMA on it."""
    needed = machine.rdma_version if rdma else machine.min_version
    if needed is not None and cluster.is_older(GkeVersion.minimum(needed)):
        value = f"GPUDirect RDMA on {machine.name}" if rdma else machine.name
        yield broken("gpu-versions", at, value=value, needed=needed, cluster=named, version=shown(cluster.version))


def _check_sold(at: Path, pool: GpuPoolSpec, machine: GpuMachine) -> Iterator[Mistake]:
    if pool.capacity not in machine.capacities:
        allowed = ", ".join(machine.capacities)
        alike = (known for known in gpu_catalogue().machines if known.accelerator == machine.accelerator)
        counts = map(str, sorted({known.gpus for known in alike if pool.capacity in known.capacities}))
        text = "" if pool.machine_type else " or ".join(counts)
        other = f"; or {pool.capacity} with gpus: {text}" if text else ""
        parts = {"value": shown(pool.capacity), "machine": machine.name, "allowed": allowed, "other": other}
        yield broken("gpu-capacity", (*at, "capacity"), **parts)


def _check_compact(at: Path, cluster: ClusterPlaceSpec, pool: GpuPoolSpec, machine: GpuMachine) -> Iterator[Mistake]:
    path = (*at, "compactPlacement")
    zones = len(pool.zones_in(cluster.location))
    if zones > 1:
        yield broken("gpu-compact-zone", path, count=zones)
    if pool.scale.maximum > machine.compact_nodes:
        allowed, nodes = machine.compact_nodes, pool.scale.maximum
        yield broken("gpu-compact-nodes", path, value=nodes, machine=machine.name, allowed=allowed)
    if pool.capacity != "flex-start":
        return
    if pool.queued:
        yield broken("gpu-compact-queued", path)
    elif not machine.compact_flex:
        known = ", ".join(machine.name for machine in gpu_catalogue().machines if machine.compact_flex)
        yield broken("gpu-compact-flex", path, machine=machine.name, allowed=known)
