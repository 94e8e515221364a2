"""The node pools of jobs: by Kueue's workload, and by job for pods without a workload."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tpuplane.labels import GKE_POOL_LABEL, GPU, TPU
from tpuplane.quantities import whole_or_part
from tpuplane.status.objects import Object, asked
from tpuplane.status.waiting import Placing

_WORKLOAD = "kueue.x-k8s.io/workload"
_OF_KUEUE = ("kueue.x-k8s.io/podset", "kueue.x-k8s.io/managed")

# Labels with the name of the pod's job, the outermost job first.
_JOB_LABELS = (
    "ray.io/originated-from-cr-name",
    "jobset.sigs.k8s.io/jobset-name",
    "ray.io/cluster",
    "leaderworkerset.sigs.k8s.io/name",
    "batch.kubernetes.io/job-name",
)


def pods_by_workload(pods: Iterable[Object]) -> dict[tuple[str, str], list[Object]]:
    """Pods by namespace and name of their Kueue workload."""
    held: dict[tuple[str, str], list[Object]] = defaultdict(list)
    for pod in pods:
        workload = pod["metadata"].get("annotations", {}).get(_WORKLOAD)
        if workload is not None:
            held[pod["metadata"]["namespace"], workload].append(pod)
    return held


def node_pools(nodes: Iterable[Object]) -> dict[str, str]:
    """The node pool of each node that has one."""
    labels = ((it["metadata"]["name"], it["metadata"].get("labels", {})) for it in nodes)
    return {name: of[GKE_POOL_LABEL] for name, of in labels if GKE_POOL_LABEL in of}


def pools_of(pods: Iterable[Object], pool_of: Mapping[str, str]) -> list[str]:
    """The node pools of pods."""
    return sorted({pool_of[name] for pod in pods if (name := pod["spec"].get("nodeName")) in pool_of})


def jobs_by_node(pods: Iterable[Object]) -> dict[str, list[str]]:
    """The jobs with chips or GPUs of each node, as namespace/name."""
    held: dict[str, set[str]] = defaultdict(set)
    for pod in pods:
        if (node := pod["spec"].get("nodeName")) and _devices(pod):
            held[node].add(f"{pod['metadata']['namespace']}/{job_of(pod)}")
    return {node: sorted(jobs) for node, jobs in held.items()}


def jobs_by_pool(pods: Iterable[Object], nodes: Iterable[Object]) -> dict[str, list[str]]:
    """The jobs with chips or GPUs of each node pool, as namespace/name."""
    pool_of = node_pools(nodes)
    held: dict[str, set[str]] = defaultdict(set)
    for node, jobs in jobs_by_node(pods).items():
        if node in pool_of:
            held[pool_of[node]].update(jobs)
    return {pool: sorted(jobs) for pool, jobs in held.items()}


def outside_queues(pods: Iterable[Object], nodes: Iterable[Object], placing: Placing) -> list[dict[str, Any]]:
    """Rows for jobs outside of Kueue that have pods with chips or GPUs, or pods without a node."""
    pool_of = node_pools(nodes)
    jobs: dict[tuple[str, str], list[Object]] = defaultdict(list)
    for pod in pods:
        if not _known_to_kueue(pod) and not _of_every_node(pod):
            jobs[pod["metadata"]["namespace"], job_of(pod)].append(pod)
    return [
        {
            "namespace": namespace,
            "job": job,
            "kind": next(_owners(members[0]), {}).get("kind", "Pod"),
            "chips": _sum(members, TPU),
            "gpus": _sum(members, GPU),
            "cores": _sum(members, "cpu"),
            "nodePools": pools_of(members, pool_of),
            "why": placing.why(namespace, job, members),
        }
        for (namespace, job), members in sorted(jobs.items())
        if any(_devices(pod) or not pod["spec"].get("nodeName") for pod in members)
    ]


def job_of(pod: Object) -> str:
    """The name of the outermost job of a pod; the pod's own name if it has no job."""
    metadata: Mapping[str, str] = pod["metadata"].get("labels", {})
    named = next((metadata[label] for label in _JOB_LABELS if metadata.get(label)), None)
    owner: Mapping[str, str] = next(_owners(pod), {})
    of_deployment = f"-{metadata.get('pod-template-hash')}"  # the suffix of a Deployment's ReplicaSet
    return named or owner.get("name", "").removesuffix(of_deployment) or str(pod["metadata"]["name"])


def _sum(pods: Iterable[Object], resource: str) -> int | float:
    return whole_or_part(sum(asked(pod, resource) for pod in pods))


def _devices(pod: Object) -> bool:
    return bool(asked(pod, TPU) or asked(pod, GPU))


def _known_to_kueue(pod: Object) -> bool:
    metadata = pod["metadata"]
    return _WORKLOAD in metadata.get("annotations", {}) or any(it in metadata.get("labels", {}) for it in _OF_KUEUE)


def _of_every_node(pod: Object) -> bool:
    return any(owner.get("kind") in ("DaemonSet", "Node") for owner in _owners(pod))


def _owners(pod: Object) -> Iterator[Mapping[str, str]]:
    yield from pod["metadata"].get("ownerReferences", ())
