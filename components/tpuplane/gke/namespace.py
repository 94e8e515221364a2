"""The namespaces that a platform keeps in each of its clusters."""

from collections.abc import Sequence

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.gke.existing_cluster import AnyCluster
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
    """Make one namespace with pod security labels. It is deleted with its cluster, and before what it comes after.

    Its pods get `compute_class` unless they ask for another, and keep to `pod_security`: TPU pods need no privilege
    since GKE 1.28, so baseline holds them all. Kubernetes warns of what falls short of restricted.
    """
    labels = {DEFAULT_CLASS_LABEL: compute_class} if compute_class is not None else {}
    levels = {f"{_LEVEL}/enforce": pod_security, f"{_LEVEL}/warn": "restricted", f"{_LEVEL}/audit": "restricted"}
    return kubernetes.core.v1.Namespace(
        name,
        metadata={
            "name": namespace,
            "labels": {"app.kubernetes.io/managed-by": "tpuplane", **levels, **labels},
        },
        opts=pulumi.ResourceOptions.merge(cluster.in_cluster(), pulumi.ResourceOptions(depends_on=list(after))),
    )
