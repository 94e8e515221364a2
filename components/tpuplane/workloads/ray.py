"""Ray on slices and GPU nodes: clusters, jobs and services."""

from typing import Annotated, Self

import yaml
from pydantic import AfterValidator, Field, model_validator

from tpuplane.data_files import filled
from tpuplane.quantities import canonical
from tpuplane.spec.addons.catalogue import addon_catalogue
from tpuplane.spec.core.fields import Name, Spec, WorkNamespace, reject, text
from tpuplane.workloads.names import QUEUE_PATH, LabelName, ObjectName, job_object
from tpuplane.workloads.pods import INT32, PARTS, Manifest
from tpuplane.workloads.ray_dashboard import LIBTPU_LOGS, DashboardSpec, dashboard_environment
from tpuplane.workloads.ray_groups import GpuWorkerGroupSpec, WorkerGroupSpec, worker_group
from tpuplane.workloads.volumes import Bucket, Folder, check_folders, mount

API_VERSION = "ray.io/v1"

# Fields that KubeRay does not allow to change after the start of a RayJob, and the queue. Not ttlSecondsAfterFinished,
# which KubeRay reads at the end.
RAY_JOB_REPLACE_ON = (
    QUEUE_PATH,
    "spec.activeDeadlineSeconds",
    "spec.backoffLimit",
    "spec.entrypoint",
    "spec.rayClusterSpec",
    "spec.runtimeEnvYAML",
    "spec.shutdownAfterJobFinishes",
    "spec.submissionMode",
)

_AUTOSCALER_METRICS = {"name": "as-metrics", "containerPort": 44217}


def _mapping(text: str) -> str:
    """Check text for Ray in the program, because KubeRay reports text that it cannot read only in a status."""
    try:
        found = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        # The text itself is not shown, because it can contain passwords.
        line = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise reject(f"not YAML: {error.problem}{line}") from None
    except yaml.YAMLError:
        raise reject("not YAML: a character that YAML does not allow") from None
    if not isinstance(found, dict):
        raise reject("not a YAML mapping; allowed: fields and their values")
    return text


YamlMapping = Annotated[str, AfterValidator(_mapping)]


class HeadSpec(Spec):
    """The Ray head. It needs no chips, so it runs on any node without a taint. In a queue it runs on the system pool,
    or in an existing cluster on any Linux node. If the team has used its CPU quota, Kueue assigns CPUs of TPU or GPU
    hosts with quota of the team."""

    image: str | None = None
    """Container image. Default: the image of the first worker group."""

    cpu: Annotated[int, Field(ge=1)] = 2
    """CPUs. Default 2, which fits the default machine type of the system pool (e2-standard-4)."""

    memory_gb: Annotated[int, Field(ge=1)] = 8
    """Memory in GB of 2^30 bytes. Default 8."""

    dashboard: DashboardSpec | None = None
    """Charts in Ray's dashboard. Default: none."""


class RayClusterSpec(Spec):
    """A Ray cluster on slices, GPU nodes or both. If a field does not describe its change, a change replaces a RayJob,
    starts a second cluster of a RayService, and applies to new pods of a RayCluster, or in a queue to all pods."""

    namespace: WorkNamespace
    """Namespace of the cluster. A change replaces it."""

    ray_version: str | None = None
    """Version of Ray, if the tag of the image does not contain it. Default: not set."""

    queue: LabelName | None = None
    """Local queue that admits head and slices together. Default: the default queue of the namespace. A change replaces
    a RayJob, is rejected by Kueue for a running RayCluster, and applies to the next cluster of a RayService."""

    priority_class: LabelName | None = None
    """Workload priority class. Default: none. Changed in place from one class to another for a RayJob or RayCluster.
    Kueue rejects a first class for a running workload, and always rejects the removal of the class. For a RayService it
    applies to the next cluster."""

    head: HeadSpec = HeadSpec()
    """The head."""

    workers: dict[Name, WorkerGroupSpec] = Field(default_factory=dict)
    """Worker groups on slices, by name."""

    gpu_workers: dict[Name, GpuWorkerGroupSpec] = Field(default_factory=dict)
    """Worker groups on GPU nodes, by name."""

    config_maps: dict[Folder, ObjectName] = Field(default_factory=dict)
    """ConfigMaps of the namespace by their folder in head and workers, for programs and settings. Default: none."""

    buckets: dict[Folder, Bucket] = Field(default_factory=dict)
    """Cloud Storage buckets by their folder in head and workers, for data and checkpoints. The cluster needs `storage:
    {gcsFuse: true}`. The default service account of the namespace needs write permission. Default: none."""

    claims: dict[Folder, ObjectName] = Field(default_factory=dict)
    """PersistentVolumeClaims of the namespace for buckets by their folder in head and workers, such as those that a
    platform makes for its teams. Default: none."""

    autoscaling: bool = False
    """Let Ray scale each group between its minimum and maximum of slices or pods (autoscaler v2). Not together with
    `queue`. Default false."""

    idle_timeout_seconds: Annotated[int, Field(ge=0, le=INT32)] = 300
    """Idle time in seconds until Ray removes a slice or pod. Default 300. Only with `autoscaling`."""

    @property
    def groups(self) -> dict[str, WorkerGroupSpec | GpuWorkerGroupSpec]:
        """All worker groups, by name."""
        return {**self.workers, **self.gpu_workers}

    @model_validator(mode="after")
    def _check_groups(self) -> Self:
        if not self.groups:
            raise reject("workers: empty; add a group of slices here, or a group of GPU nodes in gpuWorkers")
        if twice := self.workers.keys() & self.gpu_workers.keys():
            raise reject(f"gpuWorkers.{min(twice)}: a group in workers has this name; choose another")
        _check_pod_sets(self, "RayCluster", "")
        taken = LIBTPU_LOGS if self.workers else None
        check_folders(taken, config_maps=self.config_maps, buckets=self.buckets, claims=self.claims)
        return self

    @model_validator(mode="after")
    def _check_scale(self) -> Self:
        if self.autoscaling and self.queue is not None:
            why = "because Kueue admits a Ray cluster as a whole"
            raise reject(f"queue: {self.queue!r} is not allowed with autoscaling, {why}; remove one")
        if not self.autoscaling and "idle_timeout_seconds" in self.model_fields_set:
            raise reject("idleTimeoutSeconds: has no effect without autoscaling; set autoscaling, or remove it")
        for name, group in self.groups.items():
            scale = group.scale
            at, (given, least, top) = "workers" if name in self.workers else "gpuWorkers", scale.names
            if not self.autoscaling and scale.start == 0:
                raise reject(f"{at}.{name}.{given}: 0 stays 0 without autoscaling; set autoscaling: true, or 1 or more")
            if not self.autoscaling and scale.fewest != scale.most:
                raise reject(f"{at}.{name}: {least} and {top} differ; set autoscaling: true, or one number")
        return self


class RayJobSpec(Spec):
    """A program on its own Ray cluster, which is created and deleted with the job."""

    cluster: RayClusterSpec
    """The cluster. A change replaces the job, except a change to `priorityClass`."""

    entrypoint: Annotated[str, *text("command")]
    """Command that runs on the head, such as `python train.py`. A change replaces the job."""

    runtime_env: YamlMapping | None = None
    """Ray's runtime environment, a mapping in YAML. Default: none. A change replaces the job."""

    deadline_seconds: Annotated[int, Field(ge=1, le=INT32)] | None = None
    """Time limit in seconds. Default: none. A change replaces the job."""

    retries: Annotated[int, Field(ge=0, le=INT32)] = 0
    """Most retries, each on a new cluster. Default 0. A change replaces the job."""

    keep_seconds: Annotated[int, Field(ge=0, le=INT32)] = 60
    """Time in seconds that the cluster is kept after the end, for its logs. Default 60, because idle chips cost money.
    Changed in place."""

    @model_validator(mode="after")
    def _check_queue(self) -> Self:
        _check_pod_sets(self.cluster, "RayJob", "cluster.")
        return self


class RayServiceSpec(Spec):
    """A Ray Serve application that is always available, also during upgrades."""

    cluster: RayClusterSpec
    """The cluster. A change that KubeRay cannot make in place starts a second cluster before it deletes the first.
    Other numbers of slices or pods apply to the next cluster."""

    serve_config: YamlMapping
    """Ray Serve's configuration (`applications: …`), a mapping in YAML. Changed in place."""


def _check_pod_sets(cluster: RayClusterSpec, kind: str, at: str) -> None:
    """Raise a pydantic error if Kueue would reject the groups, or create no workload for them."""
    if cluster.queue is None:
        return  # The namespace can have a default queue, which is not known here.
    pod_sets = addon_catalogue().kueue["podSets"]
    reserved = pod_sets["reserved"][kind]
    if taken := next((name for name in reserved if name in cluster.groups), None):
        where = "workers" if taken in cluster.workers else "gpuWorkers"
        remedy = "choose another name, or no queue and a namespace without a team"
        raise reject(f"{at}{where}.{taken}: Kueue uses this name in every {kind}; {remedy}")
    most = pod_sets["most"] - len(reserved)
    if len(cluster.groups) > most:
        allowed = f"at most {most} in a {kind}; use fewer, or no queue and a namespace without a team"
        raise reject(f"{at}workers: {len(cluster.groups)} groups, including gpuWorkers; allowed in a queue: {allowed}")


def ray_cluster_manifest(name: str, spec: RayClusterSpec) -> Manifest:
    """A RayCluster. Raises `SpecError` if the name is not allowed."""
    return job_object(API_VERSION, "RayCluster", name, spec, _cluster(spec))


def ray_job_manifest(name: str, spec: RayJobSpec) -> Manifest:
    """A RayJob. Raises `SpecError` if the name is not allowed."""
    values = {
        "$entrypoint": spec.entrypoint,
        "$keepSeconds": spec.keep_seconds,
        "$retries": spec.retries,
        "$cluster": _cluster(spec.cluster),
        "$runtimeEnv": spec.runtime_env,
        "$deadlineSeconds": spec.deadline_seconds,
    }
    return job_object(API_VERSION, "RayJob", name, spec.cluster, filled(PARTS["rayJob"], values))


def ray_service_manifest(name: str, spec: RayServiceSpec) -> Manifest:
    """A RayService. Raises `SpecError` if the name is not allowed."""
    # KubeRay (1.6) copies the service's `suspend` to the cluster after Kueue's webhook has set it. Without a value, a
    # suspended cluster would never resume.
    service = {"serveConfigV2": spec.serve_config, "rayClusterConfig": {**_cluster(spec.cluster), "suspend": False}}
    return job_object(API_VERSION, "RayService", name, spec.cluster, service)


def _cluster(spec: RayClusterSpec) -> Manifest:
    first = next(iter(spec.groups.values()))
    cluster: Manifest = {
        "headGroupSpec": _head(spec.head, spec.head.image or first.image),
        "workerGroupSpecs": [worker_group(name, group) for name, group in spec.groups.items()],
    }
    if spec.ray_version is not None:
        cluster["rayVersion"] = spec.ray_version
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        mount(group["template"], config_maps=spec.config_maps, buckets=spec.buckets, claims=spec.claims)
    if spec.autoscaling:
        cluster["headGroupSpec"]["template"]["spec"]["containers"][0]["ports"].append(_AUTOSCALER_METRICS)
        cluster["enableInTreeAutoscaling"] = True
        cluster["autoscalerOptions"] = {"version": "v2", "idleTimeoutSeconds": spec.idle_timeout_seconds}
    return cluster


def _head(head: HeadSpec, image: str) -> Manifest:
    resources = {"cpu": canonical(head.cpu), "memory": canonical(f"{head.memory_gb}Gi")}
    env = dashboard_environment(head.dashboard) if head.dashboard else None
    made: Manifest = filled(PARTS["rayHead"], {"$image": image, "$env": env, "$resources": resources})
    return made
