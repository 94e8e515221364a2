"""What must hold of the hosts of every pool, whether they have TPUs or GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from tpuplane.spec.cluster.cluster import ClusterPlaceSpec
from tpuplane.spec.cluster.network_paths import Home, check_interface, place_of
from tpuplane.spec.core.errors import Mistake, Path, shown
from tpuplane.spec.core.rules import broken
from tpuplane.spec.pools.hosts import HostsSpec


def check_hosts(
    at: Path, home: Home, cluster: ClusterPlaceSpec, pool: HostsSpec, *, rdma: bool = False
) -> Iterator[Mistake]:
    """Every mistake about images, upgrades and networks of a pool's hosts.

    `home`: where the cluster is, as far as it is known.
    `rdma`: its GPUs talk to other hosts by RDMA, whose interfaces share a VPC.
    """
    yield from _check_images(at, pool)
    yield from _check_upgrades(at, cluster, pool)
    yield from _check_extra_networks(at, home, cluster, pool, rdma=rdma)


def _check_images(at: Path, pool: HostsSpec) -> Iterator[Mistake]:
    for index, disk in enumerate(pool.secondary_boot_disks):
        if disk.mode == "CONTAINER_IMAGE_CACHE" and not pool.image_streaming:
            yield broken("image-cache-streaming", (*at, "secondaryBootDisks", index, "mode"))


def _check_upgrades(at: Path, cluster: ClusterPlaceSpec, pool: HostsSpec) -> Iterator[Mistake]:
    if not pool.auto_upgrade and cluster.release_channel != "UNSPECIFIED":
        yield Mistake(
            (*at, "autoUpgrade"),
            f"false is refused by GKE in release channel {cluster.release_channel}; remove it (a maintenance exclusion "
            "is how GKE holds upgrades back)",
        )


def _check_extra_networks(
    at: Path, home: Home, cluster: ClusterPlaceSpec, pool: HostsSpec, *, rdma: bool
) -> Iterator[Mistake]:
    """Every interface of a host is in another VPC; those of RDMA in another subnetwork."""
    networks = [place_of(it.network, home.project) for it in pool.extra_networks]
    # Without its region, which a path has and a name leaves to the cluster's.
    subnetworks = [place_of(it.subnetwork, home.project)[:2] for it in pool.extra_networks]
    for index, extra in enumerate(pool.extra_networks):
        path = (*at, "extraNetworks", index)
        if networks[index] == home.network:
            yield broken("extra-network-own", (*path, "network"), value=shown(extra.network))
        elif rdma and subnetworks[index] in subnetworks[:index]:
            yield broken("extra-networks-rdma", (*path, "subnetwork"), value=shown(extra.subnetwork))
        elif not rdma and networks[index] in networks[:index]:
            yield broken("extra-networks", (*path, "network"), value=shown(extra.network))
        else:
            yield from check_interface(path, cluster.location, home.project, extra)
