"""IPv4 blocks as requests write them, and those that GKE takes where nobody names one."""

from __future__ import annotations

import ipaddress

PODS = "10.4.0.0/14"
SERVICES = "34.118.224.0/20"
_SMALLEST_RANGE = 29


def parse_block(text: str) -> ipaddress.IPv4Network:
    """A block without host bits. Raises ValueError."""
    return ipaddress.IPv4Network(text)


def parse_range(text: str) -> ipaddress.IPv4Network:
    """A block that is large enough for a subnetwork, or for a secondary range of one. Raises ValueError."""
    block = parse_block(text)
    if block.prefixlen > _SMALLEST_RANGE:
        raise ValueError(f"{block} is too small; the smallest range is a /{_SMALLEST_RANGE}")
    return block
