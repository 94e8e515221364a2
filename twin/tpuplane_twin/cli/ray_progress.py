"""How far Ray's pods are, where they are real processes: on a busy machine they take minutes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

_RAY = "ray.io/cluster"

Object = Mapping[str, Any]


def describe_ray(pods: Iterable[Object]) -> dict[str, Any]:
    """How many of Ray's pods are there and are ready, how often they started again, and what the others wait for."""
    pods = [pod for pod in pods if _RAY in pod["metadata"].get("labels", {})]
    states = Counter(map(_state, pods))
    return {
        "pods": len(pods),
        "ready": states["ready"],
        "restarts": sum(status.get("restartCount", 0) for pod in pods for status in _statuses(pod)),
        "others": {state: count for state, count in sorted(states.items()) if state != "ready"},
    }


def _state(pod: Object) -> str:
    """`ready`, or what the pod waits for, in Kubernetes' words."""
    status = pod.get("status", {})
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
