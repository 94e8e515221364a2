"""A bucket as a volume: what pods of a namespace mount through Cloud Storage FUSE."""

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.plan.queue_model import ClaimPlan


def make_claim(
    name: str, namespace: pulumi.Resource, place: str, plan: ClaimPlan, opts: pulumi.ResourceOptions
) -> None:
    """Create the PersistentVolume and its claim in the namespace `place`.

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
            "csi": {"driver": plan.driver, "volume_handle": plan.bucket, "volume_attributes": plan.attributes},
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
