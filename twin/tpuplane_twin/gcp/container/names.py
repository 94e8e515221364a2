"""Resource names, links and look-ups of clusters and node pools."""

import hashlib
import re
import secrets

from tpuplane.contexts import GkeCluster

from tpuplane_twin.gcp.errors import failed_precondition, invalid, not_found
from tpuplane_twin.gcp.links import COMPUTE, CONTAINER
from tpuplane_twin.gcp.locations import is_zone
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store

CLUSTER = "cluster"
POOL = "nodePool"
BEFORE = "twinBefore"
"""The field of a stored pool with the pool before an update that has not succeeded. Answers leave it out."""

GROUPS = "twinGroups"
"""The field of a stored pool with its managed instance group's name in each zone. Answers leave it out."""

_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_MAX_NAME = 40


def location_key(params: dict[str, str]) -> str:
    """Resource name of the location in a request's path; the project's with "-", which stands for all locations."""
    project, location = f"projects/{params['projectsId']}", params["locationsId"]
    return project if location == "-" else f"{project}/locations/{location}"


def cluster_key(params: dict[str, str]) -> str:
    """Resource name of the cluster in a request's path."""
    return f"projects/{params['projectsId']}/locations/{params['locationsId']}/clusters/{params['clustersId']}"


def pool_key(params: dict[str, str]) -> str:
    """Resource name of the node pool in a request's path."""
    return f"{cluster_key(params)}/nodePools/{params['nodePoolsId']}"


def parent_cluster(pool: str) -> str:
    """Resource name of a pool's cluster."""
    return pool.rpartition("/nodePools/")[0]


def cluster_of(key: str) -> GkeCluster:
    """The cluster of that resource name, or of a resource in it."""
    return GkeCluster(*key.split("/")[1:6:2])


def self_link(key: str) -> str:
    """GKE's link of a resource; a zonal cluster's has zones/."""
    parts = key.split("/")
    collection = "zones" if is_zone(parts[3]) else "locations"
    return CONTAINER + "/".join([*parts[:2], collection, *parts[3:]])


def find(store: Store, kind: str, key: str) -> Json:
    """The stored object, or GKE's 404."""
    stored = store.get(kind, key)
    if stored is None:
        raise not_found(f"Not found: {key}.")
    return stored


def find_cluster(store: Store, key: str) -> Json:
    """The stored cluster, or GKE's 404."""
    return find(store, CLUSTER, key)


def find_pool(store: Store, key: str) -> Json:
    """The stored pool, or GKE's 404 for the pool or for its cluster."""
    find_cluster(store, parent_cluster(key))
    return find(store, POOL, key)


def check_changeable(cluster: Json) -> None:
    """Reject changes to a cluster that is being deleted or in ERROR.

    Clients retry after a failed precondition, which suits a deletion. ERROR is permanent, so it is an invalid request.
    """
    if cluster["status"] == "STOPPING":
        raise failed_precondition(f"Cluster {cluster['name']} is being deleted.")
    if cluster["status"] == "ERROR":
        reason = cluster.get("statusMessage", "")
        raise invalid(f"Cluster {cluster['name']} is in status ERROR, and can only be deleted. {reason}")


def check_name(field: str, name: str) -> None:
    """Reject an invalid name of a cluster or pool.

    https://docs.cloud.google.com/kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters#Cluster
    """
    if len(name) > _MAX_NAME or not _NAME.fullmatch(name):
        raise invalid(
            f'Invalid value for field "{field}": "{name}". Must be lowercase letters, numbers and hyphens, start with'
            f" a letter, not end with a hyphen, and have at most {_MAX_NAME} characters."
        )


def group_names(cluster: str, pool: Json) -> dict[str, str]:
    """Names of a pool's managed instance groups by zone, existing or new.

    Every new pool has new names, because clients cache groups by name.
    """
    name = pool["name"]
    # Together 32 characters, and neither is cut below 16:
    # https://github.com/GoogleCloudPlatform/cluster-toolkit/blob/v1.95.0/modules/compute/gke-node-pool/main.tf#L469
    stem = f"gke-{cluster[: max(16, 32 - len(name))]}-{name[: max(16, 32 - len(cluster))]}"
    had = pool.get(GROUPS, {})
    return {zone: had.get(zone) or f"{stem}-{secrets.token_hex(4)}-grp" for zone in pool["locations"]}


def group_urls(key: str, pool: Json) -> dict[str, str]:
    """Links of a pool's managed instance groups by zone, in the order of its zones."""
    zones = f"{COMPUTE}projects/{key.split('/')[1]}/zones"
    return {zone: f"{zones}/{zone}/instanceGroupManagers/{pool[GROUPS][zone]}" for zone in pool["locations"]}


def instance_name(group: str, suffix: str) -> str:
    """Name of an instance of a managed instance group, by the group's name or link."""
    return f"{group.rpartition('/')[2].removesuffix('-grp')}-{suffix}"


def fingerprint(value: object) -> str:
    """A short digest that changes with the value (etag, labelFingerprint)."""
    return hashlib.sha256(repr(value).encode()).hexdigest()[:8]
