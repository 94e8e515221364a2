"""A cluster that somebody else made: pools and objects are added to it, and it is never changed."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic.alias_generators import to_camel

from tpuplane.spec.clusters import ClusterSpec
from tpuplane.spec.errors import Mistake, Path

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
"""Fields of a cluster that say how it is made. They have no place beside `existing`."""


def check_existing(at: Path, cluster: ClusterSpec) -> Iterator[Mistake]:
    """Refuse to shape a cluster that is somebody else's."""
    if cluster.existing is None:
        return
    for field in ClusterSpec.model_fields:
        if field in SHAPES_THE_CLUSTER and field in cluster.model_fields_set:
            yield Mistake(
                (*at, to_camel(field)),
                "shapes the cluster, but `existing` says that somebody else made it; remove it, or remove existing",
            )
