"""Builds the `Case` of a job from the objects of its cluster. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from tpuplane.labels import HOSTNAME
from tpuplane.status.asking import WHOLE
from tpuplane.status.case import DEVICES, Case, some
from tpuplane.status.fitting import PERMANENT, Hosts, Pods
from tpuplane.status.holders import jobs_by_node
from tpuplane.status.kueue_objects import LocalQueue, PodSet, Workload
from tpuplane.status.objects import Job, Pod, PodSpec
from tpuplane.status.quota import Offer, offers
from tpuplane.status.snapshot import Objects
from tpuplane.status.waiting import AT_MAXIMUM

OF_HOSTS = ("labels", "taints", "size", "hosts", "down", "pinned")
"""Reasons that neither the scheduler nor Kueue reports in full."""

_EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
"""JobSet's annotation of pods whose job has a domain, such as a node pool, for itself."""

_REPLACES = "kueue.x-k8s.io/workload-slice-replacement-for"
"""Kueue's annotation of the workload of an elastic job that has grown, with the one that it replaces."""

_POD_SET = "kueue.x-k8s.io/podset"

_DECISIVE = frozenset({"nodes", "pods", "queues", "cohorts", "flavors"})


def case_of(objects: Objects, queue: str, row: Mapping[str, Any], own: Sequence[Pod]) -> Case | None:
    """The pods of a job that wait for quota or for a node; None if there are none, or not everything was read.

    `row` is the job's row in the status of its queue, and `own` are its pods.
    """
    if not judgeable(objects):
        return None
    waiting = [pod for pod in own if not pod.spec.node_name]
    pods, of_queue = _pods(objects, waiting), list[list[Offer]]()
    if row.get("state") == "waiting":
        of_queue = _offers(objects, queue, row)
        pods = _pod_sets(objects, row) if of_queue else []
    if not pods:
        return None
    full = any(AT_MAXIMUM in message for message in objects.placing.unplaced(waiting)[2])
    compute_classes = objects.details.get("computeClasses")
    classes = None if compute_classes is None else frozenset(item.name for item in compute_classes)
    stays = (pod for pod in own if objects.owners.job("Pod", pod).kind in WHOLE)
    placed = {pod.uid for pod in stays if pod.spec.node_name and not pod.deleted}
    hosts, again = Hosts.of(objects.nodes, objects.pods, placed), _again(objects, waiting)
    others = [pod for pod in objects.pods if pod.uid not in placed]
    holders = jobs_by_node(others, objects.owners) if placed else objects.holders
    return Case(pods, hosts, of_queue, classes, holders, again, full)


def judgeable(objects: Objects) -> bool:
    """Whether all lists were read that decide whether a job can start."""
    return bool(objects.nodes) and not _DECISIVE.intersection(objects.unread)


def admits(objects: Objects, queue: LocalQueue, row: Mapping[str, Any]) -> bool:
    """Whether a waiting job could run in another queue, now or when other jobs end."""
    if not queue.is_true("Active") or (case := case_of(objects, queue.cluster_queue, row, ())) is None:
        return False
    covered = {resource for flavors in case.offers for offer in flavors for resource in offer.quotas}
    if any(pods.levels for pods in case.pods) and not any(offer.placed for flavors in case.offers for offer in flavors):
        return False  # without a topology, Kueue gives the pods no flavor
    first = case.obstacle()
    fits = first is None or first.block.reason not in PERMANENT
    return fits and all(pods.requests.keys() <= covered for pods in case.pods)


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
    """The pod sets of a workload that can get quota."""
    workload = objects.workload(row["namespace"], row["workload"])
    if workload is None or not workload.active or workload.is_true("QuotaReserved"):
        return []
    return [_pods_of(pod_set, pod_set.pod) for pod_set in workload.pod_sets]


def _pods_of(pod_set: PodSet, spec: PodSpec) -> Pods:
    if pod_set.slice_required:
        return Pods.of(pod_set.count, spec, pod_set.slice_required, pod_set.slice_size or 1, pod_set.required)
    return Pods.of(pod_set.count, spec, pod_set.required, pod_set.count if pod_set.required else 1)


def _again(objects: Objects, waiting: Sequence[Pod]) -> tuple[str, Case] | None:
    """The job submitted again, if Kueue pinned its pods to hosts. It has its quota, flavors and tolerations already.

    Kueue counts the hosts of running work by its requests alone if it has started again since. Other work with limits
    alone must be submitted again too: otherwise Kueue can choose the same hosts.
    """
    pinned = next((pod for pod in waiting if pod.workload and HOSTNAME in pod.spec.node_selector), None)
    workload = objects.workload(pinned.namespace, pinned.workload) if pinned else None
    if pinned is None or workload is None or any(HOSTNAME in each.pod.node_selector for each in workload.pod_sets):
        return None
    own = {pod.uid: pod for pod in objects.pods if (pod.namespace, pod.workload) == (pinned.namespace, pinned.workload)}
    specs = {pod.labels.get(_POD_SET, workload.pod_sets[0].name): pod.spec for pod in own.values()}
    pods = []
    for pod_set in workload.pod_sets:
        spec = specs.get(pod_set.name, pod_set.pod)
        selector = {key: value for key, value in spec.node_selector.items() if key != HOSTNAME}
        pods.append(_pods_of(pod_set, spec.model_copy(update={"node_selector": selector})))
    others = [pod for pod in objects.pods if pod.uid not in own]
    hosts = Hosts.of(objects.nodes, others)
    near = {host.name for host in hosts.all if any(each.suit(host) for each in pods)}
    placed = {(pod.namespace, pod.workload): pod for pod in others if pod.workload and pod.spec.node_name in near}
    uncounted = sorted(
        f"{pod.namespace}/{objects.owners.job('Pod', pod).name}"
        for key, pod in placed.items()
        if (found := objects.workload(*key)) and found.unrequested
    )
    text = "Delete the job, and submit it again"
    if uncounted:
        text = f"Delete the job and {some(uncounted)}, and submit them again"
    if resources := sorted({*workload.unrequested, *(DEVICES[:1] if uncounted else ())}):
        text += f" with requests and limits of {', '.join(resources)}"
    return text, Case(pods, hosts)


def _offers(objects: Objects, queue: str, row: Mapping[str, Any]) -> list[list[Offer]]:
    kueue = objects.kueue or {}
    cluster_queue = next((item for item in kueue.get("queues", ()) if item.name == queue), None)
    if cluster_queue is None:
        return []
    reserved = (each for each in kueue["workloads"] if each.reserved_in == queue and not each.is_true("Finished"))
    of_job = [each for each in reserved if _of_job(objects, each, row)]
    return offers(cluster_queue, kueue["queues"], kueue["cohorts"], kueue["flavors"], of_job)


def _of_job(objects: Objects, workload: Workload, row: Mapping[str, Any]) -> bool:
    """Whether a workload is another one of the same job, and keeps its quota when this one gets its own.

    The steps of a workflow end by themselves.
    """
    job = objects.owners.of_workload(workload)
    if job is None or job.kind not in WHOLE or job.uid != row["uid"]:
        return False
    own = objects.workload(row["namespace"], row["workload"])
    return own is None or own.annotations.get(_REPLACES) != f"{workload.namespace}/{workload.name}"
