"""The GKE cluster of a plan: a Standard cluster without a default node pool, by the blocks of Google's API."""

from dataclasses import dataclass

import pulumi
import pulumi_gcp as gcp

from tpuplane.gke.pool_resource import CLOUD_PLATFORM_SCOPE
from tpuplane.gke.resource_options import waiting_like
from tpuplane.plan import ClusterPlan

# Of the removed first pool. GKE then reports another pool, and a difference would replace the cluster. In an adopted
# cluster, it would delete the default pool.
_OF_THE_FIRST_POOL = ("node_config", "initial_node_count", "remove_default_node_pool")


@dataclass(frozen=True)
class Identities:
    """The values that a program may know only while the engine runs: place, account and keys of a cluster."""

    project: pulumi.Input[str]
    network: pulumi.Input[str]
    subnetwork: pulumi.Input[str]
    service_account: pulumi.Input[str] | None = None
    secrets_key: pulumi.Input[str] | None = None
    boot_disk_key: pulumi.Input[str] | None = None


def gke_cluster(
    name: str, plan: ClusterPlan, known: Identities, opts: pulumi.ResourceOptions | None, own: pulumi.ResourceOptions
) -> gcp.container.Cluster:
    """Register the GKE cluster of one plan. `opts` are the options of its component, `own` further ones."""
    security, key = plan.hardening, known.secrets_key
    return gcp.container.Cluster(
        name,
        name=plan.name,
        project=known.project,
        location=plan.location,
        # Google includes a zonal cluster's own zone, and rejects it in this list.
        node_locations=[zone for zone in plan.node_zones if zone != plan.location] or None,
        release_channel={"channel": plan.release_channel},
        min_master_version=plan.version,
        cluster_autoscaling=_cluster_autoscaling(plan, known),
        maintenance_policy=_maintenance(plan),
        deletion_protection=plan.deletion_protection,
        resource_labels=plan.resource_labels,
        # Node pools are separate resources, but GKE requires a first one, which is removed after some minutes.
        remove_default_node_pool=True,
        initial_node_count=1,
        node_config=_first_pool(plan, known),
        network=known.network,
        subnetwork=known.subnetwork,
        networking_mode="VPC_NATIVE",
        ip_allocation_policy={
            "cluster_secondary_range_name": plan.pods_range,
            "services_secondary_range_name": plan.services_range,
        },
        datapath_provider="ADVANCED_DATAPATH",
        enable_intranode_visibility=True,
        enable_multi_networking=plan.multi_networking or None,
        enable_cilium_clusterwide_network_policy=security.clusterwide_network_policy or None,
        enable_fqdn_network_policy=security.fqdn_network_policy or None,
        gateway_api_config={"channel": plan.gateway_api} if plan.gateway_api else None,
        master_auth={"client_certificate_config": {"issue_client_certificate": False}},
        enable_legacy_abac=False,
        rbac_binding_config={
            "enable_insecure_binding_system_authenticated": False,
            "enable_insecure_binding_system_unauthenticated": False,
        },
        workload_identity_config={"workload_pool": pulumi.Output.concat(known.project, ".svc.id.goog")},
        enable_shielded_nodes=True,
        addons_config=_addons(plan),
        control_plane_endpoints_config={
            "dns_endpoint_config": {"allow_external_traffic": plan.control_plane.dns_endpoint},
            "ip_endpoints_config": {"enabled": plan.control_plane.ip_endpoint},
        },
        private_cluster_config=_private_cluster(plan),
        master_authorized_networks_config=_authorized_networks(plan),
        database_encryption={"state": "DECRYPTED"} if key is None else {"state": "ENCRYPTED", "key_name": key},
        security_posture_config={"mode": security.posture, "vulnerability_mode": "VULNERABILITY_DISABLED"},
        binary_authorization={"evaluation_mode": security.binary_authorization},
        anonymous_authentication_config={"mode": security.anonymous_authentication},
        secret_manager_config={"enabled": security.secret_manager},
        authenticator_groups_config={"security_group": security.security_group} if security.security_group else None,
        logging_config={"enable_components": list(plan.monitoring.logs)},
        monitoring_config={
            "enable_components": list(plan.monitoring.components or ()),
            "managed_prometheus": {"enabled": plan.monitoring.managed_prometheus},
        },
        cost_management_config={"enabled": plan.cost_allocation},
        opts=waiting_like(opts, pulumi.ResourceOptions.merge(_options(plan), own)),
    )


def _options(plan: ClusterPlan) -> pulumi.ResourceOptions:
    return pulumi.ResourceOptions(
        # Google rejects the deletion, and with `protect` Pulumi rejects it in the preview.
        protect=plan.deletion_protection or None,  # None: the option of the component
        delete_before_replace=True,
        ignore_changes=[*_OF_THE_FIRST_POOL, *plan.kept],
        custom_timeouts=pulumi.CustomTimeouts(create="60m", update="90m", delete="60m"),
    )


def _first_pool(plan: ClusterPlan, known: Identities) -> gcp.container.ClusterNodeConfigArgsDict | None:
    """The pool that GKE requires at first. It has the system pool's machine type and service account: the default
    machine type is not available in every zone, and the default service account has too many permissions or is
    disabled."""
    if plan.system_pool is None:
        return None
    return {
        "machine_type": plan.system_pool.machine_type,
        "disk_type": plan.system_pool.disk_type,
        "boot_disk_kms_key": known.boot_disk_key,
        "service_account": known.service_account,
        "oauth_scopes": [CLOUD_PLATFORM_SCOPE],
        "workload_metadata_config": {"mode": "GKE_METADATA"},
        "shielded_instance_config": {"enable_secure_boot": True, "enable_integrity_monitoring": True},
    }


def _private_cluster(plan: ClusterPlan) -> gcp.container.ClusterPrivateClusterConfigArgsDict:
    if not plan.control_plane.ip_endpoint:
        # GKE drops settings of IP addresses, and the provider would show a difference at every update.
        return {"enable_private_nodes": True}
    return {
        "enable_private_nodes": True,
        "enable_private_endpoint": not plan.control_plane.public_endpoint,
        "master_ipv4_cidr_block": plan.control_plane.master_cidr,
        "master_global_access_config": {"enabled": plan.global_access},
    }


def _authorized_networks(plan: ClusterPlan) -> gcp.container.ClusterMasterAuthorizedNetworksConfigArgsDict | None:
    """Address ranges with access to the control plane. Sent even if empty, because without it the endpoint is open to
    everyone."""
    if not plan.control_plane.ip_endpoint:
        return None
    allowed = plan.control_plane.authorized_networks
    return {
        "gcp_public_cidrs_access_enabled": False,
        "cidr_blocks": [{"cidr_block": network.cidr, "display_name": network.name} for network in allowed],
    }


def _addons(plan: ClusterPlan) -> gcp.container.ClusterAddonsConfigArgsDict:
    """Storage drivers, Ray, the slice controller, checkpointing. Each add-on but the last two is always sent, because
    the provider does not disable an omitted one. Versions before the slice controller need not know its field.
    Checkpointing stays on, because nothing else ends the deletion of a CheckpointConfiguration."""
    addons: gcp.container.ClusterAddonsConfigArgsDict = {
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
    if plan.slice_controller is not None:
        addons["slice_controller_config"] = {"enabled": plan.slice_controller}
    if plan.checkpointing:
        addons["high_scale_checkpointing_config"] = {"enabled": True}
    return addons


def _maintenance(cluster: ClusterPlan) -> gcp.container.ClusterMaintenancePolicyArgsDict | None:
    if (plan := cluster.maintenance) is None:
        return None
    exclusions: list[gcp.container.ClusterMaintenancePolicyMaintenanceExclusionArgsDict] = []
    for name, exclusion in plan.exclusions.items():
        item: gcp.container.ClusterMaintenancePolicyMaintenanceExclusionArgsDict = {
            "exclusion_name": name,
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


def _cluster_autoscaling(cluster: ClusterPlan, known: Identities) -> gcp.container.ClusterClusterAutoscalingArgsDict:
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
            "service_account": known.service_account,
            "oauth_scopes": [CLOUD_PLATFORM_SCOPE],
            "image_type": "COS_CONTAINERD",
            "boot_disk_kms_key": known.boot_disk_key,
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
