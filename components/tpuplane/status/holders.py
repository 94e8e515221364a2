"""Whose pods sit on which node pool: by Kueue's workload, and by job for those that Kueue does not know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from tpuplane.labels import GKE_POOL_LABEL, GPU, TPU
from tpuplane.status.objects import Object, asked

_WORKLOAD = "kueue.x-k8s.io/workload"

# What a pod says of the job it is part of, the outermost first.
_JOB_LABELS = (
    "ray.io/originated-from-cr-name",
    "jobset.sigs.k8s.io/jobset-name",
    "ray.io/cluster",
    "leaderworkerset.sigs.k8s.io/name",
    "batch.kubernetes.io/job-name",
)


def pools_by_workload(pods: Iterable[Object], nodes: Iterable[Object]) -> dict[tuple[str, str], set[str]]:
    """Node pools by namespace and name of the workload that Kueue admitted the pods for."""
    held: dict[tuple[str, str], set[str]] = defaultdict(set)
    for pod, pool in _placed(pods, nodes):
        workload = pod["metadata"].get("annotations", {}).get(_WORKLOAD)
        if workload is not None:
            held[pod["metadata"]["namespace"], workload].add(pool)
    return held


def jobs_by_pool(pods: Iterable[Object], nodes: Iterable[Object]) -> dict[str, list[str]]:
    """By node pool the jobs that hold chips or GPUs of it, as namespace/name."""
    held: dict[str, set[str]] = defaultdict(set)
    for pod, pool in _placed(pods, nodes):
        if asked(pod, TPU) or asked(pod, GPU):
            held[pool].add(f"{pod['metadata']['namespace']}/{_job(pod)}")
    return {pool: sorted(jobs) for pool, jobs in held.items()}


def _placed(pods: Iterable[Object], nodes: Iterable[Object]) -> Iterator[tuple[Object, str]]:
    """Every pod that has its node, with the node's pool."""
    pool_of = {it["metadata"]["name"]: it["metadata"].get("labels", {}).get(GKE_POOL_LABEL) for it in nodes}
    for pod in pods:
        pool = pool_of.get(pod["spec"].get("nodeName", ""))
        if pool is not None:
            yield pod, pool


def _job(pod: Object) -> str:
    metadata: Mapping[str, str] = pod["metadata"].get("labels", {})
    named = next((metadata[label] for label in _JOB_LABELS if metadata.get(label)), None)
    owner: Mapping[str, str] = next(iter(pod["metadata"].get("ownerReferences", ())), {})
    of_deployment = f"-{metadata.get('pod-template-hash')}"  # what a Deployment puts behind its own name
    return named or owner.get("name", "").removesuffix(of_deployment) or str(pod["metadata"]["name"])
