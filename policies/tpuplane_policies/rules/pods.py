"""The pods and containers of workloads."""

import re
from collections.abc import Iterator
from itertools import chain

from tpuplane_policies.core.registry import data
from tpuplane_policies.core.resources import Resource, matches
from tpuplane_policies.core.values import Value
from tpuplane_policies.rules.argo import Layered, layered, template_containers, template_pods, workflow_pods
from tpuplane_policies.rules.kinds import ARGO, OWN_WORKLOAD

MAPS, SINGLE = ("|".join(data("pods")[kind]) for kind in ("maps", "single"))
WITHOUT_PODS = re.compile(
    rf"(^|\.)((num|min|max|enable|disable)[A-Z]\w*$|(\w*[a-z0-9](?=[A-Z]))?(?i:({MAPS})s?(?=[.\[]|$)|({SINGLE})s?$))"
)
"""Keys whose value holds no pods, by the last word of their names. Other keys of custom resources can have pods."""
INDEXES = re.compile(r"(\[\d+\])+$")


def pod_specs(workload: Resource) -> Iterator[Value]:
    """The spec of each pod of a workload. In custom resources, a pod spec is any object with containers, or
    with Tekton's steps. A value that is not known yet can be one, unless its key says otherwise."""
    own = matches(OWN_WORKLOAD, workload.type)
    path = data("pods")["specs"].get(workload.kind) if own else None
    return iter((workload[path],)) if path else _with_containers(workload.props, matches((ARGO,), workload.type), ())


def _with_containers(value: Value, in_argo: bool, around: tuple[Value, ...]) -> Iterator[Value]:
    """The pod specs in a value. Tekton's tasks take settings of their pods from the nearest template `around` them."""
    if value.is_unknown:
        if not WITHOUT_PODS.search(INDEXES.sub("", value.path)):
            yield value
        return
    if value.is_mapping:
        templates = (value["podTemplate"], value["taskRunTemplate.podTemplate"])
        around = tuple(template for template in templates if template.raw) or around
        if pods := [*_own_pods(value, in_argo, around)]:
            yield from pods
            return
    known = [part.raw for part in value.each() if not part.is_unknown] if value.is_list else []
    if not any(isinstance(raw, str | int | float) for raw in known):  # otherwise a list of texts or numbers
        for part in value.below():
            yield from _with_containers(part, in_argo, around)


def _own_pods(value: Value, in_argo: bool, around: tuple[Value, ...]) -> Iterator[Value]:
    """The mapping itself if it is a pod spec or a Tekton task, or the pods of an Argo workflow or template."""
    steps = [step for step in value["steps"].each() if step.is_mapping and step["image"].raw is not None]
    if value["containers"].is_list or value["containers"].is_unknown:
        yield value
    elif in_argo and (pods := (*workflow_pods(value), *template_pods(value))):
        yield from pods
    elif steps and not value["steps"].is_unknown:
        yield layered(value, *around)


def pod_count(workload: Resource) -> int:
    """The number of pods that a workload requests; 1 for a DaemonSet."""
    kind, spec = workload.kind, workload["spec"]
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
    if pod["steps"].is_list:
        return chain((layered(step, pod["stepTemplate"]) for step in pod["steps"].each()), pod["sidecars"].each())
    if isinstance(pod, Layered):
        return template_containers(pod)
    return chain(pod["containers"].each(), pod["initContainers"].each())


def all_containers(workload: Resource) -> Iterator[tuple[Value, Value]]:
    """Each container of a workload with its pod, including init and ephemeral containers."""
    for pod in pod_specs(workload):
        yield from ((pod, container) for container in chain(containers(pod), pod["ephemeralContainers"].each()))


def ray_workers(ray: Resource) -> Iterator[Value]:
    """The worker groups of a Ray resource."""
    field = {
        "RayCluster": "spec",
        "RayJob": "spec.rayClusterSpec",
        "RayService": "spec.rayClusterConfig",
        "RayCronJob": "spec.jobTemplate.rayClusterSpec",
    }[ray.kind]
    return ray[field]["workerGroupSpecs"].each()
