"""The state of each node pool of a cluster, as GKE reports it and as a stack file declares it. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tpuplane.adopt.facts import Json, dig
from tpuplane.adopt.pools import bought, slice_of
from tpuplane.contexts import gke_cluster
from tpuplane.labels import CAPACITY_LABEL, GPU_LABEL, MACHINE_LABEL
from tpuplane.plan import ClusterPlan
from tpuplane.preflight.leftovers import after_deletion
from tpuplane.status.google import Project
from tpuplane.status.pools import by_kind, empty_pool

ABSENT = "ABSENT"
"""The state of a declared node pool that GKE does not have."""

Row = Mapping[str, Any]


def with_states(
    pools: Iterable[Row], cluster: Json | None, project: Project, declared: ClusterPlan | None
) -> list[dict[str, Any]]:
    """Rows of `describe_pools` with the state of each pool, and rows for pools without nodes.

    `cluster` is the cluster in Google's API, or None if it is not known. `declared` of a row is whether the stack file
    declares the pool, or None without a stack file.
    """
    rows = {pool["name"]: dict(pool) for pool in pools}
    known: dict[str, Json] = {pool["name"]: pool for pool in (cluster or {}).get("nodePools", ())}
    planned = {} if declared is None else {pool.name: pool for pool in (*declared.pools, declared.system_pool) if pool}
    for name, pool in known.items():
        if name not in rows:
            rows[name] = _of_google(project.name, pool)
        rows[name] |= _state(pool, _last(project.operations, cluster, name), rows[name])
    for name, plan in planned.items():
        if name not in rows:
            of_hardware = hardware.node_labels if (hardware := plan.slice or plan.gpu) else {}
            bought_as = {MACHINE_LABEL: plan.machine_type, CAPACITY_LABEL: plan.capacity}
            labels = {**plan.node_labels, **of_hardware, **bought_as}
            rows[name] = empty_pool(plan.name, labels, plan.zones, plan.min_nodes * len(plan.zones))
            if cluster is not None:
                rows[name] |= {"state": ABSENT, "message": "declared, but GKE does not have it"}
            elif rows[name]["hosts"]:
                rows[name] |= {"message": "declared, but the cluster has no node of this pool"}
    for name, row in rows.items():
        if name and cluster is not None and name not in known and name not in planned:
            row |= {"state": ABSENT, "message": "its nodes still exist, but GKE does not have the pool"}
        row["declared"] = None if declared is None or not name else name in planned
    return by_kind(rows.values())


def describe_cluster(cluster: Json, project: Project, *, console: bool) -> dict[str, Any]:
    """The cluster's state, version, channel and running operations; with `console`, its address in Google's console."""
    place, name = cluster["location"], cluster["name"]
    unfinished = (operation for operation in project.operations if operation.get("status") != "DONE")
    running = [operation for operation in unfinished if _within(operation, cluster)]
    page = f"https://console.cloud.google.com/kubernetes/clusters/details/{place}/{name}/details?project={project.name}"
    return {
        "project": project.name,
        "location": place,
        "name": name,
        "state": cluster.get("status", ""),
        "message": _message(cluster),
        "version": cluster.get("currentMasterVersion", ""),
        "channel": dig(cluster, "releaseChannel.channel", ""),
        "operations": [
            {
                "type": operation.get("operationType", ""),
                "about": operation["targetLink"].rpartition("/")[2],
                "since": operation.get("startTime", ""),
            }
            for operation in running
        ],
        "console": page if console else "",
    }


def absent_clusters(project: Project, declared: Iterable[ClusterPlan], where: str) -> Iterator[str]:
    """A problem for each declared cluster that does not exist."""
    for cluster in declared:
        if cluster.existing is None and project.lacks(cluster.location, cluster.name):
            problem = f"cluster {cluster.name} of {where} does not exist in project {project.name}"
            yield f"{problem}; {_after_deletion(cluster.name)}"


def deleted(context: str, project: Project) -> str:
    """A message if the cluster of this context does not exist any more; otherwise ""."""
    named = gke_cluster(context)
    if named is None or not project.lacks(named.location, named.name):
        return ""
    where = f"{named.location} of project {project.name}"
    return f"cluster {named.name} does not exist in {where}; {_after_deletion(named.name)}"


def _after_deletion(cluster: str) -> str:
    return f"if a stack has created it, {after_deletion(f'/clusters/{cluster}')}"


def _of_google(project: str, pool: Json) -> dict[str, Any]:
    """The row of a node pool without nodes."""
    config = pool.get("config", {})
    labels: dict[str, str] = {MACHINE_LABEL: config.get("machineType", ""), **config.get("labels", {})}
    for accelerator in config.get("accelerators", ())[:1]:
        labels[GPU_LABEL] = accelerator.get("acceleratorType", "")
    hosts = 0 if dig(pool, "autoscaling.enabled") else int(pool.get("initialNodeCount", 0))
    zones = pool.get("locations", ())
    try:
        shape = slice_of(pool)
        labels |= shape.node_labels
    except ValueError:
        shape = None
    labels.setdefault(CAPACITY_LABEL, bought(project, pool)[0].get("capacity", "on-demand"))
    multi_host = shape is not None and shape.multi_host
    return empty_pool(pool["name"], labels, zones, hosts if multi_host else hosts * max(len(zones), 1))


def _state(pool: Json, last: Json, row: Row) -> dict[str, Any]:
    state = pool.get("status", "")
    running = last.get("status") != "DONE"
    since = last.get("startTime" if running else "endTime", "") or row["since"]
    if state not in ("", "RUNNING") and (not last or (not running and "error" not in last)):
        since = ""  # the state has changed after the last operation
    message = _message(pool) or (dig(last, "error.message", "") if state not in ("", "RUNNING") else "")
    version = pool.get("version", "")
    return {"state": state, "message": message, "since": since, "version": version}


def _message(resource: Json) -> str:
    conditions = resource.get("conditions", ())
    keys = ("message", "canonicalCode", "code")
    messages = [next((text for key in keys if (text := condition.get(key))), "") for condition in conditions]
    return "; ".join(filter(None, messages)) or resource.get("statusMessage", "")


def _last(operations: Iterable[Json], cluster: Json | None, pool: str) -> Json:
    """The last operation on a node pool; empty if there is none. Google's API lists operations of the last days."""
    on_pool = [operation for operation in operations if operation["targetLink"].endswith(f"/nodePools/{pool}")]
    own = [operation for operation in on_pool if cluster is not None and _within(operation, cluster)]
    return max(own, key=lambda operation: str(operation.get("startTime", "")), default={})


def _within(operation: Json, cluster: Json) -> bool:
    """Whether an operation is on a cluster or its parts. Its link can have the project's number, not its name."""
    link = f"{operation['targetLink']}/"
    return f"/{cluster['location']}/clusters/{cluster['name']}/" in link
