"""The checks of existing clusters and existing networks, which are never changed."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pydantic.alias_generators import to_camel

from tpuplane.spec.cluster.cluster import ClusterPlaceSpec, ClusterSettingsSpec, ClusterSpec, ExistingNetworkSpec
from tpuplane.spec.core.errors import Mistake, Path, shown
from tpuplane.spec.core.locations import region_of
from tpuplane.spec.core.rules import broken
from tpuplane.spec.pools.hosts import ExtraNetworkSpec


class Place(NamedTuple):
    """A network or subnetwork, which a user names by its name or by its path."""

    project: str | None  # None: the cluster's, which is not known before the program runs
    name: str
    region: str | None = None


class Home(NamedTuple):
    """Project and network of a cluster, as far as they are known before the program runs."""

    project: str | None = None
    network: Place | None = None


def place_of(text: str, project: str | None) -> Place:
    """The network or subnetwork with this path, or with this name in `project`."""
    parts = text.split("/")
    if len(parts) == 1:
        return Place(project, text)
    return Place(parts[1], parts[-1], parts[3] if parts[2] == "regions" else None)


def home_of(platform: str, project: str, cluster: ClusterSpec) -> Home:
    """The project of a platform's cluster, and the VPC of its nodes."""
    if cluster.existing is not None:
        return Home(project)
    existing = cluster.network.existing
    return Home(project, place_of(existing.network if existing is not None else platform, project))


def check_interface(
    at: Path, location: str, project: str | None, use: ExistingNetworkSpec | ExtraNetworkSpec
) -> Iterator[Mistake]:
    """The subnetwork is in the cluster's region, and in the project of its network."""
    network, subnetwork = place_of(use.network, project), place_of(use.subnetwork, project)
    region, at = region_of(location), (*at, "subnetwork")
    if subnetwork.region not in (None, region):
        yield broken("network-region", at, value=shown(subnetwork.region), region=region)
    elif None not in (network.project, subnetwork.project) and network.project != subnetwork.project:
        parts = {"value": shown(subnetwork.name), "project": subnetwork.project, "network": shown(network.name)}
        yield broken("network-project", at, other=network.project, **parts)


_OF_ANY_CLUSTER = {*ClusterPlaceSpec.model_fields, "addons", "labels"}
_OF_CREATED = {"adopted", "network", "multi_tier_checkpointing"}
SHAPES_THE_CLUSTER = {*ClusterSettingsSpec.model_fields, *_OF_CREATED} - _OF_ANY_CLUSTER
"""Fields that configure a new cluster. They cannot be combined with `existing`."""


def check_existing(at: Path, cluster: ClusterSpec) -> Iterator[Mistake]:
    """Reject settings that would change an existing cluster."""
    if cluster.existing is None:
        return
    for field in ClusterSpec.model_fields:
        if field in SHAPES_THE_CLUSTER and field in cluster.model_fields_set:
            cause = "configures the cluster, but tpuplane never changes an existing cluster"
            yield Mistake((*at, to_camel(field)), f"{cause}; remove it, or remove existing")


def check_distinct(platform: str, clusters: Mapping[str, ClusterSpec]) -> Iterator[Mistake]:
    """Reject one cluster under two keys, because each key would create the same queues and add-ons in it."""
    known: dict[tuple[str, str], str] = {}
    for key, cluster in clusters.items():
        name = cluster.gke_name(platform, key)
        first = known.setdefault((cluster.location, name), key)
        if first != key:
            # Of an existing cluster and a new one, the existing one is reported.
            wrong, other = (key, first) if cluster.existing is not None else (first, key)
            field = "existing" if clusters[wrong].existing is not None else "adopted"
            line = f"{shown(name)} in {cluster.location} is also clusters.{other}; describe it once"
            yield Mistake(("clusters", wrong, field, "name"), line)


def check_own_network(platform: str, project: str, clusters: Mapping[str, ClusterSpec]) -> Iterator[Mistake]:
    """Reject the platform's new VPC as an existing one, because nothing would wait for its creation."""
    makers = (key for key, cluster in clusters.items() if cluster.existing is None and cluster.network.existing is None)
    maker = next(makers, None)
    for key, cluster in clusters.items():
        existing = cluster.network.existing
        if maker and existing is not None and place_of(existing.network, project) == Place(project, platform):
            cause = f"{shown(existing.network)} is the network that the platform creates for clusters.{maker}"
            path = ("clusters", key, "network", "existing", "network")
            yield Mistake(path, f"{cause}; remove existing, or name another network")


def check_existing_network(at: Path, project: str, cluster: ClusterSpec) -> Iterator[Mistake]:
    """Reject ranges of an existing subnetwork, which has its own, and a subnetwork in another region or project."""
    network, at = cluster.network, (*at, "network")
    if network.existing is None:
        return
    for field in sorted(network.model_fields_set - {"existing"}):
        line = "is a range of a new subnetwork, but `existing` names an existing one; remove one of the two"
        yield Mistake((*at, to_camel(field)), line)
    if network.existing.pods_range == network.existing.services_range:
        value = shown(network.existing.services_range)
        line = f"{value} is the pods' range too; name the range that is for services"
        yield Mistake((*at, "existing", "servicesRange"), line)
    yield from check_interface((*at, "existing"), cluster.location, project, network.existing)
