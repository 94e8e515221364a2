"""The clusters that a user names: NAME, LOCATION/NAME or the context. Clusters of two locations can have one name."""

from collections import Counter
from collections.abc import Iterable, Mapping

from tpuplane.contexts import GkeCluster
from tpuplane.spec.core.errors import choice

from tpuplane_twin.gcp.errors import invalid


def of_key(key: str) -> GkeCluster:
    """The cluster of that resource name, or of a resource in it."""
    return GkeCluster(*key.split("/")[1:6:2])


def clusters_named(asked: str, clusters: Mapping[str, GkeCluster]) -> list[str]:
    """The keys of the clusters that `asked` names; of all for "". Raises `ApiError` if there is none."""
    found = [key for key, own in clusters.items() if asked in ("", own.name, _located(own), own.context)]
    if asked and not found:
        raise invalid(choice(asked, "a cluster", choices(clusters.values())))
    return found


def choices(clusters: Iterable[GkeCluster]) -> list[str]:
    """What tells the clusters apart: their names, with the location of those that several clusters have."""
    clusters = list(clusters)
    names = Counter(own.name for own in clusters)
    return sorted(own.name if names[own.name] == 1 else _located(own) for own in clusters)


def _located(cluster: GkeCluster) -> str:
    return f"{cluster.location}/{cluster.name}"
