"""Kubernetes objects of a platform in each of its clusters: namespaces, storage classes, volumes and RAM disks."""

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.gke.existing_cluster import AnyCluster
from tpuplane.gke.resource_options import after as waiting_for
from tpuplane.labels import POOL_LABEL
from tpuplane.plan.cluster import DEFAULT_CLASS_LABEL
from tpuplane.plan.queue_model import ClaimPlan, NamespacePlan
from tpuplane.plan.storage import CheckpointingPlan, DiskPlan

_LEVEL = "pod-security.kubernetes.io"
_OURS = {"app.kubernetes.io/managed-by": "tpuplane"}


def make_namespace(
    name: str, plan: NamespacePlan, cluster: AnyCluster, after: Sequence[pulumi.Resource]
) -> kubernetes.core.v1.Namespace:
    """Create one namespace with pod security labels. It is deleted with its cluster, and before the resources in
    `after`.

    The level `baseline` is sufficient for TPU pods since GKE 1.28. Kubernetes warns about pods that do not meet
    `restricted`.
    """
    labels = {**_OURS, f"{_LEVEL}/enforce": plan.pod_security}
    labels |= {f"{_LEVEL}/warn": "restricted", f"{_LEVEL}/audit": "restricted"}
    if plan.compute_class is not None:
        labels[DEFAULT_CLASS_LABEL] = plan.compute_class
    opts = waiting_for(cluster.in_cluster(), after)
    return kubernetes.core.v1.Namespace(name, metadata={"name": plan.name, "labels": labels}, opts=opts)


def make_storage_class(name: str, plan: DiskPlan, cluster: AnyCluster) -> None:
    """Create the class. Kubernetes never changes it, so a change replaces it; existing disks do not change."""
    kubernetes.storage.v1.StorageClass(
        name,
        metadata={"name": plan.name, "labels": _OURS},
        provisioner=plan.provisioner,
        parameters=plan.parameters,
        reclaim_policy="Delete",
        volume_binding_mode="WaitForFirstConsumer",
        opts=cluster.in_cluster(),
    )


def make_claim(
    name: str,
    namespace: pulumi.Resource,
    place: str,
    plan: ClaimPlan,
    attributes: Mapping[str, pulumi.Input[str]],
    opts: pulumi.ResourceOptions,
) -> None:
    """Create the PersistentVolume and its claim in the namespace `place`, by which its pods mount a bucket or a file
    system. `attributes` are those that Google decides.

    Both are replaced together, because a volume accepts no second claim. Kubernetes deletes a claim only after the last
    pod that uses it. So the claim is not deleted before its namespace, but with it and its pods.
    """
    volume = kubernetes.core.v1.PersistentVolume(
        f"{name}-volume",
        metadata={"name": plan.volume},
        spec={
            "capacity": {"storage": plan.size},
            "access_modes": [plan.mode],
            "persistent_volume_reclaim_policy": "Retain",
            "storage_class_name": plan.storage_class,
            "mount_options": list(plan.options),
            "claim_ref": {"namespace": place, "name": plan.name},
            "csi": {
                "driver": plan.driver,
                "volume_handle": plan.handle,
                "volume_attributes": {**plan.attributes, **attributes},
                "read_only": plan.read_only or None,
            },
        },
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(replace_on_changes=["spec"])),
    )
    kubernetes.core.v1.PersistentVolumeClaim(
        name,
        metadata={"name": plan.name, "namespace": place},
        spec={
            "access_modes": [plan.mode],
            "resources": {"requests": {"storage": plan.size}},
            "storage_class_name": plan.storage_class,
            "volume_name": volume.metadata.name,
        },
        opts=pulumi.ResourceOptions.merge(
            opts, pulumi.ResourceOptions(depends_on=[namespace], deleted_with=namespace, replace_with=[volume])
        ),
    )


def make_checkpointing(
    name: str, plan: CheckpointingPlan, cluster: AnyCluster, after: Sequence[pulumi.Resource]
) -> None:
    """Create GKE's CheckpointConfiguration after the buckets in `after`: the driver with a RAM disk on each host of a
    pool. A change replaces it, because GKE never changes its driver.

    The driver tolerates every taint, as GKE's other drivers do, so that it stays on a host as long as the job.
    """
    kubernetes.apiextensions.CustomResource(
        name,
        api_version="checkpointing.gke.io/v1",
        kind="CheckpointConfiguration",
        metadata={"name": plan.pool, "labels": _OURS},
        spec={
            "cloudStorageBucketName": plan.bucket,
            "nodeSelector": {POOL_LABEL: plan.pool},
            "tolerations": [{"operator": "Exists"}],
            "inMemoryVolumeSize": plan.size,
            "gcsFuseMountOptions": list(plan.mount_options),
        },
        opts=pulumi.ResourceOptions.merge(
            waiting_for(cluster.in_cluster(), after), pulumi.ResourceOptions(replace_on_changes=["spec"])
        ),
    )
