"""Multislice: one program on N equal slices, as a JobSet with one job for each slice, or on one host as a Job."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from tpuplane.data_files import filled, formatted
from tpuplane.labels import GKE_POOL_LABEL, SLICE_TOPOLOGY, TOPOLOGY_LABEL, sub_slice_label
from tpuplane.spec.core.fields import WorkNamespace, reject
from tpuplane.spec.core.texts import text_problem
from tpuplane.tpu import Slice, SliceError
from tpuplane.workloads.accelerators import SliceGroupSpec
from tpuplane.workloads.names import QUEUE_PATH, LabelName, ObjectName, job_object
from tpuplane.workloads.pods import INT32, MOST_REPLICAS, PARTS, Manifest, pod_spec
from tpuplane.workloads.volumes import Folder, mount

API_VERSION = "jobset.x-k8s.io/v1alpha2"
_CONTAINER = "main"
# Fields that JobSet's webhook and CRD do not allow to change; the coordinator, which pods get at their creation; and
# the queue. Not ttlSecondsAfterFinished, which JobSet reads at the end.
MULTISLICE_REPLACE_ON = (QUEUE_PATH, "spec.coordinator", "spec.failurePolicy", "spec.replicatedJobs")


class MultisliceSpec(SliceGroupSpec):
    """A program on one or more slices of one shape."""

    namespace: WorkNamespace
    """Namespace of the workload. A change replaces it."""

    slices: Annotated[int, Field(ge=1, le=MOST_REPLICAS)] = 1
    """Slices, at most 100,000. Several slices are joined over the data-centre network. Default 1. A change replaces
    it."""

    command: Annotated[tuple[str, ...], Field(min_length=1)]
    """Command of every host. A change replaces it."""

    queue: LabelName | None = None
    """Local queue that admits it. Default: the default queue of the namespace. A change replaces it."""

    priority_class: LabelName | None = None
    """Workload priority class. Default: none. Changed in place from one class to another. Kueue rejects a first class
    for a running workload, and always rejects the removal of the class."""

    claims: dict[Folder, ObjectName] = Field(default_factory=dict)
    """PersistentVolumeClaims of the namespace for buckets by their folder, such as those that a platform makes for its
    teams. Default: none. A change replaces it."""

    placement: Literal["topology", "exclusive", "dynamic"] = "topology"
    """How the pods of a slice stay on one node pool: by Kueue's topology, or by JobSet's affinity (`exclusive`) if the
    flavors of the queue have no topology or there is no queue. With `dynamic`, Kueue's slice controller has a slice of
    tpu7x cubes made for them. Default topology. A change replaces it."""

    sub_slice_of: str | None = None
    """Topology of larger slices, such as 8x8, whose pool offers `topology` as a part. Default: whole slices. A change
    replaces it."""

    max_restarts: Annotated[int, Field(ge=0, le=INT32)] = 3
    """Most restarts of all slices after failures. Default 3. Host maintenance does not count. A change replaces it."""

    restart_on_exit_codes: tuple[Annotated[int, Field(ge=1, le=255)], ...] = ()
    """Exit codes of the program, such as 42, after which all slices restart. Any other failure of the program then ends
    it at once. Default: every failure restarts them. A change replaces it."""

    keep_seconds: Annotated[int, Field(ge=0, le=INT32)] | None = None
    """Time until its deletion after its end, in seconds. Default: no deletion. Changed in place while it exists. After
    its deletion and a `refresh`, the next `up` runs it again."""

    deadline_seconds: Annotated[int, Field(ge=1, le=INT32)] | None = None
    """Time limit in seconds, after which it fails. Waiting in a queue does not count, and a restart begins again.
    Default: none. A change replaces it."""

    set_megascale: bool = False
    """Set the multislice environment (MEGASCALE_*, TPU_WORKER_*) in the JobSet. Default false: GKE sets it. A change
    replaces it."""

    @property
    def device_labels(self) -> dict[str, str]:
        """The labels of the hosts: those of the whole slices, of which each slice may be a part. Cubes have none."""
        labels = Slice.of(self.generation, self.sub_slice_of or self.topology, self.machine_type).node_labels
        return {key: value for key, value in labels.items() if (key, self.placement) != (TOPOLOGY_LABEL, "dynamic")}

    @property
    def domain(self) -> str:
        """The label of hosts whose value is the same for all hosts of a slice."""
        return GKE_POOL_LABEL if self.sub_slice_of is None else sub_slice_label(self.topology)

    @model_validator(mode="after")
    def _check_multislice(self) -> Self:
        shape = self.slice
        if problem := text_problem("command", self.command[0]):
            raise reject(f"command: {problem}")
        if self.sub_slice_of is not None:
            self._check_part(self.sub_slice_of)
        if self.placement == "dynamic":
            self._check_dynamic(shape)
        if self.slices > 1 and not (shape.multi_host and shape.generation.multislice):
            allowed = "1, or a multi-host topology of a generation with multislice"
            raise reject(f"slices: {self.slices} slices of {shape} cannot be joined; allowed: {allowed}")
        for variable in _environment("", self) if self.set_megascale else ():
            if variable["name"] in self.env:
                raise reject(f"env.{variable['name']}: setMegascale also sets it; remove one")
        return self

    def _check_dynamic(self, shape: Slice) -> None:
        generation, rule = shape.generation, shape.generation.rule
        if not generation.partitions:
            raise reject(f"placement: {generation.name} has no dynamic slices; allowed: topology, exclusive")
        if shape.topology not in generation.partitions and not (rule and rule.admits(shape.topology)):
            parts = ", ".join(generation.partitions)
            raise reject(f"topology: {shape.topology!r} is not a part of a cube; allowed: {parts}, or {rule}")

    def _check_part(self, whole: str) -> None:
        try:
            allowed = Slice.of(self.generation, whole, self.machine_type).sub_slices
        except SliceError as error:
            raise reject(f"subSliceOf: {error}") from None
        if self.topology not in allowed:
            parts = ", ".join(allowed) or "none"
            raise reject(f"topology: {self.topology!r} is not a part of {self.generation} {whole}; allowed: {parts}")
        if self.placement != "topology":
            combined = f"{self.placement!r} cannot be combined with subSliceOf"
            raise reject(f"placement: {combined}; allowed: topology; remove one of the two")


def multislice_manifest(name: str, spec: MultisliceSpec) -> Manifest:
    """A JobSet. Host maintenance restarts all jobs and does not count as a failure.

    Raises `SpecError` if the name is not allowed.
    """
    env = _environment(name, spec) if spec.set_megascale else []
    rules = [_rule("hostMaintenance", "RestartJobSetAndIgnoreMaxRestarts", "PodFailurePolicy")]
    if spec.restart_on_exit_codes:
        # A Job has the same reason after host maintenance, and another message (pkg/controller/job of Kubernetes).
        other = _rule("otherExitCode", "FailJobSet", "PodFailurePolicy")
        rules.insert(0, {**other, "onJobFailureMessagePatterns": [" failed with exit code "]})
    if spec.deadline_seconds is not None:
        rules.append(_rule("timeLimit", "FailJobSet", "DeadlineExceeded"))
    job = _job(spec, env, restarts=0, on_disruption="FailJob")
    values = {"$maxRestarts": spec.max_restarts, "$rules": rules, "$slices": spec.slices, "$job": job}
    body = filled(PARTS["jobSet"], {**values, "$keepSeconds": spec.keep_seconds})
    jobset = job_object(API_VERSION, "JobSet", name, spec, body)
    if spec.placement == "exclusive" and spec.slice.multi_host:
        jobset["metadata"]["annotations"] = {"alpha.jobset.sigs.k8s.io/exclusive-topology": GKE_POOL_LABEL}
    return jobset


def job_manifest(name: str, spec: MultisliceSpec) -> Manifest:
    """A Job, for slices of one host. Host maintenance restarts its pod and does not count as a failure.

    Raises `SpecError` if the name is not allowed.
    """
    body = _job(spec, [], restarts=spec.max_restarts, on_disruption="Ignore")
    if spec.keep_seconds is not None:
        body["ttlSecondsAfterFinished"] = spec.keep_seconds
    return job_object("batch/v1", "Job", name, spec, body)


def _rule(name: str, action: str, reason: str) -> Manifest:
    return {"name": name, "action": action, "onJobFailureReasons": [reason]}


def _job(spec: MultisliceSpec, env: list[dict[str, Any]], *, restarts: int, on_disruption: str) -> Manifest:
    pod = pod_spec(spec, _CONTAINER, {"command": list(spec.command), "ports": filled(PARTS["ports"], {})}, env)
    pod["restartPolicy"] = "Never"
    values: Manifest = {"$hosts": spec.slice.hosts, "$restarts": restarts, "$deadlineSeconds": spec.deadline_seconds}
    values |= {"$onDisruption": on_disruption, "$metadata": _pod_metadata(spec), "$pod": pod}
    job: Manifest = filled(PARTS["job"], values)
    if codes := sorted(set(spec.restart_on_exit_codes)):  # the API server requires this order
        other = {"containerName": _CONTAINER, "operator": "NotIn", "values": codes}
        job["podFailurePolicy"]["rules"].append({"action": "FailJob", "onExitCodes": other})
    mount(job["template"], config_maps={}, buckets={}, claims=spec.claims)
    return job


def _pod_metadata(spec: MultisliceSpec) -> Manifest:
    """With topology, each slice is on one node pool, or on one part of one. Without the preference, Kueue 0.16 does
    not look for free pools after the first pool that is in use."""
    if spec.placement == "dynamic":
        return {"annotations": {SLICE_TOPOLOGY: spec.topology}}
    if spec.placement != "topology" or not spec.slice.multi_host:
        return {}
    part = {} if spec.sub_slice_of is None else {SLICE_TOPOLOGY: spec.topology}
    values = {"$domain": spec.domain, "$hosts": str(spec.slice.hosts), "$pool": GKE_POOL_LABEL}
    return {"annotations": {**part, **filled(PARTS["topology"], values)}}


def _environment(name: str, spec: MultisliceSpec) -> list[dict[str, Any]]:
    hosts = (f"{name}-slice-$(MEGASCALE_SLICE_ID)-{host}.{name}" for host in range(spec.slice.hosts))
    values = {"name": name, "hostnames": ",".join(hosts), "slices": spec.slices}
    return list(formatted(PARTS["megascale"], values))
