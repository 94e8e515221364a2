"""Names and labels of workloads. KubeRay reports a name that is too long only in a status, after its creation."""

import re
from typing import Annotated, Any, Protocol

from tpuplane.labels import PRIORITY_CLASS_LABEL, QUEUE_LABEL
from tpuplane.spec.core.errors import Mistake, SpecError, shown
from tpuplane.spec.core.fields import text

# KubeRay: ray-operator/controllers/ray/utils/constant.go, v1.6.2. JobSet uses the coordinator's address,
# NAME-slice-0-0.NAME, as a label, which has at most 63 characters (pkg/webhooks/jobset_webhook.go, v0.12.0).
# Kubernetes uses the name of a Job as a label too. NAME-GROUP of a LeaderWorkerSet is a StatefulSet, whose pods have a
# label with its name and a hash: at most 52 characters (https://github.com/kubernetes/kubernetes/issues/64023).
_LONGEST = {"RayCluster": 53, "RayJob": 47, "RayService": 47, "JobSet": 26, "Job": 63, "LeaderWorkerSet": 46}


def check_name(kind: str, name: str) -> None:
    """Raise `SpecError` if the name is not a DNS-1035 label, or too long for the suffixes of the operator."""
    most = _LONGEST[kind]
    if not re.fullmatch("[a-z](?:[-a-z0-9]*[a-z0-9])?", name) or len(name) > most:
        allowed = (
            f"1 to {most} lower-case letters, digits and hyphens, starting with a letter, not ending with a hyphen"
        )
        raise SpecError([Mistake(("name",), f"{shown(name)} is not a valid name of a {kind}; allowed: {allowed}")])


ObjectName = Annotated[str, *text("objectName")]
"""The name of an object that pods mention, such as kube-root-ca.crt."""

LabelName = Annotated[str, *text("labelName")]
"""The name of an object that is the value of a label, and so at most as long as that."""

# Kueue rejects another queue for a running job, and accepts another priority class
# (https://github.com/kubernetes-sigs/kueue/blob/v0.18.3/pkg/controller/jobframework/validation.go).
QUEUE_PATH = f'metadata.labels["{QUEUE_LABEL}"]'


class _Queued(Protocol):
    @property
    def namespace(self) -> str: ...
    @property
    def queue(self) -> str | None: ...
    @property
    def priority_class(self) -> str | None: ...


def job_object(api_version: str, kind: str, name: str, work: _Queued, spec: dict[str, Any]) -> dict[str, Any]:
    """The object of a job with this `spec`. Raises `SpecError` if the name is not allowed."""
    check_name(kind, name)
    labels = {QUEUE_LABEL: work.queue, PRIORITY_CLASS_LABEL: work.priority_class}
    # At least one: for the engine, the first or last label is a change to `metadata.labels`, not below `QUEUE_PATH`.
    labels = {"app.kubernetes.io/managed-by": "tpuplane", **{label: value for label, value in labels.items() if value}}
    metadata = {"name": name, "namespace": work.namespace, "labels": labels}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
