"""What a platform must have for the jobs and events of a rehearsal. Pure."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from tpuplane.spec.core.errors import choice, listing
from tpuplane.status.pools import slice_of
from tpuplane.status.snapshot import Objects
from tpuplane.tpu import Slice

from tpuplane_twin.daemon.client import TwinError
from tpuplane_twin.failures.targets import PASSING
from tpuplane_twin.rehearsal.scenario import EventSpec, events
from tpuplane_twin.rehearsal.trace import TraceJob

_POOL = re.compile("nap-[a-z0-9-]+-[a-z0-9]{8}")
_NODE = re.compile("gke-[a-z0-9-]+-[0-9a-f]{8}-[a-z0-9]{4}")
"""The forms of names: of auto-provisioned pools, with their machine type; and of nodes, with cluster and pool."""

Json = Mapping[str, Any]


def event_problem(event: EventSpec, clusters: Sequence[Json], nodes: Collection[str]) -> str:
    """The mistake if an event cannot happen on these clusters of the twin's status; "" if it can.

    GKE can create nodes, and the autoscaler pools with names of its own, before the event begins.
    """
    pools = {cluster["name"]: {pool["name"]: pool for pool in cluster["nodePools"]} for cluster in clusters}
    cluster, target = (str(event.given.get(field) or "") for field in ("cluster", "target"))
    if cluster and cluster not in pools:
        return choice(cluster, "a cluster", pools)
    name, _, number = target.partition("/")
    name = name or str(event.given.get("pool") or "")
    there = {key: found for key, found in pools.items() if cluster in ("", key)}
    owners = [key for key, found in there.items() if name in found]
    if not name or _POOL.fullmatch(name) or (target and (name in nodes or _is_node(name, pools))):
        return ""
    if not owners:
        return choice(name, "a node pool or node", [pool for found in there.values() for pool in found])
    if len(owners) > 1:
        return f"several clusters have a node pool {name!r}; add cluster to of: {', '.join(owners)}"
    return _pool_problem(event, pools[owners[0]][name], number)


def _pool_problem(event: EventSpec, pool: Json, number: str) -> str:
    """The mistake if the pool does not have that host, or if its hosts are not reclaimed."""
    if event.event == "reclaim" and pool["capacity"] not in PASSING:
        return f"{pool['name']!r} is {pool['capacity']}, and only spot and reserved hosts are reclaimed"
    of_host = events()[event.event].get("body", {}).get("scope") == "host"
    generation, _, topology = pool["slice"].partition(" ")
    hosts = Slice.of(generation, topology, pool["machineType"]).hosts if topology else 1
    if hosts == 1 or not (number or of_host):  # the number of single hosts can change
        return ""
    allowed = [f"{pool['name']}/{host}" for host in range(hosts)]
    if number:
        return "" if (host := f"{pool['name']}/{number}") in allowed else choice(host, "a host", allowed)
    return f"the node pool {pool['name']!r} has several hosts; name one of them: {listing(allowed)}"


def _is_node(name: str, clusters: Iterable[str]) -> bool:
    """Whether a node of a cluster can have the name. At least 16 characters of the cluster's name are in it."""
    return bool(_NODE.fullmatch(name)) and any(name.startswith(f"gke-{cluster}-"[:20]) for cluster in clusters)


def undone(event: EventSpec, answer: Json) -> list[str]:
    """What an event has not done, as the twin has answered."""
    held = [f"held: {line}" for line in answer.get("held", ())]
    nothing = ["nothing to upgrade"] if event.event == "upgrade" and not any(answer.values()) else []
    failed = [f"failed: {answer['error']}"] if "error" in answer else []
    return [f"{event.text}: {text}" for text in (*held, *nothing, *failed)]


def queued(job: TraceJob, clusters: Sequence[Objects]) -> list[Objects]:
    """The clusters in which the job's team has a queue, first those with hosts or a flavor of the job's shape.

    Raises `TwinError` if there are none, unless the job has a compute class.
    """
    found = [
        objects
        for objects in clusters
        if any(queue.namespace == job.team for queue in (objects.kueue or {}).get("local_queues", ()))
    ]
    if not found and not job.compute_class:
        raise TwinError(f"the team {job.team!r} of the job {job.name!r} has no queue on this platform")
    if found and job.compute_class:
        raise TwinError(
            f"the job {job.name!r} has the class {job.compute_class!r}, and its team {job.team!r} has a queue; "
            "remove class, or name a namespace without a queue"
        )
    return sorted(found, key=lambda objects: not _has(objects, job.shape)) if len(found) > 1 else found


def _has(objects: Objects, shape: Slice) -> bool:
    """Whether a node or a flavor is of the shape."""
    flavors = (objects.kueue or {}).get("flavors", ())
    labels = [*(node.labels for node in objects.nodes), *(flavor.node_labels for flavor in flavors)]
    return any(slice_of(found) == shape for found in labels)
