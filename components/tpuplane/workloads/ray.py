"""Ray on slices: a worker group is a slice, so its hosts, selectors, chips and resources are derived."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from tpuplane.spec.fields import Name, Namespace, Spec, refuse
from tpuplane.workloads.slices import Manifest, SliceGroupSpec, slice_pod

API_VERSION = "ray.io/v1"
QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY = "kueue.x-k8s.io/priority-class"

_PORTS = {"gcs": 6379, "dashboard": 8265, "client": 10001, "serve": 8000, "metrics": 8080}
_MXLA_PORT = 8081  # libtpu's own, between the hosts of a slice


class WorkerGroupSpec(SliceGroupSpec):
    """A Ray worker group: slices of one shape, each a replica that comes and goes as a whole."""

    slices: Annotated[int, Field(ge=0)] = 1
    """Slices at the start. Default 1."""

    min_slices: Annotated[int, Field(ge=0)] | None = None
    """Fewest slices. Default: as many as `slices`."""

    max_slices: Annotated[int, Field(ge=1)] | None = None
    """Most slices; more than the fewest needs `autoscaling`. Default: as many as `slices`."""

    @model_validator(mode="after")
    def _check_range(self) -> WorkerGroupSpec:
        if not self.fewest <= self.slices <= self.most:
            raise refuse(f"slices: {self.slices} is not between minSlices {self.fewest} and maxSlices {self.most}")
        return self

    @property
    def fewest(self) -> int:
        """Slices that are kept without work."""
        return self.slices if self.min_slices is None else self.min_slices

    @property
    def most(self) -> int:
        """Slices at full scale."""
        return max(self.slices, 1) if self.max_slices is None else self.max_slices


class HeadSpec(Spec):
    """The Ray head: on the system pool, without chips."""

    image: str | None = None
    """Default: that of the first worker group."""

    cpu: Annotated[int, Field(ge=1)] = 4
    """CPUs. Default 4."""

    memory_gb: Annotated[int, Field(ge=1)] = 16
    """Memory in GB of 2^30 bytes. Default 16."""


class RayClusterSpec(Spec):
    """A Ray cluster on slices."""

    namespace: Namespace
    """Namespace that it runs in. A change replaces it."""

    ray_version: str | None = None
    """Ray's version, where the image's tag does not say. Default: not said."""

    queue: Name | None = None
    """Local queue that admits it, head and slices together. Default: the namespace's own."""

    priority_class: Name | None = None
    """Workload priority class. Default: none."""

    head: HeadSpec = HeadSpec()
    """The head."""

    workers: Annotated[dict[Name, WorkerGroupSpec], Field(min_length=1)]
    """Worker groups, by name."""

    config_maps: dict[Annotated[str, Field(pattern="^/.")], Name] = Field(default_factory=dict)
    """ConfigMaps of the namespace, by the folder that head and workers see each in: programs and settings. Default:
    none."""

    autoscaling: bool = False
    """Let Ray add and remove slices between each group's `minSlices` and `maxSlices` (autoscaler v2). Default false."""

    @model_validator(mode="after")
    def _check_scale(self) -> RayClusterSpec:
        for name, group in self.workers.items():
            if not self.autoscaling and group.fewest != group.most:
                raise refuse(f"workers.{name}: minSlices and maxSlices differ; set autoscaling: true, or one number")
        return self


class RayJobSpec(Spec):
    """A program on a Ray cluster of its own, which comes with it and goes after it."""

    cluster: RayClusterSpec
    """The cluster."""

    entrypoint: Annotated[str, Field(min_length=1)]
    """Command that runs on the head, such as `python train.py`."""

    runtime_env: str | None = None
    """Ray's runtime environment, as YAML. Default: none."""

    deadline_seconds: Annotated[int, Field(ge=1)] | None = None
    """End it after this time. Default: never."""

    retries: Annotated[int, Field(ge=0)] = 0
    """Runs after the first, each on a new cluster. Default 0."""

    keep_seconds: Annotated[int, Field(ge=0)] = 60
    """How long the cluster stays after the end, for its logs. Default 60: chips that nobody uses cost as much."""


class RayServiceSpec(Spec):
    """A Ray Serve application that is always there, and is upgraded without a gap."""

    cluster: RayClusterSpec
    """The cluster. A change that KubeRay cannot make in place brings up a second one before the first goes."""

    serve_config: Annotated[str, Field(min_length=1)]
    """Ray Serve's configuration (`applications: …`), as YAML. Changed in place."""


def ray_cluster_manifest(name: str, spec: RayClusterSpec) -> Manifest:
    """A RayCluster."""
    return _object("RayCluster", name, spec, _cluster(spec))


def ray_job_manifest(name: str, spec: RayJobSpec) -> Manifest:
    """A RayJob."""
    job: Manifest = {
        "entrypoint": spec.entrypoint,
        "submissionMode": "K8sJobMode",
        "shutdownAfterJobFinishes": True,
        "ttlSecondsAfterFinished": spec.keep_seconds,
        "backoffLimit": spec.retries,
        "rayClusterSpec": _cluster(spec.cluster),
    }
    if spec.runtime_env is not None:
        job["runtimeEnvYAML"] = spec.runtime_env
    if spec.deadline_seconds is not None:
        job["activeDeadlineSeconds"] = spec.deadline_seconds
    return _object("RayJob", name, spec.cluster, job)


def ray_service_manifest(name: str, spec: RayServiceSpec) -> Manifest:
    """A RayService."""
    service = {"serveConfigV2": spec.serve_config, "rayClusterConfig": _cluster(spec.cluster)}
    return _object("RayService", name, spec.cluster, service)


def _object(kind: str, name: str, cluster: RayClusterSpec, spec: Manifest) -> Manifest:
    metadata: Manifest = {"name": name, "namespace": cluster.namespace}
    labels = {label: value for label, value in ((QUEUE, cluster.queue), (PRIORITY, cluster.priority_class)) if value}
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}


def _cluster(spec: RayClusterSpec) -> Manifest:
    first = next(iter(spec.workers.values()))
    cluster: Manifest = {
        "headGroupSpec": _head(spec.head, spec.head.image or first.image),
        "workerGroupSpecs": [_workers(name, group) for name, group in spec.workers.items()],
    }
    if spec.ray_version is not None:
        cluster["rayVersion"] = spec.ray_version
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        _mount(group["template"]["spec"], spec.config_maps)
    if spec.autoscaling:
        cluster["enableInTreeAutoscaling"] = True
        cluster["autoscalerOptions"] = {"version": "v2", "idleTimeoutSeconds": 300}
    return cluster


def _head(head: HeadSpec, image: str) -> Manifest:
    resources = {"cpu": str(head.cpu), "memory": f"{head.memory_gb}Gi"}
    return {
        # No work on the head: a task that landed there would find no chip.
        "rayStartParams": {"num-cpus": "0", "dashboard-host": "0.0.0.0"},  # noqa: S104 (of its own pod)
        "template": {
            "spec": {
                "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
                "containers": [
                    {
                        "name": "ray-head",
                        "image": image,
                        "ports": [{"name": name, "containerPort": port} for name, port in _PORTS.items()],
                        "resources": {"requests": resources, "limits": resources},
                        "securityContext": {"allowPrivilegeEscalation": False},
                    }
                ],
            }
        },
    }


def _mount(pod: Manifest, config_maps: dict[str, str]) -> None:
    if config_maps:
        names = {name: f"config-{number}" for number, name in enumerate(dict.fromkeys(config_maps.values()))}
        pod["volumes"] = [{"name": volume, "configMap": {"name": name}} for name, volume in names.items()]
        pod["containers"][0]["volumeMounts"] = [
            {"name": names[name], "mountPath": path, "readOnly": True} for path, name in config_maps.items()
        ]


def _workers(name: str, group: WorkerGroupSpec) -> Manifest:
    extra: dict[str, Any] = {"ports": [{"name": "mxla", "containerPort": _MXLA_PORT}]}
    return {
        "groupName": name,
        "replicas": group.slices,
        "minReplicas": group.fewest,
        "maxReplicas": group.most,
        "numOfHosts": group.slice.hosts,
        "rayStartParams": {},
        "template": {"spec": slice_pod(group, "ray-worker", extra)},
    }
