"""The checks of address ranges: overlap and size, with the next free range."""

from bisect import insort
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network

from pydantic.alias_generators import to_camel, to_snake

from tpuplane.spec.cluster.auto_provisioning_checks import tpu_rooms
from tpuplane.spec.cluster.cluster import ClusterNetworkSpec, ClusterSpec, SystemPoolSpec
from tpuplane.spec.core.errors import Mistake, Path, dotted, shown
from tpuplane.spec.core.fields import INTERNAL, PROHIBITED, Spec, is_internal
from tpuplane.spec.core.locations import system_zones
from tpuplane.spec.core.names import proxies_name
from tpuplane.spec.core.rules import broken, spec_data

# Every primary range loses four addresses: network, gateway, last but one, broadcast
# (https://cloud.google.com/vpc/docs/subnets).
RESERVED_ADDRESSES = 4
LIMITS: Mapping[str, Mapping[str, int]] = spec_data("ranges")["prefixes"]
"""The prefixes of the smallest and the largest range for pods and services."""
# https://cloud.google.com/load-balancing/docs/proxy-only-subnets#proxy-only-subnet-size
SMALLEST_PROXIES = 26
MAX_CLUSTER_NODES = 15000
"""Nodes of a cluster (google/gke-policy-automation, scalability)."""
# Pods per node by default, and on the system pool
# (https://cloud.google.com/kubernetes-engine/docs/how-to/flexible-pod-cidr).
_GKE_MAX_PODS = 110
# A cluster in a region whose zones are not known: GKE spreads a pool over three.
USUAL_ZONES = 3
# Overlaps with a free range in their message: to find one takes longer, the more ranges there are.
_MOST_HINTS = 100
_RANGES = ("nodes_cidr", "pods_cidr", "services_cidr", "proxies_cidr", "master_cidr")
_PRIVATE = (IPv4Network("10.0.0.0/8"), IPv4Network("172.16.0.0/12"), IPv4Network("192.168.0.0/16"))


@dataclass(frozen=True, slots=True)
class AddressNeeds:
    """Addresses that a cluster takes at full scale, with the node that an upgrade of the system pool adds."""

    nodes: int
    """Of the primary range: one for each node."""
    pods: int
    """Of the pods' range: a block for each node."""


def check_overlaps(networks: Mapping[Path, Spec]) -> Iterator[Mistake]:
    """Reject a range that overlaps an earlier one, and suggest the next free one of its size.

    `networks` are the parts of the description with ranges of one VPC, by their paths.
    """
    known: dict[tuple[int, int], Path] = {}
    within: dict[tuple[int, int], Path] = {}  # the first range inside of each larger one
    hints = 0
    ranges = ranges_in(networks)
    unused = FreeRanges(ranges.values())
    for path, network in ranges.items():
        first = int(network.network_address)
        around = [(first >> 32 - prefix, prefix) for prefix in range(network.prefixlen + 1)]
        other = within.get(around[-1]) or next((known[block] for block in around if block in known), None)
        if other is not None:
            hints += 1
            free = unused.take(network.prefixlen) if hints <= _MOST_HINTS else None
            hint = f"; next free: {free}" if free else ""
            written = networks[path[:-1]].model_fields_set
            default = "" if to_snake(str(path[-1])) in written else " (the default)"
            yield Mistake(path, f"'{network}'{default} overlaps {ranges[other]} of {dotted(other)}{hint}")
        known.setdefault(around[-1], path)
        for block in around:
            within.setdefault(block, path)


def ranges_in(networks: Mapping[Path, Spec]) -> dict[Path, IPv4Network]:
    """The ranges of these parts of a description, by the paths of their fields."""
    return {
        (*at, to_camel(field)): IPv4Network(value)
        for at, part in networks.items()
        for field in _RANGES
        if (value := getattr(part, field, None)) is not None
    }


def ranges_of(clusters: Mapping[str, ClusterSpec]) -> dict[Path, Spec]:
    """The parts of clusters of one VPC with address ranges. Those of existing clusters and networks are unknown."""
    found: dict[Path, Spec] = {}
    for key, cluster in clusters.items():
        if cluster.existing is None:
            if cluster.network.existing is None:
                found["clusters", key, "network"] = cluster.network
            if cluster.control_plane.ip_endpoint:  # without it, another check rejects the range
                found["clusters", key, "controlPlane"] = cluster.control_plane
    return found


class FreeRanges:
    """Private ranges that overlap none of `taken`."""

    def __init__(self, taken: Iterable[IPv4Network]) -> None:
        networks = (*taken, *PROHIBITED)
        self._taken = sorted((int(network.network_address), int(network.broadcast_address)) for network in networks)

    def take(self, prefix: int) -> IPv4Network | None:
        """Take the first free range of this size; None if there is none."""
        size = 1 << 32 - prefix
        for block in _PRIVATE:
            start = int(block.network_address)
            for first, last in self._taken:
                if first < start + size and last >= start:
                    # Continue after the overlapping range, at the next possible start of a range of this size.
                    start = (last // size + 1) * size
            if start + size - 1 <= int(block.broadcast_address):
                insort(self._taken, (start, start + size - 1))
                return IPv4Network((start, prefix))
        return None


def check_sizes(at: Path, network: ClusterNetworkSpec, needs: AddressNeeds) -> Iterator[Mistake]:
    """Reject ranges that cannot hold a cluster at full scale."""
    if network.existing is not None:
        return
    # Another check rejects pools above the limit of nodes, for which a larger range would not help.
    nodes, pods = (0, 0) if needs.nodes > MAX_CLUSTER_NODES else (needs.nodes, needs.pods)
    nodes_range = IPv4Network(network.nodes_cidr)
    room = max(0, nodes_range.num_addresses - RESERVED_ADDRESSES)
    if nodes > room:
        cause = f"'{nodes_range}' holds {room} nodes, but the pools grow to {nodes}"
        yield Mistake((*at, "nodesCidr"), f"{cause}; allowed: /{_prefix(nodes + RESERVED_ADDRESSES)} or larger")
    pods_range = IPv4Network(network.pods_cidr)
    if pods > pods_range.num_addresses:
        has = f"'{pods_range}' has {pods_range.num_addresses} addresses"
        cause = f"the pools' {nodes} nodes reserve {pods} (twice the pods per node, rounded up)"
        allowed = f"/{_prefix(pods)} or larger, or a lower maxPodsPerNode"
        yield Mistake((*at, "podsCidr"), f"{has}, but {cause}; allowed: {allowed}")
    for use, found in (("pods", pods_range), ("services", IPv4Network(network.services_cidr))):
        limits = LIMITS[use]
        if found.prefixlen > limits.get("smallest", found.max_prefixlen):
            line = f"'{found}' is smaller than GKE allows for {use}; allowed: /{limits['smallest']} or larger"
            yield Mistake((*at, f"{use}Cidr"), line)
        if found.prefixlen < limits["largest"]:
            line = f"'{found}' is larger than GKE allows for {use}; allowed: /{limits['largest']} or smaller"
            yield Mistake((*at, f"{use}Cidr"), line)


def check_internal(at: Path, cidr: str | None) -> Iterator[Mistake]:
    """Reject public addresses in a range of a cluster: they need GKE's default SNAT off, and nothing turns it off."""
    if cidr is not None and not is_internal(IPv4Network(cidr)):
        yield broken("range-internal", at, value=shown(cidr), allowed=", ".join(map(str, INTERNAL)))


def check_proxies(networks: Iterable[tuple[Path, str, ClusterNetworkSpec]]) -> Iterator[Mistake]:
    """Reject proxy-only subnetworks that are too small or have the name of another subnetwork, and a second one in a
    region, which has one for all of its load balancers. `networks` are parts of the description, each with its path
    and region."""
    first: dict[str, Path] = {}
    own = {path[:2]: (path, region, network) for path, region, network in networks if network.existing is None}
    for path, region, network in own.values():
        if network.proxies_cidr is None:
            continue
        at = (*path, "proxiesCidr")
        if IPv4Network(network.proxies_cidr).prefixlen > SMALLEST_PROXIES:
            line = f"'{network.proxies_cidr}' is too small for proxies; allowed: /{SMALLEST_PROXIES} or larger"
            yield Mistake(at, line)
        if (named := (path[0], proxies_name(str(path[1])))) in own:
            yield Mistake(at, f"its subnetwork has the same name as that of {dotted(named)}; rename one of them")
        if (other := first.setdefault(region, at)) != at:
            yield Mistake(at, f"{region} has the proxy-only subnetwork of {dotted(other)}; remove one of the two")


def address_needs(cluster: ClusterSpec) -> AddressNeeds:
    """The addresses that a cluster needs at full scale."""
    # The pods of an existing cluster are unknown.
    own = AddressNeeds(0, 0) if cluster.existing else system_needs(cluster.location, cluster.system_pool)
    sizes = ((pool.known_size(cluster.location), pool.max_pods_per_node) for pool in cluster.all_pools.values())
    hosts = [(size.nodes, most_pods) for size, most_pods in sizes if size is not None]
    hosts += [(room.hosts, _GKE_MAX_PODS) for room in tpu_rooms(cluster)]
    pods = sum(nodes * pod_block(most_pods) for nodes, most_pods in hosts)
    return AddressNeeds(own.nodes + sum(nodes for nodes, _ in hosts), own.pods + pods)


def system_needs(location: str, pool: SystemPoolSpec) -> AddressNeeds:
    """The addresses that the system pool of a cluster needs, including the node that an upgrade adds."""
    nodes = pool.max_nodes * (len(system_zones(location)) or USUAL_ZONES) + 1
    return AddressNeeds(nodes, nodes * pod_block(_GKE_MAX_PODS))


def pod_block(max_pods: int) -> int:
    """Addresses that GKE reserves on each node: the power of two that is at least twice the pods."""
    return 1 << (2 * max_pods - 1).bit_length()


def _prefix(addresses: int) -> int:
    return 32 - (addresses - 1).bit_length()
