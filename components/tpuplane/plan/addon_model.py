"""What a cluster's add-ons will be, as plain frozen values: see `model`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NAMESPACE_LABELS = {
    "app.kubernetes.io/managed-by": "tpuplane",
    # Operators ask for no more than this.
    "pod-security.kubernetes.io/enforce": "restricted",
}


@dataclass(frozen=True, slots=True)
class ChartPlan:
    """A Helm chart of exactly one release."""

    name: str
    version: str
    repository: str  # "oci://…" prefix, or the address of a Helm repository


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """The object that is sent as a dry run until the API server accepts it: then CRDs and webhooks answer."""

    group: str  # "kueue.x-k8s.io"
    version: str
    plural: str  # "resourceflavors"
    namespace: str | None  # None: it lives outside namespaces
    manifest: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AddonPlan:
    """An operator that the platform installs by its Helm chart."""

    key: str  # key in the user's file: "kueue", "jobset", "ray", "rayTpuWebhook", …
    title: str
    chart: ChartPlan
    namespace: str
    values: Mapping[str, Any]  # the chart's values
    after: tuple[str, ...]  # keys of those of this cluster that must be ready before
    probe: ProbePlan | None  # None: it brings no kinds
    namespace_by_chart: bool = False  # else the platform makes it
    secret: str | None = None  # in its namespace, made by no program: its pods wait for it, and no deployment does
