"""The namespaces that a platform keeps in each of its clusters."""

from collections.abc import Sequence

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.gke.existing_cluster import AnyCluster
from tpuplane.gke.resource_options import after as waiting_for
from tpuplane.plan.cluster import DEFAULT_CLASS_LABEL
from tpuplane.plan.queue_model import NamespacePlan

_LEVEL = "pod-security.kubernetes.io"


def make_namespace(
    name: str, plan: NamespacePlan, cluster: AnyCluster, after: Sequence[pulumi.Resource]
) -> kubernetes.core.v1.Namespace:
    """Create one namespace with pod security labels. It is deleted with its cluster, and before the resources in
    `after`.

    The level `baseline` is sufficient for TPU pods since GKE 1.28. Kubernetes warns about pods that do not meet
    `restricted`.
    """
    labels = {"app.kubernetes.io/managed-by": "tpuplane", f"{_LEVEL}/enforce": plan.pod_security}
    labels |= {f"{_LEVEL}/warn": "restricted", f"{_LEVEL}/audit": "restricted"}
    if plan.compute_class is not None:
        labels[DEFAULT_CLASS_LABEL] = plan.compute_class
    opts = waiting_for(cluster.in_cluster(), after)
    return kubernetes.core.v1.Namespace(name, metadata={"name": plan.name, "labels": labels}, opts=opts)
