"""The checks of every pool: first those of all pools, then those of TPU and GPU pools."""

from collections.abc import Iterator

from tpuplane.spec.cluster.cluster import ClusterPlaceSpec
from tpuplane.spec.cluster.existing_checks import Home, check_interface, place_of
from tpuplane.spec.core.errors import Mistake, Path, shown
from tpuplane.spec.core.locations import region_of
from tpuplane.spec.core.rules import broken
from tpuplane.spec.pools.capacity_checks import check_capacity
from tpuplane.spec.pools.gpu import GpuPoolSpec
from tpuplane.spec.pools.gpu_checks import check_gpu_offer, check_gpu_pool
from tpuplane.spec.pools.hosts import HostsSpec
from tpuplane.spec.pools.tpu import PoolSpec
from tpuplane.spec.pools.tpu_checks import check_tpu_offer, check_tpu_pool


def check_pool(at: Path, home: Home, cluster: ClusterPlaceSpec, pool: HostsSpec) -> Iterator[Mistake]:
    """Every mistake of one pool. `home`: the project and network of the cluster, as far as they are known."""
    yield from check_capacity(at, pool)
    for index, disk in enumerate(pool.secondary_boot_disks):
        if disk.mode == "CONTAINER_IMAGE_CACHE" and not pool.image_streaming:
            yield broken("image-cache-streaming", (*at, "secondaryBootDisks", index, "mode"))
    if not pool.auto_upgrade and cluster.release_channel != "UNSPECIFIED":
        remedy = "remove it; to hold back upgrades, use a maintenance exclusion"
        yield Mistake((*at, "autoUpgrade"), f"GKE rejects false in release channel {cluster.release_channel}; {remedy}")
    yield from _check_extra_networks(at, home, cluster, pool)
    hardware: list[Mistake] = []
    if isinstance(pool, PoolSpec):
        hardware += check_tpu_pool(at, pool)
    elif isinstance(pool, GpuPoolSpec):
        hardware += check_gpu_pool(at, pool)
    yield from hardware
    # Google has accepted existing node pools, so they are not compared with the catalogues.
    if not hardware and pool.exists(str(at[-1]) if at else ""):
        yield from check_region(at, cluster, pool)
    else:
        yield from not_offered(at, cluster, pool)


def not_offered(at: Path, cluster: ClusterPlaceSpec, pool: HostsSpec) -> Iterator[Mistake]:
    """Hardware that Google does not offer, according to the catalogues."""
    if isinstance(pool, PoolSpec):
        yield from check_tpu_offer(at, cluster, pool)
    elif isinstance(pool, GpuPoolSpec):
        yield from check_gpu_offer(at, cluster, pool)


def check_region(at: Path, cluster: ClusterPlaceSpec, pool: HostsSpec) -> Iterator[Mistake]:
    """Nodes are in the region of their cluster."""
    region = region_of(cluster.location)
    for zone in pool.zones_in(cluster.location):
        if region_of(zone) != region:
            field = "zone" if isinstance(pool, PoolSpec) else "zones"
            yield Mistake((*at, field), f"{shown(zone)} is not in the cluster's region; allowed: a zone of {region}")


def _check_extra_networks(at: Path, home: Home, cluster: ClusterPlaceSpec, pool: HostsSpec) -> Iterator[Mistake]:
    """Every interface of a host is in another subnetwork, and in another VPC unless it is for RDMA."""
    networks = [place_of(network.network, home.project) for network in pool.extra_networks]
    # Without its region, which a path has and a name leaves to the cluster's.
    subnetworks = [place_of(network.subnetwork, home.project)[:2] for network in pool.extra_networks]
    rdma = isinstance(pool, GpuPoolSpec) and pool.rdma
    for index, extra in enumerate(pool.extra_networks):
        path = (*at, "extraNetworks", index)
        if networks[index] == home.network:
            yield broken("extra-network-own", (*path, "network"), value=shown(extra.network))
        elif not rdma and networks[index] in networks[:index]:
            yield broken("extra-networks", (*path, "network"), value=shown(extra.network))
        elif subnetworks[index] in subnetworks[:index]:
            yield broken("extra-subnetworks", (*path, "subnetwork"), value=shown(extra.subnetwork))
        else:
            yield from check_interface(path, cluster.location, home.project, extra)
