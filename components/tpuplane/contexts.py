"""The context of a kubeconfig that `gcloud container clusters get-credentials` writes for a cluster of GKE."""

import re
from typing import NamedTuple

_GKE = re.compile(r"gke_(?P<project>[^_]+)_(?P<location>[^_]+)_(?P<name>[^_]+)")


class GkeCluster(NamedTuple):
    """The cluster that a context names."""

    project: str
    location: str
    name: str

    @property
    def context(self) -> str:
        """gcloud's name of its context."""
        return "gke_" + "_".join(self)


def gke_cluster(context: str) -> GkeCluster | None:
    """The cluster of a context with gcloud's name; None for another context."""
    found = _GKE.fullmatch(context)
    return GkeCluster(*found.groups()) if found else None
