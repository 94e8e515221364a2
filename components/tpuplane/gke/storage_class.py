"""A Kubernetes StorageClass, from which pods get disks."""

import pulumi_kubernetes as kubernetes

from tpuplane.gke.existing_cluster import AnyCluster
from tpuplane.plan.disks import DiskPlan


def make_storage_class(name: str, plan: DiskPlan, cluster: AnyCluster) -> None:
    """Create the class. Kubernetes never changes it, so a change replaces it; existing disks do not change."""
    kubernetes.storage.v1.StorageClass(
        name,
        metadata={"name": plan.name, "labels": {"app.kubernetes.io/managed-by": "tpuplane"}},
        provisioner=plan.provisioner,
        parameters=plan.parameters,
        reclaim_policy="Delete",
        volume_binding_mode="WaitForFirstConsumer",
        opts=cluster.in_cluster(),
    )
