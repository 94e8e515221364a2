"""The contents of the twin's clusters, read from Kubernetes: ready hosts, queues, Ray's pods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tpuplane.status.objects import Pod

_RAY = "ray.io/cluster"


def with_clusters(status: Mapping[str, Any], kubeconfig: Path) -> dict[str, Any]:
    """The supervisor's status with the contents of each cluster; all are read at once.

    `nodesReady` of a pool, `queues`, `outsideQueues` and `ray` of a cluster are None if it could not be read, and
    `unread` of the cluster has the reason.
    """
    read = partial(_read, kubeconfig, real_ray=status["realRay"])
    with ThreadPoolExecutor(max_workers=len(status["clusters"]) or 1) as threads:
        return {**status, "clusters": list(threads.map(read, status["clusters"]))}


def _read(kubeconfig: Path, cluster: dict[str, Any], *, real_ray: bool) -> dict[str, Any]:
    from tpuplane.status.reading import Cluster, NoContext, Unreachable  # noqa: PLC0415 (slow to import)

    ready: dict[str, int] | None = None
    found: dict[str, Any] = {}
    unread = ""
    try:
        objects = Cluster(kubeconfig, cluster["context"]).read()
        found = objects.described()
        unread = "; ".join(found["problems"])
        ready = {pool["name"]: pool["hostsReady"] for pool in found["nodePools"]}
        if real_ray:
            found["ray"] = describe_ray(objects.pods)
    except NoContext:
        unread = "its control plane has not started"
    except Unreachable as error:
        unread = str(error)
    pools = [
        {**pool, "nodesReady": None if ready is None else ready.get(pool["name"], 0)} for pool in cluster["nodePools"]
    ]
    return {
        **cluster,
        "nodePools": pools,
        **{key: found.get(key) for key in ("queues", "outsideQueues", "ray")},
        "unread": unread,
    }


def describe_ray(pods: Iterable[Pod]) -> dict[str, Any]:
    """How many of Ray's pods exist and are ready, how often they restarted, and why the others wait."""
    pods = [pod for pod in pods if _RAY in pod.labels]
    states = Counter(map(_state, pods))
    return {
        "pods": len(pods),
        "ready": states["ready"],
        "restarts": sum(status.restart_count for pod in pods for status in pod.statuses),
        "others": {state: count for state, count in sorted(states.items()) if state != "ready"},
    }


def _state(pod: Pod) -> str:
    """`ready`, or Kubernetes' reason why the pod waits."""
    if pod.is_true("Ready"):
        return "ready"
    if not pod.spec.node_name:
        return "Unschedulable"
    reasons = (status.waiting.reason for status in pod.statuses)
    running = any(status.running is not None for status in pod.statuses)
    return next(filter(None, reasons), "NotReady" if running else "ContainerCreating")
