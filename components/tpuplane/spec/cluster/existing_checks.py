"""The checks of existing clusters and existing networks, which are never changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic.alias_generators import to_camel

from tpuplane.spec.cluster.cluster import ClusterSpec
from tpuplane.spec.cluster.network_paths import check_interface
from tpuplane.spec.core.errors import Mistake, Path, shown
from tpuplane.spec.core.names import cluster_name

SHAPES_THE_CLUSTER = frozenset(
    {
        "network",
        "control_plane",
        "system_pool",
        "security",
        "storage",
        "monitoring",
        "cost_allocation",
        "maintenance",
        "auto_provisioning",
        "deletion_protection",
    }
)
"""Fields of a cluster that say how it is made. They cannot be combined with `existing`."""


def check_existing(at: Path, cluster: ClusterSpec) -> Iterator[Mistake]:
    """Reject settings that would shape an existing cluster."""
    if cluster.existing is None:
        return
    for field in ClusterSpec.model_fields:
        if field in SHAPES_THE_CLUSTER and field in cluster.model_fields_set:
            yield Mistake(
                (*at, to_camel(field)),
                "shapes the cluster, but a cluster with `existing` is never changed; remove it, or remove existing",
            )


def check_distinct(platform: str, clusters: Mapping[str, ClusterSpec]) -> Iterator[Mistake]:
    """Reject one cluster under two keys: each would make the same queues and add-ons in it."""
    known: dict[tuple[str, str], str] = {}
    for key, cluster in clusters.items():
        name = cluster.existing.name if cluster.existing is not None else cluster_name(platform, key)
        first = known.setdefault((cluster.location, name), key)
        if first != key:
            # Of an existing cluster and one that is made here, the existing one is reported.
            wrong, other = (key, first) if cluster.existing is not None else (first, key)
            yield Mistake(
                ("clusters", wrong, "existing", "name"),
                f"{shown(name)} in {cluster.location} is clusters.{other} too; describe it once",
            )


def check_existing_network(at: Path, project: str, cluster: ClusterSpec) -> Iterator[Mistake]:
    """Reject ranges where an existing subnetwork has its own, and a subnetwork in another region or project."""
    network, at = cluster.network, (*at, "network")
    if network.existing is None:
        return
    for field in sorted(network.model_fields_set - {"existing"}):
        yield Mistake(
            (*at, to_camel(field)),
            "is a range of a subnetwork to be made, but `existing` names one that exists; remove one of the two",
        )
    if network.existing.pods_range == network.existing.services_range:
        yield Mistake(
            (*at, "existing", "servicesRange"),
            f"{shown(network.existing.services_range)} is the pods' range too; name the range that is for services",
        )
    yield from check_interface((*at, "existing"), cluster.location, project, network.existing)
