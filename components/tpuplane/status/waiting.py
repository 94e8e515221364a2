"""Why jobs wait: pods without a node, pods that are too large for every host, and jobs without a workload. Pure."""

import contextlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from tpuplane.labels import ACCELERATOR_LABEL, COUNT_LABEL, MACHINE_LABEL, PRIORITY_CLASS_LABEL, QUEUE_LABEL, TPU, UNITS
from tpuplane.quantities import counted, thousandths, whole_or_part
from tpuplane.status.kueue_objects import Flavor, Workload
from tpuplane.status.objects import Condition, Event, Job, Node, Pod, PodSpec, Reference
from tpuplane.tpu import SliceError, catalogue

# The cluster autoscaler's event when it requests nodes for a pod; earlier events no longer count.
_ASKED_FOR = "TriggeredScaleUp"
_AUTOSCALER = (_ASKED_FOR, "FailedScaleUp", "NotTriggerScaleUp")
NO_POOL = "no node pool has autoscaling enabled"
"""The cluster autoscaler's message if it does nothing in a cluster."""
AT_MAXIMUM = "max node group size reached"
"""Its reason for a pool that has as many nodes as it may have."""
STILL_SUSPENDED = "Kueue has admitted it, but it is still suspended: its controller or webhook does not answer"
"""The reason of a job that Kueue could not resume."""
ENDING = "Kueue ends its pods"
"""The start of the reason of a job that Kueue has evicted, and that still has its quota."""
_GROUP = re.compile(r"'([^']+)' group has ")
_OF_CLUSTER = ("Pod", "Node", "Workload")  # kinds that are not jobs
_NOT_CREATED = re.compile(
    "FailedCreate|(Job|HeadlessService|PVC)CreationFailed|"
    "FailedToCreate(RayCluster|HeadPod|WorkerPod|RayJobSubmitter|Service|ServiceAccount|Role|RoleBinding)"
)
"""The events of Kubernetes, LeaderWorkerSet, JobSet and KubeRay without which pods are not created. Sources:
pkg/constants of kubernetes-sigs/jobset, controllers/ray/utils/constant.go of ray-project/kuberay"""


class Placing:
    """The events about pods and jobs of a cluster."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        """`events` are warnings and the events of the cluster autoscaler."""
        self._of_pods: dict[str, list[Event]] = defaultdict(list)
        self._of_jobs: dict[str, list[Event]] = defaultdict(list)
        self._of_groups: dict[tuple[str, str], str] = {}
        for event in sorted(events, key=_when):
            if event.about.kind == "Pod" and event.reason in _AUTOSCALER:
                self._of_pods[event.about.uid].append(event)
            elif event.about.kind == "Pod" and event.reason == "ErrWorkloadCompose":
                group = _GROUP.match(event.message)  # Kueue reports it of one pod of the group
                self._of_groups[event.about.namespace, group[1] if group else event.about.name] = event.message
            elif event.about.kind not in _OF_CLUSTER and _NOT_CREATED.fullmatch(event.reason):
                self._of_jobs[event.about.uid].append(event)

    def why(self, job: Iterable[str], pods: Sequence[Pod]) -> str:
        """Why pods of a job have no node, or cannot be created; "" if all pods exist and have a node.

        `job` are the uids of the job and its parts.
        """
        count, scheduler, autoscaler = self.unplaced(pods)
        placed = ": ".join(filter(None, (count, "; ".join(filter(None, (scheduler, *autoscaler))))))
        return placed or self.not_created(job, pods)

    def unplaced(self, pods: Sequence[Pod]) -> tuple[str, str, tuple[str, ...]]:
        """How many pods have no node, and the most frequent messages of the scheduler and the cluster autoscaler."""
        if not (waiting := [pod for pod in pods if not pod.spec.node_name]):
            return "", "", ()
        count = f"{len(waiting)} of {len(pods)} pods have no node" if len(pods) > 1 else "its pod has no node"
        (((scheduler, autoscaler), _),) = Counter(
            (self._scheduler(pod), tuple(self._autoscaler(pod))) for pod in waiting
        ).most_common(1)
        return count, scheduler, autoscaler

    def scales_up_for(self, pod: Pod) -> bool:
        """Whether the last message of the cluster autoscaler about a pod is that it requests nodes for it."""
        return [event.reason for event in self._of_pods.get(pod.uid, ())][-1:] == [_ASKED_FOR]

    def _scheduler(self, pod: Pod) -> str:
        """The scheduler's message about a pod, without its part about preemption, or Kueue's if it has no workload."""
        condition = pod.condition("PodScheduled")
        if condition.reason != "SchedulingGated":
            return condition.message.partition(". ")[0]
        held = f"held back by {', '.join(gate.name for gate in pod.spec.scheduling_gates)}"
        message = self._of_groups.get((pod.namespace, pod.workload or pod.name), "")
        return ": ".join(filter(None, (held, message)))

    def _autoscaler(self, pod: Pod) -> Iterator[str]:
        """Its last message of each kind about a pod since it last requested nodes, or that request if none followed."""
        messages: dict[str, str] = {}
        for event in self._of_pods.get(pod.uid, ()):
            if event.reason == _ASKED_FOR:
                messages.clear()
            messages[event.reason] = re.sub(r"https?://\S*/", "", event.message)
        if len(messages) > 1:
            messages.pop(_ASKED_FOR, None)
        yield from messages.values()

    def not_created(self, job: Iterable[str], pods: Sequence[Pod]) -> str:
        """The last failure to create a part of a job; "" without one, or if a pod was created after it."""
        since = max((pod.created for pod in pods), default="")
        failures = [event for uid in job for event in self._of_jobs.get(uid, ()) if event.time > since]
        if not failures:
            return ""
        which = "more of its pods" if pods else "its pods"
        return f"{which} cannot be created: {max(failures, key=_when).message}"


def _when(event: Event) -> tuple[str, int]:
    """The order of events: by time, and within the same second by version."""
    return event.time, event.version


def too_large(workload: Workload, flavors: Sequence[Flavor], nodes: Sequence[Node]) -> str:
    """A message if a pod requests more chips, GPUs or cores than the hosts of all flavors of its queue have; else "".

    Also "" if the hosts of a flavor are unknown, because an autoscaled pool can add larger ones.
    """
    for pod in (pod_set.pod for pod_set in workload.pod_sets):
        for resource in UNITS:
            wanted = pod.asked(resource)
            most = [_most(resource, flavor, pod, nodes) for flavor in flavors if wanted and may_take(flavor, pod)]
            known = [amount for amount in most if amount is not None]
            if known and len(known) == len(most) and 0 < max(known) < wanted:
                asks, have = whole_or_part(wanted), whole_or_part(max(known))
                return f"requests {counted(asks, UNITS[resource])} in each pod, but its hosts have {have}"
    return ""


def may_take(flavor: Flavor, pod: PodSpec) -> bool:
    """Whether the node selector and node affinity of the pod do not contradict the labels of the flavor."""
    labels = flavor.node_labels
    known = ([own for own in term.match_expressions if own.key in labels] for term in pod.terms)
    return all(labels.get(key, value) == value for key, value in pod.node_selector.items()) and (
        not pod.terms or any(all(own.accepts(labels) for own in term) for term in known)
    )


def _most(resource: str, flavor: Flavor, pod: PodSpec, nodes: Sequence[Node]) -> int | None:
    """The resource of the flavor's largest host, in thousandths; None if it is unknown."""
    labels = flavor.node_labels
    if resource == TPU and ACCELERATOR_LABEL in labels:
        with contextlib.suppress(SliceError, KeyError, ArithmeticError):  # unknown labels, or not in the catalogue
            if COUNT_LABEL in labels:
                return thousandths(labels[COUNT_LABEL])
            return 1000 * catalogue().machine(labels[MACHINE_LABEL])[1].chips
    hosts = [node for node in nodes if labels.items() <= node.labels.items()]
    if flavor.topology:
        # Kueue assigns existing hosts, and the autoscaler adds none for the job.
        return _largest(resource, [host for host in hosts if pod.node_selector.items() <= host.labels.items()])
    # New hosts have the same machine type: if existing ones lack the resource, so do new ones.
    return 0 if hosts and _largest(resource, hosts) == 0 else None


def _largest(resource: str, hosts: Iterable[Node]) -> int:
    return max((host.offered.get(resource, 0) for host in hosts), default=0)


_WHY = (
    "Kueue has created no workload for it: {} does not exist, it has too many pod sets, or Kueue is down; see Kueue's "
    "log"
)


def without_workload(kind: str, jobs: Iterable[Job], workloads: Iterable[Workload]) -> Iterator[Workload]:
    """A waiting workload for each suspended job of a queue that has none, except for jobs with an owner."""
    known = {owner.uid for workload in workloads for owner in workload.owners}
    for job in jobs:
        if job.suspend and QUEUE_LABEL in job.labels and not job.owners and job.uid not in known:
            label = job.labels.get(PRIORITY_CLASS_LABEL, "")
            missing = f"the priority class {label}" if label else "the PriorityClass of its pods"
            yield Workload.model_construct(
                **{key: getattr(job, key) for key in ("name", "namespace", "uid", "created")},
                owners=[Reference(kind=kind, namespace=job.namespace, name=job.name, uid=job.uid)],
                queue=job.labels[QUEUE_LABEL],
                priority_class=label,
                conditions=[Condition(type="QuotaReserved", status="False", message=_WHY.format(missing))],
            )
