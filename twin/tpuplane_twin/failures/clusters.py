"""The clusters that a user names: NAME, LOCATION/NAME or the context. Clusters of two locations can have one name."""

from collections import Counter
from collections.abc import Iterable, Mapping

from tpuplane.contexts import GkeCluster
from tpuplane.spec.core.errors import choice

from tpuplane_twin.gcp.container.names import CLUSTER, cluster_of
from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.store import Store


def clusters_named(asked: str, clusters: Mapping[str, GkeCluster]) -> list[str]:
    """The keys of the clusters that `asked` names; of all for "". Raises `ApiError` if there is none."""
    found = [key for key, own in clusters.items() if asked in ("", own.name, _located(own), own.context)]
    if asked and not found:
        raise invalid(choice(asked, "a cluster", choices(clusters.values())))
    return found


def stored_clusters(store: Store, asked: str) -> list[str]:
    """The resource names of the clusters that `asked` names; of all for "". Raises `ApiError` if there is none."""
    return clusters_named(asked, {key: cluster_of(key) for key, _ in store.items(CLUSTER)})


def choices(clusters: Iterable[GkeCluster]) -> list[str]:
    """What tells the clusters apart: their names, with the location of those that several clusters have."""
    clusters = list(clusters)
    names = Counter(own.name for own in clusters)
    return sorted(own.name if names[own.name] == 1 else _located(own) for own in clusters)


def _located(cluster: GkeCluster) -> str:
    return f"{cluster.location}/{cluster.name}"
