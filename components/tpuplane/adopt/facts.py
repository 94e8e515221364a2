"""What Google's API answers about the clusters of a project, and what of it cannot be adopted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Facts:
    """Clusters of one project, as Kubernetes Engine and Compute Engine describe them."""

    project: str
    clusters: tuple[Json, ...]
    """Clusters with their node pools, as `projects.locations.clusters.list` (v1beta1) has them."""
    missing_zones: tuple[str, ...] = ()
    """Locations that did not answer. Their clusters are not known."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Current number of nodes of each instance group manager, by the end of its URL: zones/ZONE/…/NAME."""
    policies: Mapping[str, Json] = field(default_factory=dict)
    """Resource policies that place node pools, by their name."""

    def nodes(self, pool: Json) -> int:
        """Current number of nodes of a node pool, over all of its zones."""
        groups = [group_of(url) for url in pool.get("instanceGroupUrls", ())]
        if groups and all(group in self.sizes for group in groups):
            return sum(self.sizes[group] for group in groups)
        return int(pool.get("initialNodeCount", 0)) * max(len(pool.get("locations", ())), 1)


def group_of(url: str) -> str:
    """The part of an instance group's URL that is the same in each version of the API."""
    return url.rpartition("/zones/")[2]


@dataclass(frozen=True, slots=True)
class NotAdopted:
    """Something that remains as it is, outside of the stack."""

    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


def dig(found: Any, path: str, default: Any = None) -> Any:
    """The value at a dotted path; `default` if a part of the path is missing."""
    for part in path.split("."):
        if not isinstance(found, Mapping) or part not in found:
            return default
        found = found[part]
    return found
