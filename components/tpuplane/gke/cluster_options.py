"""A cluster's options as arguments of the cluster resource. Options that are off are also sent."""

import pulumi
import pulumi_gcp as gcp

from tpuplane.gke.pool_resource import CLOUD_PLATFORM_SCOPE
from tpuplane.plan import ClusterPlan
from tpuplane.plan.cluster_options import MaintenancePlan
from tpuplane.spec import ControlPlaneSpec


def private_cluster(
    plan: ControlPlaneSpec, *, global_access: bool
) -> gcp.container.ClusterPrivateClusterConfigArgsDict:
    """Private nodes, and the addresses of the control plane."""
    if not plan.ip_endpoint:
        # GKE drops settings of IP addresses, and the provider would show a difference at every update.
        return {"enable_private_nodes": True}
    return {
        "enable_private_nodes": True,
        "enable_private_endpoint": not plan.public_endpoint,
        "master_ipv4_cidr_block": plan.master_cidr,
        "master_global_access_config": {"enabled": global_access},
    }


def authorized_networks(plan: ControlPlaneSpec) -> gcp.container.ClusterMasterAuthorizedNetworksConfigArgsDict | None:
    """Address ranges with access to the control plane. Sent even if empty, because without it the endpoint is open to
    everyone."""
    if not plan.ip_endpoint:
        return None
    return {
        "gcp_public_cidrs_access_enabled": False,
        "cidr_blocks": [{"cidr_block": it.cidr, "display_name": it.name} for it in plan.authorized_networks],
    }


def addons(plan: ClusterPlan) -> gcp.container.ClusterAddonsConfigArgsDict:
    """Storage drivers and Ray. Each add-on is always sent, because the provider does not disable an omitted one."""
    return {
        "gce_persistent_disk_csi_driver_config": {"enabled": plan.storage.persistent_disk},
        "gcs_fuse_csi_driver_config": {"enabled": plan.storage.gcs_fuse},
        "gcp_filestore_csi_driver_config": {"enabled": plan.storage.filestore},
        "lustre_csi_driver_config": {"enabled": plan.storage.lustre},
        "ray_operator_configs": [
            {
                "enabled": plan.ray_operator,
                "ray_cluster_logging_config": {"enabled": plan.ray_operator},
                "ray_cluster_monitoring_config": {"enabled": plan.ray_operator},
            }
        ],
    }


def maintenance(plan: MaintenancePlan | None) -> gcp.container.ClusterMaintenancePolicyArgsDict | None:
    """Maintenance window and exclusions."""
    if plan is None:
        return None
    exclusions: list[gcp.container.ClusterMaintenancePolicyMaintenanceExclusionArgsDict] = []
    for exclusion in plan.exclusions:
        item: gcp.container.ClusterMaintenancePolicyMaintenanceExclusionArgsDict = {
            "exclusion_name": exclusion.name,
            "start_time": exclusion.start,
            "exclusion_options": {"scope": exclusion.scope},
        }
        if exclusion.end is None:
            item["exclusion_options"] = {"scope": exclusion.scope, "end_time_behavior": "UNTIL_END_OF_SUPPORT"}
        else:
            item["end_time"] = exclusion.end
        exclusions.append(item)
    return {
        "recurring_window": {"start_time": plan.start, "end_time": plan.end, "recurrence": plan.recurrence},
        "maintenance_exclusions": exclusions,
    }


def cluster_autoscaling(
    cluster: ClusterPlan, service_account: pulumi.Input[str], boot_disk_key: pulumi.Input[str] | None
) -> gcp.container.ClusterClusterAutoscalingArgsDict:
    """The autoscaling block of a cluster. Sent even if it is off, because the provider keeps omitted settings."""
    plan, by_class = cluster.auto_provisioning, cluster.default_compute_class
    if plan is None:
        # Otherwise the provider sends the limits of its state, and GKE rejects them without auto-provisioning.
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
        # New pools have the security settings of declared ones.
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
