"""Finds the pods in whatever makes them, and their containers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from tpuplane_policies.core.resources import Resource
from tpuplane_policies.core.values import Value


def pod_specs(workload: Resource) -> Iterator[Value]:
    """The spec of every pod that a workload makes."""
    kind = workload.type.rpartition(":")[2]
    spec = workload["spec"]
    if kind == "Pod":
        yield spec
    elif kind == "PodTemplate":
        yield workload["template.spec"]
    elif kind == "LeaderWorkerSet":
        for template in ("leaderTemplate", "workerTemplate"):
            if spec["leaderWorkerTemplate"][template].is_set.holds:
                yield spec["leaderWorkerTemplate"][template]["spec"]
    elif kind == "CronJob":
        yield spec["jobTemplate.spec.template.spec"]
    elif kind == "JobSet":
        for job in spec["replicatedJobs"].each():
            yield job["template.spec.template.spec"]
    elif kind.startswith("Ray"):
        ray = {"RayCluster": spec, "RayJob": spec["rayClusterSpec"], "RayService": spec["rayClusterConfig"]}[kind]
        yield ray["headGroupSpec.template.spec"]
        for group in ray["workerGroupSpecs"].each():
            yield group["template.spec"]
    else:
        yield spec["template.spec"]


def pod_count(workload: Resource) -> int:
    """Pods that a workload asks for at once; of a DaemonSet, one.

    Raises:
        UndecidedError: if a count is not known yet.

    """
    kind, spec = workload.type.rpartition(":")[2], workload["spec"]
    if kind == "JobSet":
        jobs = spec["replicatedJobs"].each()
        return sum(int(job["replicas"].get(1) * job["template.spec.parallelism"].get(1)) for job in jobs)
    if kind.startswith("Ray"):
        return 1 + sum(int(group["replicas"].get(1) * group["numOfHosts"].get(1)) for group in ray_workers(workload))
    if kind == "LeaderWorkerSet":
        return int(spec["replicas"].get(1) * spec["leaderWorkerTemplate.size"].get(1))
    return int(spec["parallelism" if kind == "Job" else "replicas"].get(1))


def containers(pod: Value) -> Iterator[Value]:
    """Every container of a pod, those that come first included."""
    return chain(pod["containers"].each(), pod["initContainers"].each())


def all_containers(workload: Resource) -> Iterator[tuple[Value, Value]]:
    """Each container of a workload with its pod, those included that somebody adds to look inside."""
    for pod in pod_specs(workload):
        for container in chain(containers(pod), pod["ephemeralContainers"].each()):
            yield pod, container


def ray_workers(ray: Resource) -> Iterator[Value]:
    """The worker groups of a Ray resource."""
    kind = ray.type.rpartition(":")[2]
    field = {"RayCluster": "spec", "RayJob": "spec.rayClusterSpec", "RayService": "spec.rayClusterConfig"}[kind]
    return ray[field]["workerGroupSpecs"].each()
