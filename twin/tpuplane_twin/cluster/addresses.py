"""Where a cluster's addresses come from: pods and Services from the ranges that its GKE cluster has."""

import ipaddress
from collections.abc import Iterable, Mapping
from typing import Any

from tpuplane_twin.cluster.api import ClusterError
from tpuplane_twin.gcp.backend import pod_cidr_size
from tpuplane_twin.gcp.views import ClusterView, PoolView

DOMAIN = "cluster.local"
"""The domain of the names of Services."""


class AddressesExhausted(ClusterError):
    """A pod range has no room for another node."""


class Addresses:
    """The pod range of one or several node pools, from which every node has its part."""

    def __init__(self, range_: str, used: Iterable[str]) -> None:
        """The range `range_` (a CIDR block), in which the ranges `used` are taken; others do not matter."""
        self._network = ipaddress.IPv4Network(range_)
        taken = [ipaddress.IPv4Network(network) for network in used]
        self._taken = {network for network in taken if network.subnet_of(self._network)}
        self._next = max(
            (int(network.broadcast_address) + 1 for network in self._taken), default=int(self._network.network_address)
        )

    def take(self, pods: int) -> ipaddress.IPv4Network:
        """A free range for a node of `pods` pods. Raises `AddressesExhausted`."""
        prefix = pod_cidr_size(pods)
        size = 1 << (32 - prefix)
        start = -(-self._next // size) * size
        if start + size - 1 <= int(self._network.broadcast_address):
            found = ipaddress.IPv4Network((start, prefix))
            self._next = start + size
        else:
            found = self._first_gap(prefix, pods)
        self._taken.add(found)
        return found

    def _first_gap(self, prefix: int, pods: int) -> ipaddress.IPv4Network:
        # A node's range that is larger than the whole is not a subnet of it.
        candidates = self._network.subnets(new_prefix=prefix) if prefix >= self._network.prefixlen else ()
        for candidate in candidates:
            if not any(candidate.overlaps(network) for network in self._taken):
                return candidate
        raise AddressesExhausted(
            f"IP_SPACE_EXHAUSTED: the pod range {self._network} has no room for another node of {pods} pods "
            f"(a /{prefix}); delete node pools, or give the pool fewer pods per node or a larger range"
        )


def node_address(pods: ipaddress.IPv4Network) -> str:
    """The address of the node whose pods are in `pods`: after the pods' addresses."""
    return str(pods.broadcast_address - 1)


def pod_range(cluster: Mapping[str, Any], pool: dict[str, Any] | None = None) -> str:
    """The range of the pods of a cluster, or of one of its pools, from Google's REST JSON."""
    return (PoolView(pool).pod_block if pool is not None else "") or ClusterView(cluster).pods


def kubernetes_address(services: str) -> str:
    """The address of the Service `kubernetes`: the first of the range."""
    return str(ipaddress.IPv4Network(services)[1])


def dns_address(services: str) -> str:
    """The address of the name server: the tenth of the Service range, as kube-dns has it on GKE."""
    return str(ipaddress.IPv4Network(services)[10])
