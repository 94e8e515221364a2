"""Builds the `Case` of a job from the objects of its cluster. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from tpuplane.status.case import Case
from tpuplane.status.fitting import Hosts, Pods
from tpuplane.status.objects import Job, Pod
from tpuplane.status.quota import Offer, offers
from tpuplane.status.reading import Objects

OF_HOSTS = ("labels", "taints", "size", "hosts", "down")
"""Reasons that neither the scheduler nor Kueue reports in full."""

_EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
"""JobSet's annotation of pods whose job has a domain, such as a node pool, for itself."""

_DECISIVE = frozenset({"nodes", "pods", "queues", "cohorts", "flavors"})


def case_of(objects: Objects, queue: str, row: Mapping[str, Any], waiting: Sequence[Pod]) -> Case | None:
    """The pods of a job that wait for quota or for a node; None if there are none, or not everything was read.

    `row` is the job's row in the status of its queue, and `waiting` are its pods without a node.
    """
    if not judgeable(objects):
        return None
    pods, of_queue = _pods(objects, waiting), list[list[Offer]]()
    if row.get("state") == "waiting":
        of_queue = _offers(objects, queue)
        pods = _pod_sets(objects, row) if of_queue else []
    if not pods:
        return None
    compute_classes = objects.details.get("computeClasses")
    classes = None if compute_classes is None else frozenset(item.name for item in compute_classes)
    return Case(pods, Hosts.of(objects.nodes, objects.pods), of_queue, classes, objects.holders)


def judgeable(objects: Objects) -> bool:
    """Whether all lists were read that decide whether a job can start."""
    return bool(objects.nodes) and not _DECISIVE.intersection(objects.unread)


def _pods(objects: Objects, waiting: Sequence[Pod]) -> list[Pods]:
    """The pods without a node that the scheduler tries; none if the cluster autoscaler creates nodes for them."""
    equal: dict[str, list[Pods]] = defaultdict(list)
    for pod in waiting:
        if not pod.spec.scheduling_gates and not objects.placing.scales_up_for(pod):
            # JobSet creates the other pods of an exclusive job when the first one has a node.
            domain = pod.annotations.get(_EXCLUSIVE, "")
            job = objects.owners.owner(pod) if domain else None
            size = job.parallelism if isinstance(job, Job) else 1
            pods = Pods.of(size, pod.spec, domain if size > 1 else "", size)
            equal[pods.key].append(pods)
    return [Pods.joined(group) for group in equal.values()]


def _pod_sets(objects: Objects, row: Mapping[str, Any]) -> list[Pods]:
    """The pod sets of a workload that has no quota."""
    workload = objects.workload(row["namespace"], row["workload"])
    if workload is None or workload.is_true("QuotaReserved"):
        return []
    return [
        Pods.of(
            pod_set.count,
            pod_set.pod,
            pod_set.slice_required or pod_set.required,
            pod_set.slice_size or (pod_set.count if pod_set.required else 1),
        )
        for pod_set in workload.pod_sets
    ]


def _offers(objects: Objects, queue: str) -> list[list[Offer]]:
    kueue = objects.kueue or {}
    cluster_queue = next((item for item in kueue.get("queues", ()) if item.name == queue), None)
    return offers(cluster_queue, kueue["queues"], kueue["cohorts"], kueue["flavors"]) if cluster_queue else []
