"""How far Ray's pods are, where they are real processes: on a busy machine they take minutes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import aiohttp

from tpuplane_twin.cluster.api import Api, Object
from tpuplane_twin.cluster.errors import ClusterError

_RAY = "ray.io/cluster"


async def read_ray(api: Api) -> dict[str, Any]:
    """What `describe_ray` says of the cluster's Ray pods; of none where the cluster does not answer."""
    try:
        return describe_ray(await api.list("Pod", labelSelector=_RAY))
    except (ClusterError, aiohttp.ClientError, OSError):
        return describe_ray(())


def describe_ray(pods: Iterable[Object]) -> dict[str, Any]:
    """How many pods there are, are ready and have ended, how often they started again, and what the others wait for."""
    pods = list(pods)
    states = Counter(map(_state, pods))
    over = ("ready", "ended")
    return {
        "pods": len(pods),
        "ready": states["ready"],
        "ended": states["ended"],
        "restarts": sum(status.get("restartCount", 0) for pod in pods for status in _statuses(pod)),
        "others": {state: count for state, count in sorted(states.items()) if state not in over},
    }


def _state(pod: Object) -> str:
    """`ready`, `ended`, or what the pod waits for, in Kubernetes' words."""
    status = pod.get("status", {})
    if status.get("phase") in ("Succeeded", "Failed"):
        return "ended"
    if any(it["type"] == "Ready" and it["status"] == "True" for it in status.get("conditions", ())):
        return "ready"
    if not pod["spec"].get("nodeName"):
        return "Unschedulable"
    waiting = (it.get("state", {}).get("waiting", {}).get("reason") for it in _statuses(pod))
    running = any("running" in it.get("state", {}) for it in _statuses(pod))
    return next(filter(None, waiting), "NotReady" if running else "ContainerCreating")


def _statuses(pod: Object) -> list[Object]:
    found: list[Object] = pod.get("status", {}).get("containerStatuses", [])
    return found
