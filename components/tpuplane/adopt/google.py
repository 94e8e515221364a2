"""Reads the clusters of a project from Google's API."""

from collections.abc import Iterator

from tpuplane.adopt.facts import Facts, dig
from tpuplane.preflight import Google
from tpuplane.preflight.google import of_project
from tpuplane.spec.core.locations import region_of

# The same version as in the gcp provider: v1 does not have every field.
_CLUSTERS = "container.v1beta1.projects.locations.clusters.list"
_GROUPS = "compute.v1.instanceGroupManagers.aggregatedList"
_POLICY = "compute.v1.resourcePolicies.get"


def read_project(project: str) -> Facts:
    """Read the clusters of a project. Raises `Unreachable` and `Undecided`."""
    google = Google()
    found = of_project(google.ask(_CLUSTERS, parent=f"projects/{project}/locations/-"), project)
    clusters = found.get("clusters", [])
    sizes = dict(_sizes(google, project)) if clusters else {}
    for cluster in clusters:
        for pool in cluster.get("nodePools", ()):
            groups = {_in_zone(url) for url in pool.get("instanceGroupUrls", ())}
            if groups and groups <= sizes.keys():
                pool["nodeCount"] = sum(sizes[group] for group in groups)
            if name := dig(pool, "placementPolicy.policyName", "").rpartition("/")[2]:
                region = region_of(cluster["location"])
                policy = google.ask(_POLICY, project=project, region=region, resourcePolicy=name)
                topology = dig(policy, "workloadPolicy.acceleratorTopology", "")
                pool["placementPolicy"].setdefault("tpuTopology", topology)
                mode = dig(policy, "workloadPolicy.acceleratorTopologyMode")
                pool["placementPolicy"]["acceleratorTopologyMode"] = mode
    return Facts(project, tuple(clusters), tuple(found.get("missingZones", ())))


def _sizes(google: Google, project: str) -> Iterator[tuple[str, int]]:
    """The number of nodes of each managed instance group."""
    for answer in google.pages(_GROUPS, project=project):
        for found in answer.get("items", {}).values():
            for group in found.get("instanceGroupManagers", ()):
                yield _in_zone(group["selfLink"]), int(group.get("targetSize", 0))


def _in_zone(url: str) -> str:
    """The part of a URL that is the same in each version of the API."""
    return url.rpartition("/zones/")[2]
