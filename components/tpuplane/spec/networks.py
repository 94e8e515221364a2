"""Address ranges: do they overlap, are they large enough, and which one is free."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network

from pydantic.alias_generators import to_snake

from tpuplane.gpu import GpuError
from tpuplane.spec.clusters import ClusterSpec
from tpuplane.spec.errors import Mistake, Path, dotted
from tpuplane.spec.locations import gpu_zones, system_zones
from tpuplane.spec.provisioned import tpu_rooms
from tpuplane.tpu import SliceError

# Every primary range loses four addresses: network, gateway, last but one, broadcast
# (https://cloud.google.com/vpc/docs/subnets).
RESERVED_ADDRESSES = 4
# "smallest possible Service address range" (https://cloud.google.com/kubernetes-engine/docs/concepts/alias-ips).
_SMALLEST_SERVICES = 27
# Pods per node where the user sets nothing, and on the system pool
# (https://cloud.google.com/kubernetes-engine/docs/how-to/flexible-pod-cidr).
_GKE_MAX_PODS = 110
# A cluster in a region whose zones are not known: GKE spreads a pool over three.
USUAL_ZONES = 3
_PRIVATE = (IPv4Network("10.0.0.0/8"), IPv4Network("172.16.0.0/12"), IPv4Network("192.168.0.0/16"))


@dataclass(frozen=True, slots=True)
class AddressNeeds:
    """Addresses that a cluster takes at full scale, with the node that an upgrade of the system pool adds."""

    nodes: int
    """Of the primary range: one for each node."""
    pods: int
    """Of the pods' range: a block for each node."""


def _ranges(clusters: dict[str, ClusterSpec]) -> dict[Path, IPv4Network]:
    """Every address range of the platform's VPC, by its path in the file."""
    found: dict[Path, IPv4Network] = {}
    for key, cluster in clusters.items():
        if cluster.existing is not None:
            continue  # its ranges are somebody else's
        at: Path = ("clusters", key)
        if cluster.network.existing is None:
            found[(*at, "network", "nodesCidr")] = IPv4Network(cluster.network.nodes_cidr)
            found[(*at, "network", "podsCidr")] = IPv4Network(cluster.network.pods_cidr)
            found[(*at, "network", "servicesCidr")] = IPv4Network(cluster.network.services_cidr)
        if cluster.control_plane.master_cidr is not None:
            found[(*at, "controlPlane", "masterCidr")] = IPv4Network(cluster.control_plane.master_cidr)
    return found


def check_overlaps(clusters: dict[str, ClusterSpec]) -> Iterator[Mistake]:
    """Refuse a range that overlaps one that stands before it, and suggest the next free one of its size."""
    known: dict[IPv4Network, Path] = {}
    within: dict[IPv4Network, Path] = {}  # the first range inside of each larger one
    ranges = _ranges(clusters)
    everything = list(ranges.values())
    for path, network in ranges.items():
        around = [network.supernet(new_prefix=prefix) for prefix in range(network.prefixlen + 1)]
        other = within.get(network) or next((known[it] for it in around if it in known), None)
        if other is not None:
            free = next_free(network.prefixlen, everything)
            everything += [free] if free else []
            hint = f"; next free: {free}" if free else ""
            default = "" if _is_written(clusters, path) else " (the default)"
            yield Mistake(path, f"'{network}'{default} overlaps {ranges[other]} of {dotted(other)}{hint}")
        known.setdefault(network, path)
        for it in around:
            within.setdefault(it, path)


def _is_written(clusters: dict[str, ClusterSpec], path: Path) -> bool:
    """Whether the user chose the range at `path`."""
    _, key, part, field = path
    section = clusters[str(key)].network if part == "network" else clusters[str(key)].control_plane
    return to_snake(str(field)) in section.model_fields_set


def next_free(prefix: int, taken: list[IPv4Network]) -> IPv4Network | None:
    """The first private range of this size that overlaps none of `taken`; None when all are taken."""
    size = 1 << 32 - prefix
    blockers = sorted((int(range_.network_address), int(range_.broadcast_address)) for range_ in taken)
    for block in _PRIVATE:
        start = int(block.network_address)
        for first, last in blockers:
            if first < start + size and last >= start:
                # Jump behind what is in the way, to the next place where a range of this size may begin.
                start = (last // size + 1) * size
        if start + size - 1 <= int(block.broadcast_address):
            return IPv4Network((start, prefix))
    return None


def check_sizes(key: str, cluster: ClusterSpec) -> Iterator[Mistake]:
    """Refuse ranges that cannot hold the cluster at full scale."""
    if cluster.existing is not None or cluster.network.existing is not None:
        return
    needs = address_needs(cluster)
    nodes, pods = needs.nodes, needs.pods
    at: Path = ("clusters", key, "network")
    nodes_range = IPv4Network(cluster.network.nodes_cidr)
    room = max(0, nodes_range.num_addresses - RESERVED_ADDRESSES)
    if nodes > room:
        yield Mistake(
            (*at, "nodesCidr"),
            f"'{nodes_range}' holds {room} nodes, but the pools grow to {nodes}; "
            f"allowed: /{_prefix(nodes + RESERVED_ADDRESSES)} or larger",
        )
    pods_range = IPv4Network(cluster.network.pods_cidr)
    if pods > pods_range.num_addresses:
        yield Mistake(
            (*at, "podsCidr"),
            f"'{pods_range}' has {pods_range.num_addresses} addresses, but the pools' {nodes} nodes reserve {pods} "
            f"(twice the pods per node, rounded up); allowed: /{_prefix(pods)} or larger, or a lower maxPodsPerNode",
        )
    services_range = IPv4Network(cluster.network.services_cidr)
    if services_range.prefixlen > _SMALLEST_SERVICES:
        yield Mistake(
            (*at, "servicesCidr"),
            f"'{services_range}' is smaller than GKE takes for services; allowed: /{_SMALLEST_SERVICES} or larger",
        )


def address_needs(cluster: ClusterSpec) -> AddressNeeds:
    """How much of its ranges the cluster takes."""
    nodes = _system_nodes(cluster)
    pods = nodes * pod_block(_GKE_MAX_PODS)
    for pool in cluster.pools.values():
        try:
            hosts = pool.slice.hosts * pool.max_slices
        except SliceError:
            continue  # reported where it stands
        nodes += hosts
        pods += hosts * pod_block(pool.max_pods_per_node)
    for room in tpu_rooms(cluster):
        nodes += room.hosts
        pods += room.hosts * pod_block(_GKE_MAX_PODS)
    for gpu_pool in cluster.gpu_pools.values():
        try:
            hosts = gpu_pool.max_nodes * (len(gpu_zones(cluster, gpu_pool)) or 1)
        except GpuError:
            continue  # reported where it stands
        nodes += hosts
        pods += hosts * pod_block(gpu_pool.max_pods_per_node)
    return AddressNeeds(nodes, pods)


def _system_nodes(cluster: ClusterSpec) -> int:
    """Nodes of the system pool and the one that its upgrade adds; what an existing cluster has is not known."""
    if cluster.existing is not None:
        return 0
    zones = len(system_zones(cluster.location)) or USUAL_ZONES
    return cluster.system_pool.max_nodes * zones + 1


def pod_block(max_pods: int) -> int:
    """Addresses that GKE reserves on each node: the power of two that is at least twice the pods."""
    return 1 << (2 * max_pods - 1).bit_length()


def _prefix(addresses: int) -> int:
    return 32 - (addresses - 1).bit_length()
