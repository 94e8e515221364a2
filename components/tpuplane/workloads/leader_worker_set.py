"""A server on slices, as a LeaderWorkerSet: one group of pods for each slice, which restart together."""

from tpuplane.labels import GKE_POOL_LABEL, REQUIRED_TOPOLOGY
from tpuplane.workloads.jobset import MultisliceSpec
from tpuplane.workloads.names import job_object
from tpuplane.workloads.pods import Manifest, pod_spec
from tpuplane.workloads.volumes import mount


def leader_worker_set_manifest(name: str, spec: MultisliceSpec) -> Manifest:
    """A LeaderWorkerSet of one group. Each further one is a slice and, for Kueue, a workload of its own.

    Raises `SpecError` if the name is not allowed.
    """
    template: Manifest = {"spec": pod_spec(spec, "main", {"command": list(spec.command)})}
    group = {"size": spec.slice.hosts, "restartPolicy": "RecreateGroupOnPodRestart", "workerTemplate": template}
    body = {"replicas": 1, "leaderWorkerTemplate": group}
    made = job_object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", name, spec, body)
    if spec.slice.multi_host and spec.placement == "topology":
        template["metadata"] = {"annotations": {REQUIRED_TOPOLOGY: GKE_POOL_LABEL}}
    elif spec.slice.multi_host:
        made["metadata"]["annotations"] = {"leaderworkerset.sigs.k8s.io/exclusive-topology": GKE_POOL_LABEL}
    mount(template, config_maps={}, buckets={}, claims=spec.claims)
    return made
