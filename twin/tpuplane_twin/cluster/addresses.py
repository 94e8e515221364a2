"""Pod ranges and node addresses inside 127.0.0.0/8: what dials a simulated pod never leaves this machine."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from pathlib import Path

from tpuplane_twin.cluster.errors import ClusterError
from tpuplane_twin.files import write_atomic

BLOCKS = range(1, 8)
"""The blocks a twin can give to its clusters; block 0 holds 127.0.0.1 and is nobody's."""

_BLOCK_BITS = 11
_SMALLEST = 28
_BLOCK_FILE = "address-block"


class AddressesExhausted(ClusterError):
    """A cluster has more nodes than its block has addresses."""


class Addresses:
    """The address block of one cluster: a /11, room for 16,384 nodes of 110 pods."""

    def __init__(self, block: int, used: Iterable[str]) -> None:
        """Block number `block` (see `BLOCKS`), in which the ranges `used` are taken."""
        self._network = ipaddress.IPv4Network(f"127.{block << 5}.0.0/{_BLOCK_BITS}")
        taken = [ipaddress.IPv4Network(network) for network in used]
        self._taken = {range_ for range_ in taken if range_.subnet_of(self._network)}
        self._next = max(
            (int(range_.broadcast_address) + 1 for range_ in self._taken),
            default=int(self._network.network_address),
        )

    def take(self, pods: int) -> ipaddress.IPv4Network:
        """A free range for a node of `pods` pods and the node itself. Raises `AddressesExhausted`."""
        # kwok starts at the second address; the last but one is the node's.
        prefix = min(_SMALLEST, 32 - (pods + 3 - 1).bit_length())
        size = 1 << (32 - prefix)
        start = -(-self._next // size) * size
        found = ipaddress.IPv4Network((start, prefix)) if start <= int(self._network.broadcast_address) else None
        if found is None or not found.subnet_of(self._network):
            found = self._first_gap(prefix)
        else:
            self._next = start + size
        self._taken.add(found)
        return found

    def _first_gap(self, prefix: int) -> ipaddress.IPv4Network:
        for candidate in self._network.subnets(new_prefix=prefix):
            if not any(candidate.overlaps(range_) for range_ in self._taken):
                return candidate
        raise AddressesExhausted(f"{self._network} has no room for another node; delete node pools")


def claim_block(folder: Path) -> int:
    """The block of the cluster whose folder this is: the lowest that no folder beside it has, the same for ever.

    Raises `AddressesExhausted`. Reads and writes without a pause, so two clusters that start at once differ.
    """
    mine = folder / _BLOCK_FILE
    if mine.exists():
        return int(mine.read_text())
    taken = {int(file.read_text()) for file in folder.parent.glob(f"*/{_BLOCK_FILE}")}
    free = next((block for block in BLOCKS if block not in taken), None)
    if free is None:
        raise AddressesExhausted(
            f"a twin has pod addresses for {len(BLOCKS)} clusters, and all are given out; delete a cluster"
        )
    write_atomic(mine, str(free))
    return free


def node_address(pods: ipaddress.IPv4Network) -> str:
    """The address of the node whose pods are in `pods`."""
    return str(pods.broadcast_address - 1)
