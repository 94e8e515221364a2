"""A bucket or file system as a volume that pods of a namespace mount."""

from collections.abc import Mapping

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.plan.queue_model import ClaimPlan


def make_claim(
    name: str,
    namespace: pulumi.Resource,
    place: str,
    plan: ClaimPlan,
    attributes: Mapping[str, pulumi.Input[str]],
    opts: pulumi.ResourceOptions,
) -> None:
    """Create the PersistentVolume and its claim in the namespace `place`. `attributes` are those that Google decides.

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
