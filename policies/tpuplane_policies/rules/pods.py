"""Finds the pods in whatever makes them, and their containers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from tpuplane_policies.core.resources import Resource
from tpuplane_policies.core.values import Value

TPU = "google.com/tpu"


def pod_specs(workload: Resource) -> Iterator[Value]:
    """The spec of every pod that a workload makes."""
    kind = workload.type.rpartition(":")[2]
    spec = workload["spec"]
    if kind == "Pod":
        yield spec
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


def containers(pod: Value) -> Iterator[Value]:
    """Every container of a pod, those that come first included."""
    return chain(pod["containers"].each(), pod["initContainers"].each())


def all_containers(workload: Resource) -> Iterator[tuple[Value, Value]]:
    """Each container of a workload with its pod."""
    return ((pod, container) for pod in pod_specs(workload) for container in containers(pod))


def ray_workers(ray: Resource) -> Iterator[Value]:
    """The worker groups of a Ray resource."""
    kind = ray.type.rpartition(":")[2]
    field = {"RayCluster": "spec", "RayJob": "spec.rayClusterSpec", "RayService": "spec.rayClusterConfig"}[kind]
    return ray[field]["workerGroupSpecs"].each()
