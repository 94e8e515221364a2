"""Why pods of a job have no node: messages of the scheduler, the cluster autoscaler and the job's controller. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from tpuplane.status.objects import Object, condition

# The cluster autoscaler's event when it requests nodes for a pod; earlier events no longer count.
_ASKED_FOR = "TriggeredScaleUp"
_AUTOSCALER = (_ASKED_FOR, "FailedScaleUp", "NotTriggerScaleUp")
_OF_CLUSTER = ("Pod", "Node", "Workload")  # kinds that are not jobs


class Placing:
    """The events about pods and jobs of a cluster."""

    def __init__(self, events: Iterable[Object] = ()) -> None:
        """`events` are warnings and the events of the cluster autoscaler."""
        self._of_pods: dict[str, list[Object]] = defaultdict(list)
        self._of_jobs: dict[str, list[Object]] = defaultdict(list)
        for event in sorted(events, key=_when):
            about = event["involvedObject"]
            if about.get("kind") == "Pod" and event.get("reason") in _AUTOSCALER:
                self._of_pods[about.get("uid", "")].append(event)
            elif about.get("kind") not in _OF_CLUSTER and str(event.get("reason")).startswith("Failed"):
                self._of_jobs[about.get("namespace", "")].append(event)

    def why(self, namespace: str, job: str, pods: Sequence[Object]) -> str:
        """Why pods of a job have no node, or cannot be created; "" if all pods have a node."""
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
        """Its last message of each kind since its last request for nodes; that request if no message followed."""
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
    """The scheduler's message about a pod, without its part about preemption."""
    said = condition(pod, "PodScheduled")
    if said.get("reason") == "SchedulingGated":
        return f"held back by {', '.join(it['name'] for it in pod['spec'].get('schedulingGates', ()))}"
    return str(said.get("message", "")).partition(". ")[0]


def _belongs(name: str, job: str) -> bool:
    """Whether an object is the job or belongs to it: controllers use the job's name as a prefix."""
    return name == job or name.startswith(f"{job}-")


def _when(event: Object) -> tuple[str, int]:
    """The time in seconds, and the version, which orders events of the same second."""
    metadata = event["metadata"]
    times = (event.get("lastTimestamp"), event.get("eventTime"), metadata.get("creationTimestamp"))
    return next(filter(None, times), ""), int(metadata.get("resourceVersion") or 0)
