"""A cluster's options as arguments of the cluster resource. What is off is said too, so that it can be turned off."""

from typing import NotRequired, TypedDict

import pulumi
import pulumi_gcp as gcp

from tpuplane.plan import ClusterPlan, MaintenancePlan
from tpuplane.spec import ControlPlaneSpec
from tpuplane.spec.cluster.options import MonitoringSpec, SecuritySpec


class EndpointOptions(TypedDict):
    """Arguments of the cluster resource."""

    control_plane_endpoints_config: gcp.container.ClusterControlPlaneEndpointsConfigArgsDict
    private_cluster_config: gcp.container.ClusterPrivateClusterConfigArgsDict
    master_authorized_networks_config: NotRequired[gcp.container.ClusterMasterAuthorizedNetworksConfigArgsDict]


class SecurityOptions(TypedDict):
    """Arguments of the cluster resource."""

    database_encryption: gcp.container.ClusterDatabaseEncryptionArgsDict
    security_posture_config: gcp.container.ClusterSecurityPostureConfigArgsDict
    binary_authorization: gcp.container.ClusterBinaryAuthorizationArgsDict
    anonymous_authentication_config: gcp.container.ClusterAnonymousAuthenticationConfigArgsDict
    secret_manager_config: gcp.container.ClusterSecretManagerConfigArgsDict
    authenticator_groups_config: NotRequired[gcp.container.ClusterAuthenticatorGroupsConfigArgsDict]


class ObservationOptions(TypedDict):
    """Arguments of the cluster resource."""

    logging_config: gcp.container.ClusterLoggingConfigArgsDict
    monitoring_config: gcp.container.ClusterMonitoringConfigArgsDict
    cost_management_config: gcp.container.ClusterCostManagementConfigArgsDict


def endpoint_options(plan: ControlPlaneSpec, *, global_access: bool) -> EndpointOptions:
    """Who reaches the control plane, and how."""
    options: EndpointOptions = {
        "control_plane_endpoints_config": {
            "dns_endpoint_config": {"allow_external_traffic": plan.dns_endpoint},
            "ip_endpoints_config": {"enabled": plan.ip_endpoint},
        },
        "private_cluster_config": {"enable_private_nodes": True},
    }
    if not plan.ip_endpoint:
        return options  # GKE drops what is said of addresses, and the provider would show a difference for ever
    options["private_cluster_config"] = {
        "enable_private_nodes": True,
        "enable_private_endpoint": not plan.public_endpoint,
        "master_ipv4_cidr_block": plan.master_cidr,
        "master_global_access_config": {"enabled": global_access},
    }
    # Present even when empty: without the block the endpoint is open to everyone.
    options["master_authorized_networks_config"] = {
        "gcp_public_cidrs_access_enabled": False,
        "cidr_blocks": [
            {"cidr_block": allowed.cidr, "display_name": allowed.name} for allowed in plan.authorized_networks
        ],
    }
    return options


def security_options(plan: SecuritySpec, secrets_key: pulumi.Input[str] | None) -> SecurityOptions:
    """How the cluster is guarded."""
    options: SecurityOptions = {
        "database_encryption": {"state": "DECRYPTED"}
        if secrets_key is None
        else {"state": "ENCRYPTED", "key_name": secrets_key},
        "security_posture_config": {"mode": plan.posture, "vulnerability_mode": "VULNERABILITY_DISABLED"},
        "binary_authorization": {"evaluation_mode": plan.binary_authorization},
        "anonymous_authentication_config": {"mode": plan.anonymous_authentication},
        "secret_manager_config": {"enabled": plan.secret_manager},
    }
    if plan.security_group is not None:
        options["authenticator_groups_config"] = {"security_group": plan.security_group}
    return options


def observation_options(plan: MonitoringSpec, *, cost_allocation: bool) -> ObservationOptions:
    """What is measured and logged, and how the bill is divided."""
    return {
        "logging_config": {"enable_components": list(plan.logs)},
        "monitoring_config": {
            "enable_components": list(plan.components or ()),
            "managed_prometheus": {"enabled": plan.managed_prometheus},
        },
        "cost_management_config": {"enabled": cost_allocation},
    }


def addons(plan: ClusterPlan) -> gcp.container.ClusterAddonsConfigArgsDict:
    """Drivers for volumes, and Ray. The provider leaves an add-on alone that is no longer mentioned."""
    return {
        "gce_persistent_disk_csi_driver_config": {"enabled": plan.settings.storage.persistent_disk},
        "gcs_fuse_csi_driver_config": {"enabled": plan.settings.storage.gcs_fuse},
        "gcp_filestore_csi_driver_config": {"enabled": plan.settings.storage.filestore},
        "lustre_csi_driver_config": {"enabled": plan.settings.storage.lustre},
        "ray_operator_configs": [
            {
                "enabled": plan.ray_operator,
                "ray_cluster_logging_config": {"enabled": plan.ray_operator},
                "ray_cluster_monitoring_config": {"enabled": plan.ray_operator},
            }
        ],
    }


def maintenance(plan: MaintenancePlan | None) -> gcp.container.ClusterMaintenancePolicyArgsDict | None:
    """When GKE may maintain the cluster."""
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
