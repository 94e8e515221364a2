"""Reads the clusters of a project from Google's API."""

from collections.abc import Iterator

from tpuplane.adopt.facts import Facts, Json, dig, group_of
from tpuplane.preflight import Google
from tpuplane.spec.core.locations import region_of

# As the gcp provider: v1 does not have every field.
_CLUSTERS = "container.v1beta1.projects.locations.clusters.list"
_GROUPS = "compute.v1.instanceGroupManagers.aggregatedList"
_POLICY = "compute.v1.resourcePolicies.get"


def read_project(project: str) -> Facts:
    """The clusters of a project. Only reads. Raises `Unreachable` and `Undecided`."""
    google = Google()
    found = google.ask(_CLUSTERS, parent=f"projects/{project}/locations/-") or {}
    clusters = tuple(found.get("clusters", ()))
    named = {
        (policy.rpartition("/")[2], region_of(cluster["location"]))
        for cluster in clusters
        for pool in cluster.get("nodePools", ())
        if (policy := dig(pool, "placementPolicy.policyName"))
    }
    policies = {
        name: google.ask(_POLICY, project=project, region=region, resourcePolicy=name) or {}
        for name, region in sorted(named)
    }
    sizes = {group_of(it["selfLink"]): int(it.get("targetSize", 0)) for it in _groups(google, project)}
    return Facts(project, clusters, tuple(found.get("missingZones", ())), sizes, policies)


def _groups(google: Google, project: str) -> Iterator[Json]:
    """The managed instance groups of a project."""
    page: dict[str, str] = {}
    while True:
        answer = google.ask(_GROUPS, project=project, **page) or {}
        for found in answer.get("items", {}).values():
            yield from found.get("instanceGroupManagers", ())
        if "nextPageToken" not in answer:
            return
        page = {"pageToken": answer["nextPageToken"]}
