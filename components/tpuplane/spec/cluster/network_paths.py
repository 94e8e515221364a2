"""Existing networks and their subnetworks, by name or by path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from tpuplane.spec.cluster.cluster import ClusterSpec
from tpuplane.spec.core.errors import Mistake, Path, shown
from tpuplane.spec.core.locations import region_of
from tpuplane.spec.core.rules import broken


class Place(NamedTuple):
    """A network or subnetwork, which a user names by its name or by its path."""

    project: str | None  # None: the cluster's, which is not known before the program runs
    name: str
    region: str | None = None


class Home(NamedTuple):
    """Where a cluster is, as far as it is known before the program runs."""

    project: str | None = None
    network: Place | None = None


class _Interface(Protocol):
    @property
    def network(self) -> str: ...
    @property
    def subnetwork(self) -> str: ...


def place_of(text: str, project: str | None) -> Place:
    """The network or subnetwork of a name in `project`, or of a path."""
    parts = text.split("/")
    if len(parts) == 1:
        return Place(project, text)
    return Place(parts[1], parts[-1], parts[3] if parts[2] == "regions" else None)


def home_of(platform: str, project: str, cluster: ClusterSpec) -> Home:
    """The project of a platform's cluster, and the VPC that its nodes are in."""
    if cluster.existing is not None:
        return Home(project)
    existing = cluster.network.existing
    return Home(project, place_of(existing.network if existing is not None else platform, project))


def check_interface(at: Path, location: str, project: str | None, use: _Interface) -> Iterator[Mistake]:
    """The subnetwork is in the cluster's region, and in the project of its network."""
    network, subnetwork = place_of(use.network, project), place_of(use.subnetwork, project)
    region, at = region_of(location), (*at, "subnetwork")
    if subnetwork.region not in (None, region):
        yield broken("network-region", at, value=shown(subnetwork.region), region=region)
    elif None not in (network.project, subnetwork.project) and network.project != subnetwork.project:
        yield broken(
            "network-project",
            at,
            value=shown(subnetwork.name),
            project=subnetwork.project,
            network=shown(network.name),
            other=network.project,
        )
