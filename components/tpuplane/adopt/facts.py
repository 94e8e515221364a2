"""The answers of Google's API about the clusters of a project, and the parts that cannot be adopted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Facts:
    """The clusters of one project."""

    project: str
    clusters: tuple[Json, ...]
    """Clusters with their node pools, as `projects.locations.clusters.list` (v1beta1) returns them. A node pool
    also has `nodeCount`, its current number of nodes over all zones, and the topology and the mode of its resource
    policy."""
    missing_zones: tuple[str, ...] = ()
    """Locations that did not answer. Their clusters are unknown."""


@dataclass(frozen=True, slots=True)
class NotAdopted:
    """Something that stays outside of the stack, unchanged."""

    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


def dig(found: Any, path: str | tuple[str | int, ...], default: Any = None) -> Any:
    """The value at a path, which is dotted or in parts; `default` if a part is missing."""
    for part in path.split(".") if isinstance(path, str) else path:
        try:
            found = found[part]
        except (LookupError, TypeError):
            return default
    return found


_ADDRESSES = (
    "endpoint",
    "controlPlaneEndpointsConfig.dnsEndpointConfig.endpoint",
    "privateClusterConfig.privateEndpoint",
    "privateClusterConfig.publicEndpoint",
)


def is_at(cluster: Json, server: str) -> bool:
    """Whether `server` in a kubeconfig is an address of the cluster."""
    return server.removeprefix("https://") in {dig(cluster, path) for path in _ADDRESSES} - {None}
