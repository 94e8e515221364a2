"""The state of each node pool of a cluster: as GKE knows it, and as a description declares it. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tpuplane.adopt.facts import Json, dig
from tpuplane.adopt.pools import bought, slice_of
from tpuplane.contexts import gke_cluster
from tpuplane.labels import CAPACITY_LABEL, MACHINE_LABEL
from tpuplane.plan import ClusterPlan, NodePoolPlan
from tpuplane.preflight.online import after_deletion
from tpuplane.status.google import Project
from tpuplane.status.pools import GPU_LABEL, by_kind, empty_pool

ABSENT = "ABSENT"
"""The state of a declared node pool that GKE does not have."""

Row = Mapping[str, Any]


def with_states(
    pools: Iterable[Row], cluster: Json | None, project: Project, declared: ClusterPlan | None
) -> list[dict[str, Any]]:
    """Rows of `describe_pools` with the state of each pool, and rows for pools without nodes.

    `cluster` is the cluster in the project, or None if it is not known. A pool is `declared` or not, or None without
    a description.
    """
    rows = {it["name"]: dict(it) for it in pools}
    known: dict[str, Json] = {it["name"]: it for it in (cluster or {}).get("nodePools", ())}
    planned = {} if declared is None else {it.name: it for it in (*declared.pools, declared.system_pool) if it}
    for name, found in known.items():
        if name not in rows:
            rows[name] = _of_google(project.name, found)
        rows[name] |= _state(found, _last(project.operations, cluster, name), rows[name])
    for name, plan in planned.items():
        if name not in rows:
            rows[name] = _of_plan(plan)
            if cluster is not None:
                rows[name] |= {"state": ABSENT, "message": "declared, and GKE does not have it"}
            elif rows[name]["hosts"]:
                rows[name] |= {"message": "declared, and the cluster has no node of it"}
    for name, row in rows.items():
        if name and cluster is not None and name not in known and name not in planned:
            row |= {"state": ABSENT, "message": "it has nodes, and GKE does not have it"}
        row["declared"] = None if declared is None or not name else name in planned
    return by_kind(rows.values())


def describe_cluster(cluster: Json, project: Project, *, console: bool) -> dict[str, Any]:
    """The cluster's state, version, channel and running operations; with `console`, its address in Google's console."""
    place, name = cluster["location"], cluster["name"]
    running = [it for it in project.operations if it.get("status") != "DONE" and _within(it, cluster)]
    base = "https://console.cloud.google.com/kubernetes"
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
                "type": it.get("operationType", ""),
                "about": it["targetLink"].rpartition("/")[2],
                "since": it.get("startTime", ""),
            }
            for it in running
        ],
        "console": f"{base}/clusters/details/{place}/{name}/details?project={project.name}" if console else "",
        "consolePools": f"{base}/nodepool/{place}/{name}/{{pool}}?project={project.name}" if console else "",
    }


def absent_clusters(project: Project, declared: Iterable[ClusterPlan], where: str) -> Iterator[str]:
    """A problem for each declared cluster that does not exist."""
    for it in declared:
        if it.existing is None and project.lacks(it.location, it.name):
            yield f"cluster {it.name} of {where} does not exist in project {project.name}; {_after_deletion(it.name)}"


def deleted(context: str, project: Project) -> str:
    """A message if the cluster of this context does not exist any more; otherwise ""."""
    named = gke_cluster(context)
    if named is None or not project.lacks(named.location, named.name):
        return ""
    where = f"{named.location} of project {project.name}"
    return f"cluster {named.name} does not exist in {where}; {_after_deletion(named.name)}"


def _after_deletion(cluster: str) -> str:
    return f"if a stack has created it, {after_deletion(f'/clusters/{cluster}')}"


def _of_google(project: str, found: Json) -> dict[str, Any]:
    """The row of a node pool without nodes."""
    config = found.get("config", {})
    labels: dict[str, str] = {MACHINE_LABEL: config.get("machineType", ""), **config.get("labels", {})}
    for it in config.get("accelerators", ())[:1]:
        labels[GPU_LABEL] = it.get("acceleratorType", "")
    hosts = 0 if dig(found, "autoscaling.enabled") else int(found.get("initialNodeCount", 0))
    zones = found.get("locations", ())
    try:
        shape = slice_of(found)
        labels |= shape.node_labels
    except ValueError:
        shape = None
    labels.setdefault(CAPACITY_LABEL, bought(project, found)[0].get("capacity", "on-demand"))
    multi_host = shape is not None and shape.multi_host
    return empty_pool(found["name"], labels, zones, hosts if multi_host else hosts * max(len(zones), 1))


def _of_plan(plan: NodePoolPlan) -> dict[str, Any]:
    hardware = plan.slice or plan.gpu
    of_hardware = hardware.node_labels if hardware else {}
    labels = {**plan.node_labels, **of_hardware, MACHINE_LABEL: plan.machine_type, CAPACITY_LABEL: plan.capacity}
    return empty_pool(plan.name, labels, plan.zones, plan.min_nodes * len(plan.zones))


def _state(found: Json, last: Json, row: Row) -> dict[str, Any]:
    state = found.get("status", "")
    running = last.get("status") != "DONE"
    since = last.get("startTime" if running else "endTime", "") if last else ""
    message = _message(found) or (dig(last, "error.message", "") if state not in ("", "RUNNING") else "")
    version = found.get("version", "")
    return {"state": state, "message": message, "since": since or row["since"], "version": version}


def _message(found: Json) -> str:
    said = [it.get("message") or it.get("canonicalCode", "") for it in found.get("conditions", ())]
    return "; ".join(filter(None, said)) or found.get("statusMessage", "")


def _last(operations: Iterable[Json], cluster: Json | None, pool: str) -> Json:
    """The last operation on a node pool; empty if there is none. Google lists those of the last days."""
    end = f"/nodePools/{pool}"
    own = [it for it in operations if cluster is not None and it["targetLink"].endswith(end) and _within(it, cluster)]
    return max(own, key=lambda it: str(it.get("startTime", "")), default={})


def _within(operation: Json, cluster: Json) -> bool:
    """Whether an operation is on a cluster or in it. Its link can have the number of the project."""
    link = f"{operation['targetLink']}/"
    return f"/{cluster['location']}/clusters/{cluster['name']}/" in link
