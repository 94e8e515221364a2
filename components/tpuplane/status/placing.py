"""Why a job's pods have no node: what the scheduler, the cluster autoscaler and the job's own controller say. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from tpuplane.status.objects import Object, condition

# What the cluster autoscaler says of a pod for which it asks for nodes; what came before no longer counts.
_ASKED_FOR = "TriggeredScaleUp"
_AUTOSCALER = (_ASKED_FOR, "FailedScaleUp", "NotTriggerScaleUp")
_OF_CLUSTER = ("Pod", "Node", "Workload")  # the kinds of objects that are no job


class Placing:
    """What a cluster's events say of its pods."""

    def __init__(self, events: Iterable[Object] = ()) -> None:
        """`events` are warnings, and those of the cluster autoscaler."""
        self._of_pods: dict[str, list[Object]] = defaultdict(list)
        self._of_jobs: dict[str, list[Object]] = defaultdict(list)
        for event in sorted(events, key=_when):
            about = event["involvedObject"]
            if about.get("kind") == "Pod" and event.get("reason") in _AUTOSCALER:
                self._of_pods[about.get("uid", "")].append(event)
            elif about.get("kind") not in _OF_CLUSTER and str(event.get("reason")).startswith("Failed"):
                self._of_jobs[about.get("namespace", "")].append(event)

    def why(self, namespace: str, job: str, pods: Sequence[Object]) -> str:
        """Why pods of a job have no node; "" where all have one. Of a job without pods: why they cannot be created."""
        if not pods:
            return self._not_created(namespace, job)
        waiting = [pod for pod in pods if not pod["spec"].get("nodeName")]
        if not waiting:
            return ""
        count = f"{len(waiting)} of {len(pods)} pods have no node" if len(pods) > 1 else "its pod has no node"
        said = ((_scheduler(pod), *self._autoscaler(pod)) for pod in waiting)
        ((parts, _),) = Counter(said).most_common(1)
        return ": ".join(filter(None, (count, "; ".join(filter(None, parts)))))

    def _autoscaler(self, pod: Object) -> Iterator[str]:
        """Its last message of each kind since it last asked for nodes; that it did so, where nothing followed."""
        said: dict[str, str] = {}
        for event in self._of_pods[pod["metadata"].get("uid", "")]:
            if event["reason"] == _ASKED_FOR:
                said.clear()
            said[event["reason"]] = re.sub(r"https?://\S*/", "", event.get("message", ""))
        if len(said) > 1:
            said.pop(_ASKED_FOR, None)
        yield from said.values()

    def _not_created(self, namespace: str, job: str) -> str:
        of_job = (it for it in reversed(self._of_jobs[namespace]) if _belongs(it["involvedObject"]["name"], job))
        return next((f"its pods cannot be created: {it.get('message', '')}" for it in of_job), "")


def _scheduler(pod: Object) -> str:
    """What the scheduler says of a pod: which nodes it cannot use, and why; what preemption would bring is left out."""
    said = condition(pod, "PodScheduled")
    if said.get("reason") == "SchedulingGated":
        return f"held back by {', '.join(it['name'] for it in pod['spec'].get('schedulingGates', ()))}"
    return str(said.get("message", "")).partition(". ")[0]


def _belongs(name: str, job: str) -> bool:
    """Whether an object is the job, or was made for it: controllers put the job's name in front."""
    return name == job or name.startswith(f"{job}-")


def _when(event: Object) -> tuple[str, int]:
    """Seconds are all that most events have; the version orders those of one second."""
    metadata = event["metadata"]
    times = (event.get("lastTimestamp"), event.get("eventTime"), metadata.get("creationTimestamp"))
    return next(filter(None, times), ""), int(metadata.get("resourceVersion") or 0)
