"""The namespaces that a platform keeps in each of its clusters."""

from collections.abc import Sequence

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.gke.existing_cluster import AnyCluster
from tpuplane.gke.resource_options import after as waiting_for
from tpuplane.plan.cluster import DEFAULT_CLASS_LABEL
from tpuplane.spec.queues.teams import PodSecurity

_LEVEL = "pod-security.kubernetes.io"


def make_namespace(
    name: str,
    namespace: str,
    cluster: AnyCluster,
    after: Sequence[pulumi.Resource] = (),
    compute_class: str | None = None,
    pod_security: PodSecurity = "baseline",
) -> kubernetes.core.v1.Namespace:
    """Create one namespace with pod security labels. It is deleted with its cluster, and before the resources in
    `after`.

    `compute_class` is the default class of its pods. `pod_security` is the enforced level: `baseline` is sufficient for
    TPU pods since GKE 1.28. Kubernetes warns about pods that do not meet `restricted`.
    """
    labels = {DEFAULT_CLASS_LABEL: compute_class} if compute_class is not None else {}
    levels = {f"{_LEVEL}/enforce": pod_security, f"{_LEVEL}/warn": "restricted", f"{_LEVEL}/audit": "restricted"}
    return kubernetes.core.v1.Namespace(
        name,
        metadata={"name": namespace, "labels": {"app.kubernetes.io/managed-by": "tpuplane", **levels, **labels}},
        opts=waiting_for(cluster.in_cluster(), after),
    )
