"""Resource names, links and look-ups of clusters and node pools."""

from __future__ import annotations

import hashlib
import re

from tpuplane_twin.gcp.errors import failed_precondition, invalid, not_found
from tpuplane_twin.gcp.links import COMPUTE, CONTAINER
from tpuplane_twin.gcp.locations import is_zone
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store

CLUSTER = "cluster"
POOL = "nodePool"

_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_MAX_NAME = 40


def cluster_key(params: dict[str, str]) -> str:
    """Resource name of the cluster that a request's path names."""
    return f"projects/{params['projectsId']}/locations/{params['locationsId']}/clusters/{params['clustersId']}"


def pool_key(params: dict[str, str]) -> str:
    """Resource name of the node pool that a request's path names."""
    return f"{cluster_key(params)}/nodePools/{params['nodePoolsId']}"


def parent_cluster(pool: str) -> str:
    """The cluster that a pool's resource name lies in."""
    return pool.rpartition("/nodePools/")[0]


def self_link(key: str) -> str:
    """The link that GKE shows: zonal clusters live under zones/."""
    parts = key.split("/")
    collection = "zones" if is_zone(parts[3]) else "locations"
    return CONTAINER + "/".join([*parts[:2], collection, *parts[3:]])


def find_cluster(store: Store, key: str) -> Json:
    """The stored cluster, or GKE's 404."""
    cluster = store.get(CLUSTER, key)
    if cluster is None:
        raise not_found(f"Not found: {key}.")
    return cluster


def find_pool(store: Store, key: str) -> Json:
    """The stored pool, or GKE's 404 for the pool or for its cluster."""
    find_cluster(store, parent_cluster(key))
    pool = store.get(POOL, key)
    if pool is None:
        raise not_found(f"Not found: {key}.")
    return pool


def check_changeable(cluster: Json) -> None:
    """Refuse changes to a cluster that goes, and to one that is broken.

    Clients wait for a failed precondition to pass. A deletion ends; ERROR does not, so it is no precondition.
    """
    if cluster["status"] == "STOPPING":
        raise failed_precondition(f"Cluster {cluster['name']} is being deleted.")
    if cluster["status"] == "ERROR":
        reason = cluster.get("statusMessage", "")
        raise invalid(f"Cluster {cluster['name']} takes no changes, only its deletion: its status is ERROR. {reason}")


def check_name(field: str, name: str) -> None:
    """Refuse what GKE would not take as the name of a cluster or pool."""
    if len(name) > _MAX_NAME or not _NAME.fullmatch(name):
        raise invalid(
            f'Invalid value for field "{field}": "{name}". Must be lowercase letters, numbers and hyphens, start with'
            f" a letter, not end with a hyphen, and have at most {_MAX_NAME} characters."
        )


def group_name(cluster: str, pool: str, zone: str) -> str:
    """Name of the managed instance group that holds a pool's nodes in one zone."""
    digest = hashlib.sha256(f"{cluster}/{pool}/{zone}".encode()).hexdigest()[:8]
    return f"gke-{cluster[:20]}-{pool[:20]}-{digest}-grp"


def group_urls(key: str, zones: list[str]) -> list[str]:
    """Links of a pool's managed instance groups, one per zone."""
    parts = key.split("/")
    project, cluster, pool = parts[1], parts[5], parts[7]
    return [
        f"{COMPUTE}projects/{project}/zones/{zone}/instanceGroupManagers/{group_name(cluster, pool, zone)}"
        for zone in zones
    ]


def fingerprint(value: object) -> str:
    """A short digest that changes with the value (etag, labelFingerprint)."""
    return hashlib.sha256(repr(value).encode()).hexdigest()[:8]
