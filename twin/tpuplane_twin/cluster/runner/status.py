"""The status that a kubelet reports of a pod and its first container. Pure."""

from __future__ import annotations

import datetime as dt
from typing import Any

from tpuplane_twin.cluster.api import Object

COMPONENT = "kubelet"
_READY = ("ContainersReady", "Ready")


def now() -> str:
    """This moment, as Kubernetes writes it."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def waiting(pod: Object, reason: str, message: str, restarts: int, last: Object | None = None) -> Object:
    """The container does not run, and is to."""
    state = {"waiting": {"reason": reason, "message": message}}
    return _status(pod, "Running" if restarts else "Pending", state, restarts, ready=False, last=last)


def running(pod: Object, since: str, restarts: int, *, ready: bool, last: Object | None = None) -> Object:
    """The container runs."""
    return _status(pod, "Running", {"running": {"startedAt": since}}, restarts, ready=ready, last=last)


def ended(pod: Object, terminated: Object, restarts: int) -> Object:
    """The container has ended for good."""
    phase = "Succeeded" if terminated["exitCode"] == 0 else "Failed"
    return _status(pod, phase, {"terminated": terminated}, restarts, ready=False)


def terminated(code: int, started: str) -> Object:
    """How a container ended."""
    reason = "Completed" if code == 0 else "Error"
    state: Object = {"exitCode": code, "reason": reason, "startedAt": started, "finishedAt": now()}
    return state | ({"signal": code - 128} if code > 128 else {})


def event(pod: Object, kind: str, reason: str, message: str) -> Object:
    """An event of the pod; `kind` is Normal or Warning."""
    metadata, moment = pod["metadata"], now()
    about = {"apiVersion": "v1", "kind": "Pod", **{key: metadata[key] for key in ("name", "namespace", "uid")}}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": f"{metadata['name'][:50]}.", "namespace": metadata["namespace"]},
        "involvedObject": about,
        "type": kind,
        "reason": reason,
        "message": message[:1024],
        "count": 1,
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "source": {"component": COMPONENT, "host": pod["spec"].get("nodeName", "")},
    }


def _status(
    pod: Object, phase: str, state: Object, restarts: int, *, ready: bool, last: Object | None = None
) -> Object:
    first, *others = pod["spec"]["containers"]
    mine: dict[str, Any] = {
        "name": first["name"],
        "image": first["image"],
        "imageID": "",
        "ready": ready,
        "started": "running" in state,
        "restartCount": restarts,
        "state": state,
        "lastState": {"terminated": last} if last else {},
    }
    # The twin runs the first container; the others are simulated, and are what it is.
    theirs = [{**mine, "name": other["name"], "image": other["image"]} for other in others]
    moment = now()
    reason = {} if ready else {"reason": "PodCompleted" if phase == "Succeeded" else "ContainersNotReady"}
    return {
        "phase": phase,
        "containerStatuses": [mine, *theirs],
        "conditions": [{"type": kind, "status": str(ready), "lastTransitionTime": moment, **reason} for kind in _READY],
    }
