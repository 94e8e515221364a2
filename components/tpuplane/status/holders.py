"""The jobs and node pools of pods, and the jobs outside of Kueue. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from tpuplane.labels import GPU, TPU
from tpuplane.quantities import whole_or_part
from tpuplane.status.kueue_objects import Workload
from tpuplane.status.objects import Node, Pod, Reference
from tpuplane.status.owners import Owners
from tpuplane.status.waiting import Placing

_OF_KUEUE = ("kueue.x-k8s.io/podset", "kueue.x-k8s.io/managed")
_GATE = "kueue.x-k8s.io/admission"


def pools_of(pods: Iterable[Pod], pool_of: Mapping[str, str]) -> list[str]:
    """The node pools of pods. `pool_of` has the node pool of each node."""
    return sorted({pool_of[pod.spec.node_name] for pod in pods if pool_of.get(pod.spec.node_name)})


def jobs_by_node(pods: Iterable[Pod], owners: Owners) -> dict[str, set[str]]:
    """The jobs with chips or GPUs of each node, as namespace/name."""
    held: dict[str, set[str]] = defaultdict(set)
    for pod in pods:
        if pod.spec.node_name and has_devices(pod):
            held[pod.spec.node_name].add(f"{pod.namespace}/{_job(pod, owners).name}")
    return held


def outside_queues(
    pods: Iterable[Pod], nodes: Iterable[Node], placing: Placing, owners: Owners, workloads: Iterable[Workload] = ()
) -> list[dict[str, Any]]:
    """Rows for jobs outside of Kueue that have pods with chips or GPUs, or pods without a node.

    Pods that Kueue holds back without a workload are also in no queue, such as those of an incomplete group.
    """
    workloads = list(workloads)
    names = {(workload.namespace, workload.name) for workload in workloads}
    uids = {owner.uid for workload in workloads for owner in workload.owners}
    pool_of = {node.name: node.pool for node in nodes}
    jobs: dict[tuple[str, Reference], list[Pod]] = defaultdict(list)
    for pod in pods:
        known_to_kueue = pod.workload or any(label in pod.labels for label in _OF_KUEUE)
        if any(gate.name == _GATE for gate in pod.spec.scheduling_gates):
            known_to_kueue = (pod.namespace, pod.workload) in names or not uids.isdisjoint(owners.uids(pod))
        of_every_node = any(owner.kind in ("DaemonSet", "Node") for owner in pod.owners)
        if not known_to_kueue and not of_every_node:
            jobs[pod.namespace, _job(pod, owners)].append(pod)
    return [
        {
            "namespace": namespace,
            "job": job.name,
            "kind": job.kind,
            "uid": job.uid or members[0].uid,
            **asked_by(sum(pod.spec.asked(resource) for pod in members) for resource in (TPU, GPU, "cpu")),
            "nodePools": pools_of(members, pool_of),
            "since": min(pod.created for pod in members),
            "why": placing.why(owners.members(job.uid), members),
        }
        for (namespace, job), members in sorted(jobs.items(), key=_place)
        if any(has_devices(pod) or not pod.spec.node_name for pod in members)
    ]


def _job(pod: Pod, owners: Owners) -> Reference:
    """The job of a pod; its group if it has one and no other job."""
    job = owners.job("Pod", pod)
    of_group = job.uid == pod.uid and pod.group
    return Reference(kind="PodGroup", namespace=pod.namespace, name=pod.group) if of_group else job


def _place(entry: tuple[tuple[str, Reference], list[Pod]]) -> tuple[str, str, str]:
    (namespace, job), _ = entry
    return namespace, job.name, job.kind


def asked_by(amounts: Iterable[int]) -> dict[str, int | float]:
    """Chips, GPUs and cores of a row, from thousandths."""
    return dict(zip(("chips", "gpus", "cores"), map(whole_or_part, amounts), strict=True))


def has_devices(pod: Pod) -> bool:
    """Whether a pod has chips or GPUs."""
    return bool(pod.spec.asked(TPU) or pod.spec.asked(GPU))
