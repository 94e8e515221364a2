"""Why jobs wait: Kueue's messages in plainer words, pods without a node, pods without a large enough host, and jobs
without a workload. Pure."""

import contextlib
import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tpuplane.data_files import read_data
from tpuplane.labels import GPU, MACHINE_LABEL, PRIORITY_CLASS_LABEL, QUEUE_LABEL, TPU
from tpuplane.quantities import thousandths, whole_or_part
from tpuplane.status.objects import Object, asked, condition
from tpuplane.tpu import SliceError, catalogue


class _Texts(NamedTuple):
    pod_sets: re.Pattern[str]
    separator: re.Pattern[str]
    nothing: str
    by_pattern: tuple[tuple[re.Pattern[str], str], ...]


def in_plain_words(message: str) -> str:
    """The message with the texts of `data/kueue_messages.yaml` for all parts that match a pattern."""
    texts = _texts()
    parts = (it for pod_set in texts.pod_sets.split(message) for it in _parts(pod_set, texts))
    return ", ".join(dict.fromkeys(parts)) or message


def _parts(message: str, texts: _Texts) -> list[str]:
    """The texts for one pod set; the omitted flavors if there is no other text."""
    shown: list[str] = []
    omitted: list[str] = []
    for part in texts.separator.split(message):
        text, found = next(
            ((text, it) for pattern, text in texts.by_pattern if (it := pattern.search(part))), ("", None)
        )
        if found is None:
            shown.append(part)
        elif text:
            shown.append(text.format(*found.groups()))
        else:
            omitted += found.groups()
    return shown or ([texts.nothing.format(", ".join(dict.fromkeys(omitted)))] if omitted else [])


@functools.cache
def _texts() -> _Texts:
    data = read_data("tpuplane.status", "kueue_messages")
    by_pattern = tuple((re.compile(it["pattern"]), it["text"]) for it in data["words"])
    return _Texts(re.compile(data["podSets"]), re.compile(data["separator"]), data["nothing"], by_pattern)


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
        count, scheduler, autoscaler = self.unplaced(pods)
        return ": ".join(filter(None, (count, "; ".join(filter(None, (scheduler, *autoscaler))))))

    def unplaced(self, pods: Sequence[Object]) -> tuple[str, str, tuple[str, ...]]:
        """How many pods have no node, and the most frequent messages of the scheduler and the cluster autoscaler."""
        waiting = [pod for pod in pods if not pod["spec"].get("nodeName")]
        if not waiting:
            return "", "", ()
        count = f"{len(waiting)} of {len(pods)} pods have no node" if len(pods) > 1 else "its pod has no node"
        (((scheduler, autoscaler), _),) = Counter(
            (_scheduler(pod), tuple(self._autoscaler(pod))) for pod in waiting
        ).most_common(1)
        return count, scheduler, autoscaler

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


_ACCELERATOR, _COUNT = "cloud.google.com/gke-tpu-accelerator", "cloud.google.com/gke-accelerator-count"
_UNITS = {TPU: "chips", GPU: "GPUs"}


def too_large(workload: Object, flavors: Iterable[Object], nodes: Sequence[Object]) -> str:
    """A message if a pod requests more chips or GPUs than the hosts of all flavors of its queue have; otherwise "".

    Also "" if the hosts of a flavor are unknown, because an autoscaled pool can add larger ones.
    """
    flavors = list(flavors)
    for pod in (it["template"] for it in workload.get("spec", {}).get("podSets", ())):
        for resource, unit in _UNITS.items():
            wanted = asked(pod, resource)
            most = [_most(resource, it, pod, nodes) for it in flavors if wanted and _may_take(it, pod)]
            known = [it for it in most if it is not None]
            if known and len(known) == len(most) and 0 < max(known) < wanted:
                asks, have = whole_or_part(wanted), whole_or_part(max(known))
                return f"requests {asks} {unit} in each pod, but its hosts have {have}"
    return ""


def _may_take(flavor: Object, pod: Object) -> bool:
    """Whether the node selector of the pod does not contradict the labels of the flavor."""
    labels = _labels(flavor)
    return all(labels.get(key, value) == value for key, value in pod["spec"].get("nodeSelector", {}).items())


def _most(resource: str, flavor: Object, pod: Object, nodes: Sequence[Object]) -> int | None:
    """The resource of the flavor's largest host, in thousandths; None if it is unknown."""
    labels = _labels(flavor)
    if resource == TPU and _ACCELERATOR in labels:
        if _COUNT in labels:
            return thousandths(labels[_COUNT])
        with contextlib.suppress(SliceError, KeyError):  # no machine type, or one that is not in the catalogue
            return 1000 * catalogue().machine(labels[MACHINE_LABEL])[1].chips
    hosts = [it for it in nodes if labels.items() <= it["metadata"].get("labels", {}).items()]
    if flavor.get("spec", {}).get("topologyName"):
        # Kueue assigns existing hosts, and the autoscaler adds none for the job.
        wanted = pod["spec"].get("nodeSelector", {}).items()
        return _largest(resource, [it for it in hosts if wanted <= it["metadata"].get("labels", {}).items()])
    # New hosts have the same machine type: if existing ones lack the resource, so do new ones.
    return 0 if hosts and _largest(resource, hosts) == 0 else None


def _largest(resource: str, hosts: Iterable[Object]) -> int:
    return max((thousandths(it.get("status", {}).get("capacity", {}).get(resource, 0)) for it in hosts), default=0)


def _labels(flavor: Object) -> Mapping[str, str]:
    found: Mapping[str, str] = flavor.get("spec", {}).get("nodeLabels", {})
    return found


_WHY = (
    "Kueue has created no workload for it: a priority class is missing, it has more than 8 pod sets, or Kueue is down; "
    "see Kueue's log"
)


def without_workload(kind: str, jobs: Iterable[Object], workloads: Iterable[Object]) -> Iterator[dict[str, Any]]:
    """A waiting workload for each suspended job of a kind that has none, except for jobs with an owner."""
    known = {owner["uid"] for it in workloads for owner in it["metadata"].get("ownerReferences", ())}
    for job in jobs:
        metadata, labels = job["metadata"], job["metadata"].get("labels", {})
        if not job.get("spec", {}).get("suspend") or metadata.get("ownerReferences") or metadata["uid"] in known:
            continue
        yield {
            "metadata": {**metadata, "ownerReferences": [{"kind": kind, "name": metadata["name"]}]},
            "spec": {
                "queueName": labels.get(QUEUE_LABEL, ""),
                "priorityClassName": labels.get(PRIORITY_CLASS_LABEL, ""),
            },
            "status": {"conditions": [{"type": "QuotaReserved", "status": "False", "message": _WHY}]},
        }
