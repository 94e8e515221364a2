"""The pods in the manifest of a job: as Kueue counts them, and with what a team's namespace and its disks need."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tpuplane.data_files import filled, read_data
from tpuplane.jobs.places import Place
from tpuplane.labels import BLOCK_LABEL, TPU
from tpuplane.plan.storage import DiskPlan
from tpuplane.status.case import Case
from tpuplane.status.fitting import Pods
from tpuplane.status.objects import PodSpec
from tpuplane.status.quota import Offer
from tpuplane.workloads.pods import Manifest, affinity_without

# KubeRay's default (v1.6.2, ray-operator/controllers/ray/common/job.go).
_SUBMITTER: Manifest = {"containers": [{"resources": {"requests": {"cpu": "500m", "memory": "200Mi"}}}]}


def pods_of(manifest: Manifest, place: Place) -> list[Pods]:
    """The pods of a job as Kueue counts them."""
    shape = place.shape
    pods = [PodSpec.model_validate(pod) for pod in pod_specs(manifest)]
    # Kueue's slice controller requires one block for all slices of a job.
    size, block = min(shape.hosts, place.whole.hosts), BLOCK_LABEL if place.dynamic else ""
    slices = [
        replace(Pods.of(shape.hosts, pod, place.domain, size, block), slice=shape.hosts)
        for pod in pods
        if TPU in pod.requests
    ]
    own = manifest["spec"].get("submitterPodTemplate")  # one of the pods
    added = [] if own else [PodSpec.model_validate(_SUBMITTER)]
    others = [Pods.of(1, other) for pod in pods if TPU not in pod.requests for other in (pod, *added)]
    # Those of a JobSet's only job, or of a LeaderWorkerSet.
    replicas = sum(job.get("replicas", 0) for job in manifest["spec"].get("replicatedJobs", [manifest["spec"]]))
    return [*others, Pods.joined(slices * (replicas or 1))]


def fit_apart(case: Case, groups: int) -> tuple[int, int]:
    """How many groups of the pods with chips, which are the last, fit: with a flavor for each group, and with one."""
    *others, pods = case.pods
    each = pods.count // groups

    def blocked(offer: Offer, number: int) -> bool:
        return Case([replace(pods, count=number * each)], case.hosts, [[offer]]).obstacle() is not None

    def most(offer: Offer) -> int:
        return bisect_left(range(1, groups + 1), True, key=lambda number: blocked(offer, number))

    if replace(case, pods=others).obstacle() is not None:
        return 0, 0
    rooms = [list(map(most, offers)) for offers in case.offers]
    return min(groups, *map(sum, rooms)), min(map(max, rooms))


def restrict(manifest: Manifest) -> None:
    """Give all pods what the Pod Security Standard `restricted` requires. KubeRay's own submitter lacks it."""
    if manifest["kind"] == "RayJob":
        (submitter,) = _SUBMITTER["containers"]
        container = {"name": "ray-job-submitter", "image": head_container(manifest)["image"], **submitter}
        spec = {"restartPolicy": "Never", "containers": [container]}
        manifest["spec"]["submitterPodTemplate"] = {"spec": spec}
    for pod in pod_specs(manifest):
        pod["securityContext"] = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
        for container in pod["containers"]:
            container["securityContext"] = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def require(pod: dict[str, Any], label: str, values: Sequence[str]) -> None:
    """Require a node with one of these values of a label, in addition to the node affinity that the pod has."""
    affinity = pod.setdefault("affinity", affinity_without())
    (term,) = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    term["matchExpressions"].append({"key": label, "operator": "In", "values": list(values)})


def give_disks(pod: dict[str, Any], disks: Mapping[str, DiskPlan]) -> None:
    """Replace claims with the names of storage classes by disks of the pod. The machine of another pod may support no
    such disk, so only pods with chips get them."""
    wanted = {
        volume["name"]: disks[name]
        for volume in pod.get("volumes", ())
        if (name := volume.get("persistentVolumeClaim", {}).get("claimName")) in disks
    }
    if not wanted:
        return
    volumes = [volume for volume in pod["volumes"] if volume["name"] not in wanted]
    if TPU in PodSpec.model_validate(pod).requests:
        template = read_data("tpuplane.jobs", "job")["disk"]
        values = ({"$volume": name, "$class": disk.name, "$size": disk.size} for name, disk in wanted.items())
        volumes += [filled(template, each) for each in values]
    else:
        for container in pod["containers"]:
            mounts = container.get("volumeMounts", ())
            container["volumeMounts"] = [mounted for mounted in mounts if mounted["name"] not in wanted]
    pod["volumes"] = volumes


def pod_specs(manifest: Manifest) -> Iterator[dict[str, Any]]:
    """The specs of all pods in a manifest."""
    return (template["spec"] for template in pod_templates(manifest))


def pod_templates(value: object) -> Iterator[dict[str, Any]]:
    """The templates of all pods in a manifest."""
    if isinstance(value, dict) and "containers" in value.get("spec", ()):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from pod_templates(part)


def head_container(manifest: Manifest) -> Any:
    """The container of the head of a RayJob."""
    (head,) = manifest["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"]
    return head
