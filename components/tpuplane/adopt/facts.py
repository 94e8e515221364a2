"""What Google's API answers about the clusters of a project, and what of it cannot be adopted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Facts:
    """The clusters of one project."""

    project: str
    clusters: tuple[Json, ...]
    """Clusters with their node pools, as `projects.locations.clusters.list` (v1beta1) has them. A node pool also has
    `nodeCount`, its current number of nodes over all zones, and the topology of its resource policy."""
    missing_zones: tuple[str, ...] = ()
    """Locations that did not answer. Their clusters are not known."""


@dataclass(frozen=True, slots=True)
class NotAdopted:
    """Something that remains as it is, outside of the stack."""

    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


def dig(found: Any, path: str | tuple[str, ...], default: Any = None) -> Any:
    """The value at a path, dotted or in parts; `default` if a part of the path is missing."""
    for part in path.split(".") if isinstance(path, str) else path:
        if not isinstance(found, Mapping) or part not in found:
            return default
        found = found[part]
    return found


_ADDRESSES = (
    "endpoint",
    "controlPlaneEndpointsConfig.dnsEndpointConfig.endpoint",
    "privateClusterConfig.privateEndpoint",
    "privateClusterConfig.publicEndpoint",
)


def is_at(cluster: Json, server: str) -> bool:
    """Whether a kubeconfig with this server is that of the cluster."""
    return server.removeprefix("https://") in {dig(cluster, path) for path in _ADDRESSES} - {None}
