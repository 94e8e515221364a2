"""The VPC between clusters: control planes' private endpoints, and the clients that each of them answers.

A private endpoint is an address of the cluster's subnetwork, or of a block that the cluster has for it. As on GKE, it
answers the cluster's own pods and the authorized networks of its VPC, from other regions only with global access.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from tpuplane_twin.gcp.locations import region_of
from tpuplane_twin.gcp.views import ClusterView


@dataclass(frozen=True, slots=True)
class PrivateEndpoint:
    """Where a cluster is in its VPC, the address of its control plane there, and its authorized clients."""

    address: str
    network: str
    region: str
    pods: IPv4Network
    authorized: tuple[IPv4Network, ...] | None  # None: the whole VPC
    globally: bool  # from other regions, too
    answers: bool = True  # False: the cluster answers at its DNS name alone

    @classmethod
    def of(cls, cluster: Mapping[str, Any]) -> PrivateEndpoint | None:
        """From Google's REST JSON; None where it names no address in a VPC."""
        view = ClusterView(cluster)
        if not view.private_endpoint:
            return None
        return cls(
            address=view.private_endpoint,
            network=view.network,
            region=region_of(view.location),
            pods=IPv4Network(view.pods),
            authorized=tuple(map(IPv4Network, view.authorized_blocks)) if view.restricted else None,
            globally=view.global_access,
            answers=view.ip_endpoint,
        )

    def rejection(self, source: str, region: str) -> str | None:
        """Why it does not answer `source`, an address of the VPC in `region`; None where it does."""
        sender = IPv4Address(source)
        if sender in self.pods:
            return None
        if region != self.region and not self.globally:
            return f"{source} is in {region}, and the private endpoint is for {self.region} alone: no global access"
        if self.authorized is not None and not any(sender in network for network in self.authorized):
            return f"{source} is in none of the authorized networks"
        return None


class Vpc:
    """The private endpoints of all clusters that serve. Each is behind a port of this machine."""

    def __init__(self) -> None:
        self._served: dict[str, tuple[PrivateEndpoint, int]] = {}
        self._watching: set[asyncio.Event] = set()

    def publish(self, key: str, endpoint: PrivateEndpoint, port: int) -> None:
        """The API server of the cluster `key` serves at `port` of 127.0.0.1."""
        self._served[key] = endpoint, port
        self._tell()

    def withdraw(self, key: str) -> None:
        """It does no longer."""
        if self._served.pop(key, None) is not None:
            self._tell()

    def seen_from(self, network: str) -> dict[str, tuple[PrivateEndpoint, int]]:
        """What answers in a network, by address."""
        return {served[0].address: served for served in self._served.values() if served[0].network == network}

    def watch(self, changed: asyncio.Event) -> None:
        """Set `changed` at every change from here on, until it is unwatched."""
        self._watching.add(changed)

    def unwatch(self, changed: asyncio.Event) -> None:
        """Stop setting it."""
        self._watching.discard(changed)

    def _tell(self) -> None:
        for changed in self._watching:
            changed.set()
