"""What the cluster autoscaler may do beyond the declared pools: node auto-provisioning."""

import pulumi
import pulumi_gcp as gcp

from tpuplane.gke.node_config import CLOUD_PLATFORM_SCOPE
from tpuplane.plan.cluster import ClusterPlan


def cluster_autoscaling(
    cluster: ClusterPlan, service_account: pulumi.Input[str], boot_disk_key: pulumi.Input[str] | None
) -> gcp.container.ClusterClusterAutoscalingArgsDict:
    """The autoscaling block of a cluster. Said even when off: the provider leaves alone what is not mentioned."""
    plan, by_class = cluster.auto_provisioning, cluster.default_compute_class
    if plan is None:
        # The provider would send limits that it remembers, and GKE refuses them without auto-provisioning.
        return {"enabled": False, "resource_limits": [], "default_compute_class_enabled": by_class}
    limits: list[gcp.container.ClusterClusterAutoscalingResourceLimitArgsDict] = [
        {"resource_type": "cpu", "maximum": plan.cpu},
        {"resource_type": "memory", "maximum": plan.memory_gb},
    ]
    limits += [{"resource_type": limit.resource_type, "maximum": limit.maximum} for limit in plan.tpu]
    return {
        "enabled": True,
        "default_compute_class_enabled": by_class,
        "autoscaling_profile": plan.autoscaling_profile,
        "resource_limits": limits,
        "auto_provisioning_locations": list(plan.zones),
        # Nobody reviews a pool that GKE makes, so it is as closed as the declared ones.
        "auto_provisioning_defaults": {
            "service_account": service_account,
            "oauth_scopes": [CLOUD_PLATFORM_SCOPE],
            "image_type": "COS_CONTAINERD",
            "boot_disk_kms_key": boot_disk_key,
            "disk_type": plan.disk_type,
            "disk_size": plan.disk_size_gb,
            "shielded_instance_config": {"enable_secure_boot": True, "enable_integrity_monitoring": True},
            "management": {"auto_repair": plan.auto_repair, "auto_upgrade": plan.auto_upgrade},
            "upgrade_settings": {
                "strategy": "SURGE",
                "max_surge": plan.max_surge,
                "max_unavailable": plan.max_unavailable,
            },
        },
    }
