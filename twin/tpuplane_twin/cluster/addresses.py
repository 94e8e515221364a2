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
        end = int(self._network.broadcast_address) + 1
        start = _aligned(self._next, size)
        if start + size > end:
            start = self._first_gap(size)
        if start + size > end:
            raise AddressesExhausted(
                f"IP_SPACE_EXHAUSTED: the pod range {self._network} has no room for another node of {pods} pods "
                f"(a /{prefix}); delete node pools, or give the pool fewer pods per node or a larger range"
            )
        self._next = max(self._next, start + size)
        found = ipaddress.IPv4Network((start, prefix))
        self._taken.add(found)
        return found

    def _first_gap(self, size: int) -> int:
        start = int(self._network.network_address)
        for network in sorted(self._taken):
            if start + size <= int(network.network_address):
                break
            start = max(start, _aligned(int(network.broadcast_address) + 1, size))
        return start


def _aligned(address: int, size: int) -> int:
    """The first multiple of `size` from `address` on."""
    return -(-address // size) * size


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
