"""Multislice: one program on N equal slices, as a JobSet of which each job is a slice."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from tpuplane.labels import GKE_POOL_LABEL
from tpuplane.spec.core.fields import Namespace, refuse
from tpuplane.workloads.names import QUEUE_PATH, LabelName, check_name, job_labels
from tpuplane.workloads.pods import INT32, MOST_REPLICAS, Manifest, pod_spec
from tpuplane.workloads.slices import SliceGroupSpec

API_VERSION = "jobset.x-k8s.io/v1alpha2"
_JOB = "slice"
# What JobSet takes no change of (its webhook and CRD), with the coordinator, which pods learn when they are made; and
# the queue. Not ttlSecondsAfterFinished, which JobSet reads at the end.
MULTISLICE_REPLACE_ON = (
    QUEUE_PATH,
    "spec.coordinator",
    "spec.failurePolicy",
    "spec.replicatedJobs",
)
_COORDINATOR_PORT = 8476  # jax.distributed
_MEGASCALE_PORT = 8080


class MultisliceSpec(SliceGroupSpec):
    """A program on one or more slices of one shape."""

    namespace: Namespace
    """Namespace that it runs in. A change replaces it."""

    slices: Annotated[int, Field(ge=1, le=MOST_REPLICAS)] = 1
    """Slices, at most 100,000. More than one are joined over the data-centre network. Default 1. A change replaces
    it."""

    command: Annotated[tuple[str, ...], Field(min_length=1)]
    """What every host runs. A change replaces it."""

    queue: LabelName | None = None
    """Local queue that admits it. Default: the namespace's own. A change replaces it."""

    priority_class: LabelName | None = None
    """Workload priority class. Default: none. Another one is changed in place; a first one Kueue refuses while it runs,
    and none where there was one always."""

    placement: Literal["topology", "exclusive"] = "topology"
    """Who keeps each slice's pods on one node pool: Kueue, by topology, or JobSet, by affinity (`exclusive`), where the
    queue's flavors have no topology or there is no queue. Default topology. A change replaces it."""

    max_restarts: Annotated[int, Field(ge=0, le=INT32)] = 3
    """How often all slices start again after a failure. Default 3; what host maintenance ends does not count. A change
    replaces it."""

    keep_seconds: Annotated[int, Field(ge=0, le=INT32)] | None = None
    """How long it stays after its end, in seconds. Default: until it is deleted. Changed in place while it is there; a
    `refresh` after that makes the next `up` run it anew."""

    set_megascale: bool = False
    """Set the multislice environment (MEGASCALE_*, TPU_WORKER_*) here. Default false: GKE does. A change
    replaces it."""

    @model_validator(mode="after")
    def _check_multislice(self) -> MultisliceSpec:
        shape = self.slice
        if self.slices > 1 and not (shape.multi_host and shape.generation.multislice):
            raise refuse(
                f"slices: {self.slices} slices of {shape} cannot be joined; allowed: 1, or a multi-host topology of a "
                "generation with multislice"
            )
        twice = [it["name"] for it in _environment("", self) if it["name"] in self.env] if self.set_megascale else []
        if twice:
            raise refuse(f"env.{twice[0]}: setMegascale sets it, too; remove one")
        return self


def multislice_manifest(name: str, spec: MultisliceSpec) -> Manifest:
    """A JobSet. Losing a host to maintenance starts everything again and counts as no failure.

    Raises `SpecError` if none can have this name.
    """
    check_name("Multislice", name)
    shape = spec.slice
    labels = job_labels(spec.queue, spec.priority_class)
    metadata: Manifest = {"name": name, "namespace": spec.namespace, "labels": labels}
    if spec.placement == "exclusive" and shape.multi_host:
        metadata["annotations"] = {"alpha.jobset.sigs.k8s.io/exclusive-topology": GKE_POOL_LABEL}
    env = _environment(name, spec) if spec.set_megascale else []
    pod = {
        **pod_spec(spec, "main", {"command": list(spec.command), "ports": _ports()}, env),
        "restartPolicy": "Never",
    }
    body: Manifest = {
        "failurePolicy": {
            "maxRestarts": spec.max_restarts,
            "rules": [
                {
                    "name": "hostMaintenance",
                    "action": "RestartJobSetAndIgnoreMaxRestarts",
                    "onJobFailureReasons": ["PodFailurePolicy"],
                }
            ],
        },
        "coordinator": {"replicatedJob": _JOB, "jobIndex": 0, "podIndex": 0},
        "replicatedJobs": [{"name": _JOB, "replicas": spec.slices, "template": {"spec": _job(spec, pod)}}],
    }
    if spec.keep_seconds is not None:
        body["ttlSecondsAfterFinished"] = spec.keep_seconds
    return {"apiVersion": API_VERSION, "kind": "JobSet", "metadata": metadata, "spec": body}


def _job(spec: MultisliceSpec, pod: Manifest) -> Manifest:
    hosts = spec.slice.hosts
    return {
        "parallelism": hosts,
        "completions": hosts,
        "backoffLimit": 0,
        "podFailurePolicy": {
            "rules": [{"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
        },
        "template": {"metadata": _pod_metadata(spec), "spec": pod},
    }


def _pod_metadata(spec: MultisliceSpec) -> Manifest:
    """With topology: each slice wholly on one node pool. Without the preference Kueue 0.16 stops at the first pool that
    is taken, although others are free."""
    if spec.placement != "topology" or not spec.slice.multi_host:
        return {}
    return {
        "annotations": {
            "kueue.x-k8s.io/podset-slice-required-topology": GKE_POOL_LABEL,
            "kueue.x-k8s.io/podset-slice-size": str(spec.slice.hosts),
            "kueue.x-k8s.io/podset-preferred-topology": GKE_POOL_LABEL,
        }
    }


def _ports() -> list[dict[str, Any]]:
    return [
        {"name": "coordinator", "containerPort": _COORDINATOR_PORT},
        {"name": "megascale", "containerPort": _MEGASCALE_PORT},
    ]


def _environment(name: str, spec: MultisliceSpec) -> list[dict[str, Any]]:
    """The place of a pod among hosts and slices, from the labels that JobSet and Job give it."""
    host = f"{name}-{_JOB}-$(MEGASCALE_SLICE_ID)"
    return [
        _from_field("MEGASCALE_SLICE_ID", "metadata.labels['jobset.sigs.k8s.io/job-index']"),
        _from_field("TPU_WORKER_ID", "metadata.labels['batch.kubernetes.io/job-completion-index']"),
        {"name": "TPU_WORKER_HOSTNAMES", "value": ",".join(f"{host}-{i}.{name}" for i in range(spec.slice.hosts))},
        {"name": "MEGASCALE_NUM_SLICES", "value": str(spec.slices)},
        {"name": "MEGASCALE_COORDINATOR_ADDRESS", "value": f"{name}-{_JOB}-0-0.{name}:{_MEGASCALE_PORT}"},
    ]


def _from_field(name: str, path: str) -> dict[str, Any]:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
