"""How workloads may be called, and what they name: objects of anyone. KubeRay says of a name that is too long in a
status alone, when all seems to have been made."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated

from pydantic import AfterValidator

from tpuplane.labels import PRIORITY_CLASS_LABEL, QUEUE_LABEL
from tpuplane.spec.core.errors import Mistake, SpecError, shown
from tpuplane.spec.core.fields import refuse

# KubeRay: ray-operator/controllers/ray/utils/constant.go, v1.6.1. JobSet makes a label of the coordinator's address,
# NAME-slice-0-0.NAME, and a label has 63 characters (pkg/webhooks/jobset_webhook.go, v0.12.0).
_LONGEST = {"RayCluster": 53, "RayJob": 47, "RayService": 47, "Multislice": 26}

# https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names
_SUBDOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")


def check_name(kind: str, name: str) -> None:
    """Raise `SpecError` if a workload of this kind cannot have the name, a DNS-1035 label that its operator extends."""
    most = _LONGEST[kind]
    if not re.fullmatch("[a-z](?:[-a-z0-9]*[a-z0-9])?", name) or len(name) > most:
        allowed = (
            f"1 to {most} lower-case letters, digits and hyphens, starting with a letter, not ending with a hyphen"
        )
        raise SpecError([Mistake(("name",), f"{shown(name)} is no name of a {kind}; allowed: {allowed}")])


def _at_most(most: int) -> Callable[[str], str]:
    def check(name: str) -> str:
        if not _SUBDOMAIN.fullmatch(name) or len(name) > most:
            raise refuse(
                f"{shown(name)} is no name of a Kubernetes object; allowed: 1 to {most} lower-case letters, digits, "
                "'-' and '.', each part between dots starting and ending with a letter or digit"
            )
        return name

    return check


ObjectName = Annotated[str, AfterValidator(_at_most(253))]
"""The name of an object that pods mention, such as kube-root-ca.crt."""

LabelName = Annotated[str, AfterValidator(_at_most(63))]
"""The name of an object that a label mentions: no longer than a label's value."""

# Kueue takes no other queue while a job runs; another priority class it takes in place
# (https://github.com/kubernetes-sigs/kueue/blob/v0.16.1/pkg/controller/jobframework/validation.go).
QUEUE_PATH = f'metadata.labels["{QUEUE_LABEL}"]'


def job_labels(queue: str | None, priority_class: str | None) -> dict[str, str]:
    """Labels of a job; never none, because the engine calls the first and the last label a change of `metadata.labels`,
    which does not lie below `QUEUE_PATH`."""
    said = {QUEUE_LABEL: queue, PRIORITY_CLASS_LABEL: priority_class}
    return {"app.kubernetes.io/managed-by": "tpuplane", **{label: value for label, value in said.items() if value}}
