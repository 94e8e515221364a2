"""The pods and containers of workloads."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain

from tpuplane_policies.core.resources import Resource, matches
from tpuplane_policies.core.values import Value
from tpuplane_policies.rules.argo import Layered, template_containers, template_pods, workflow_pods
from tpuplane_policies.rules.kinds import ARGO, OWN_WORKLOAD

SPECS: Mapping[str, str] = {
    "Pod": "spec",
    "PodTemplate": "template.spec",
    "CronJob": "spec.jobTemplate.spec.template.spec",
    **dict.fromkeys(
        ("ReplicationController", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job"), "spec.template.spec"
    ),
}
"""Paths of the pod spec in Kubernetes' own kinds."""
HOLDS_PODS = re.compile(
    r"((spec|template|config|job|item|task|container|group|override|worker|head|leader|driver|executor|master|launcher"
    r"|predictor|transformer|component|role|pod|step|set)s?|specs\.[^.]+)$",
    re.IGNORECASE,
)
"""Keys whose value can contain a pod even if it is unknown, and the keys below `…Specs`."""
HOLDS_WORKFLOWS = re.compile(r"\.(triggers|k8s|source|resource)$")
"""Further keys of Argo's sensors, which create workflows."""
INDEXES = re.compile(r"(\[\d+\])+$")


def pod_specs(workload: Resource) -> Iterator[Value]:
    """The spec of each pod of a workload. In custom resources and lists, any object with containers is a pod spec."""
    own = matches(OWN_WORKLOAD, workload.type)
    path = SPECS.get(workload.type.rpartition(":")[2].removesuffix("Patch")) if own else None
    return iter((workload[path],)) if path else _with_containers(workload.props, matches((ARGO,), workload.type))


def _with_containers(value: Value, in_argo: bool) -> Iterator[Value]:
    if value.is_unknown:
        name = INDEXES.sub("", value.path)
        if HOLDS_PODS.search(name) or (in_argo and HOLDS_WORKFLOWS.search(name)):
            yield value
    elif value["containers"].is_list or value["containers"].is_unknown:
        yield value
    elif in_argo and (pods := (*workflow_pods(value), *template_pods(value))):
        yield from pods
    else:
        for part in value.below():
            yield from _with_containers(part, in_argo)


def pod_count(workload: Resource) -> int:
    """The number of pods that a workload requests; 1 for a DaemonSet.

    Raises:
        UndecidedError: if a count is unknown.

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
    """The containers and init containers of a pod."""
    if isinstance(pod, Layered):
        return template_containers(pod)
    return chain(pod["containers"].each(), pod["initContainers"].each())


def all_containers(workload: Resource) -> Iterator[tuple[Value, Value]]:
    """Each container of a workload with its pod, including init and ephemeral containers."""
    for pod in pod_specs(workload):
        for container in chain(containers(pod), pod["ephemeralContainers"].each()):
            yield pod, container


def ray_workers(ray: Resource) -> Iterator[Value]:
    """The worker groups of a Ray resource."""
    kind = ray.type.rpartition(":")[2]
    field = {"RayCluster": "spec", "RayJob": "spec.rayClusterSpec", "RayService": "spec.rayClusterConfig"}[kind]
    return ray[field]["workerGroupSpecs"].each()
