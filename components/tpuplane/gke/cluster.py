"""A GKE Standard cluster with private nodes, Workload Identity and Dataplane V2, without a default node pool."""

import functools
from collections.abc import Sequence
from typing import Any, NotRequired

import pulumi
import pulumi_gcp as gcp
import pulumi_kubernetes as kubernetes

from tpuplane.args import ClusterSettingsArgs
from tpuplane.gke.arguments import in_plain_words, require
from tpuplane.gke.cluster_options import addons, authorized_networks, cluster_autoscaling, maintenance, private_cluster
from tpuplane.gke.deletion_guard import DeletionGuard, GuardedRef
from tpuplane.gke.keys import ClusterKeys, key_id
from tpuplane.gke.kubernetes_access import (
    cluster_id,
    cluster_kubeconfig,
    dns_authority,
    kubernetes_provider,
    token_kubeconfig,
)
from tpuplane.gke.node_pool import SystemNodePool
from tpuplane.gke.pool_resource import CLOUD_PLATFORM_SCOPE
from tpuplane.gke.resource_options import waiting_like
from tpuplane.gke.service_account import own_account
from tpuplane.plan.cluster import ClusterPlan
from tpuplane.plan.cluster_options import BOOT_DISK_KEY, SECRETS_KEY
from tpuplane.plan.components import planned_cluster
from tpuplane.plan.pools import NodePoolPlan

# Arguments that can be outputs of resources. The others describe the cluster.
_INPUTS = ("project", "network", "subnetwork", "service_account", "secrets_key", "boot_disk_key")

# Of the removed first pool. GKE then reports another pool, and a difference would replace the cluster. In an adopted
# cluster, it would delete the default pool.
_OF_THE_FIRST_POOL = ("node_config", "initial_node_count", "remove_default_node_pool")


class ClusterArgs(ClusterSettingsArgs):
    """Arguments of `Cluster`: the settings of a platform's cluster, and its network."""

    project: pulumi.Input[str]
    """Google Cloud project. A change replaces the cluster."""

    cluster_name: NotRequired[str]
    """Name of the cluster in Google Cloud. Default: the name of the component. A change replaces the cluster."""

    network: pulumi.Input[str]
    """ID or self link of the VPC. A change replaces the cluster."""

    subnetwork: pulumi.Input[str]
    """ID or self link of the subnetwork, in the cluster's region. A change replaces the cluster."""

    pods_range: NotRequired[str]
    """Secondary range of the subnetwork for pods. Default "pods". A change replaces the cluster."""

    services_range: NotRequired[str]
    """Secondary range of the subnetwork for Services. Default "services". A change replaces the cluster."""

    service_account: NotRequired[pulumi.Input[str]]
    """E-mail address of an existing service account for the nodes. Default: create one with the roles that a node
    needs. A change replaces the node pools."""

    secrets_key: NotRequired[pulumi.Input[str]]
    """Full resource name of an existing Cloud KMS key in the cluster's region, for Secrets. It replaces
    `security.secrets_encryption`. Changed in place."""

    boot_disk_key: NotRequired[pulumi.Input[str]]
    """Full resource name of an existing Cloud KMS key in the cluster's region, for boot disks. It replaces
    `security.boot_disk_encryption`. A change replaces the node pools."""


class Cluster(pulumi.ComponentResource):
    """A GKE cluster with private nodes, Workload Identity and Dataplane V2, and its CPU pool. In Python, `ref` is the
    argument `cluster` of node pools, and `in_cluster()` returns the options of objects in the cluster."""

    name: pulumi.Output[str]
    """Name in Google Cloud."""
    location: pulumi.Output[str]
    """Region or zone of the control plane."""
    endpoint: pulumi.Output[str]
    """Address of the control plane, without a scheme: the DNS name if external traffic to it is allowed, otherwise the
    public IP address, or the private one if there is no public one."""
    kubeconfig: pulumi.Output[str]
    """Kubeconfig that calls Google's auth plugin. It contains no credential."""
    node_service_account: pulumi.Output[str]
    """E-mail address of the service account of the nodes."""

    @in_plain_words
    def __init__(
        self,
        name: str,
        args: ClusterArgs,
        opts: pulumi.ResourceOptions | None = None,
        *,
        plan: ClusterPlan | None = None,
        stands_on: Sequence[pulumi.Resource] = (),
    ) -> None:
        """Create the cluster. `plan` is that of a `Platform`. Default: the plan of the arguments.

        `stands_on` are the resources whose replacement replaces the cluster: VPC and subnetwork of the same platform.

        Raises:
            SpecError: if the arguments have mistakes, before any resource is registered; one line for each mistake.

        """
        plan = plan or _planned(name, args)
        if plan.system_pool is None:
            raise ValueError(f"{name}: the plan is that of an existing cluster; use ExistingCluster")
        super().__init__("tpuplane:index:Cluster", name, {}, opts)
        existing = plan.existing_account or ""
        made = own_account(name, args["project"], plan, self)
        # The account with its roles: nodes depend on it. Empty for an existing account.
        self.identity: list[pulumi.Resource] = [] if made is None else [made]
        self._service_account = made.email if made is not None else args.get("service_account", existing)
        self.node_service_account = pulumi.Output.from_input(self._service_account)
        keys = self._keys(name, args["project"], plan)
        self._secrets_key = args.get("secrets_key") or key_id(SECRETS_KEY, plan.keys, keys)
        self._boot_disk_key = args.get("boot_disk_key") or key_id(BOOT_DISK_KEY, plan.keys, keys)
        self._waits = [*self.identity, *([] if keys is None else [keys])]
        self._guard = DeletionGuard(name, protected=plan.deletion_protection)
        self.resource = self._cluster(name, args, plan, plan.system_pool, opts)
        self._guard.watch(self.resource)
        self.name = self.resource.name
        self.location = self.resource.location
        # master_auth is secret as a whole because it can hold a client key. The CA certificate is public.
        self._authority = pulumi.Output.unsecret(self.resource.master_auth.cluster_ca_certificate)
        self.endpoint, authority = self._reached(plan.control_plane.dns_endpoint)
        self.kubeconfig = cluster_kubeconfig(self.resource.project, self.location, self.name, self.endpoint, authority)
        # Google's ID of the cluster. The provider compares it to detect another cluster.
        self.identifier = cluster_id(args["project"], plan.location, plan.name)
        if not plan.imported:
            self.provider  # noqa: B018 - registered now
        # The argument `cluster` of node pools.
        self.ref: GuardedRef = {
            "project": args["project"],
            "name": self.resource.name,
            "location": plan.location,
            "service_account": self._service_account,
            "guard": self._guard,
        }
        if self._boot_disk_key is not None:
            self.ref["boot_disk_key"] = self._boot_disk_key
        accounts = [] if made is None else [made.account]
        self._foundations = [*stands_on, *accounts, self.resource]
        # A node that starts before its account has its roles reports neither logs nor metrics, and pulls no image.
        after_roles = pulumi.ResourceOptions(parent=self, depends_on=self.identity)
        self.system_pool = SystemNodePool(f"{name}-system", {"cluster": self.ref}, after_roles, plan=plan.system_pool)
        self.register_outputs(
            {
                "name": self.name,
                "location": self.location,
                "endpoint": self.endpoint,
                "kubeconfig": self.kubeconfig,
                "nodeServiceAccount": self.node_service_account,
            }
        )

    def _keys(self, name: str, project: pulumi.Input[str], plan: ClusterPlan) -> ClusterKeys | None:
        if not plan.own_keys:
            return None
        protected, own = plan.deletion_protection, pulumi.ResourceOptions(parent=self)
        return ClusterKeys(f"{name}-keys", project, plan.region, plan.own_keys, protected=protected, opts=own)

    def _reached(self, by_name: bool) -> tuple[pulumi.Output[str], pulumi.Output[Any]]:
        """Address and CA certificate of the control plane."""
        if not by_name:
            return self.resource.endpoint, self._authority
        endpoint = self.resource.control_plane_endpoints_config.dns_endpoint_config.endpoint
        return endpoint, dns_authority(endpoint, self._authority)

    @functools.cached_property
    def provider(self) -> kubernetes.Provider:
        """The Kubernetes provider of the cluster. In an adopted cluster it exists only if something uses it, because
        `pulumi import` cannot add a provider to a stack."""
        return kubernetes_provider(self.pulumi_resource_name, self.identifier, self.kubeconfig, parent=self)

    def kubeconfig_inside(self, token: pulumi.Input[str]) -> pulumi.Output[str]:
        """Return a kubeconfig with `token`, for a pod in the VPC. It is a secret, because it contains the token.

        Its address is the private one, because pods have no public address in an authorized network.
        """
        address = self.resource.private_cluster_config.private_endpoint
        found = pulumi.Output.all(self.name, address, self._authority, token)
        return pulumi.Output.secret(found.apply(lambda it: token_kubeconfig(*it)))

    def in_cluster(self) -> pulumi.ResourceOptions:
        """Return the options of every object in this cluster.

        Such objects are deleted with their cluster, without a request to an API server that no longer exists. When the
        cluster is replaced, they are created again although their own inputs are unchanged. The options also name the
        resources that the cluster depends on, because the engine looks for such objects only at the start of a chain of
        replacements.
        """
        return pulumi.ResourceOptions(
            parent=self, provider=self.provider, deleted_with=self.resource, replace_with=self._foundations
        )

    def _cluster(
        self,
        name: str,
        args: ClusterArgs,
        plan: ClusterPlan,
        system_pool: NodePoolPlan,
        opts: pulumi.ResourceOptions | None,
    ) -> gcp.container.Cluster:
        security = plan.hardening
        return gcp.container.Cluster(
            name,
            name=plan.name,
            project=args["project"],
            location=plan.location,
            # Google includes a zonal cluster's own zone, and rejects it in this list.
            node_locations=[zone for zone in plan.node_zones if zone != plan.location] or None,
            release_channel={"channel": plan.release_channel},
            min_master_version=plan.version,
            cluster_autoscaling=cluster_autoscaling(plan, self._service_account, self._boot_disk_key),
            maintenance_policy=maintenance(plan.maintenance),
            deletion_protection=plan.deletion_protection,
            resource_labels=plan.resource_labels,
            # Node pools are separate resources, but GKE requires a first one, which is removed after some minutes.
            # It gets the system pool's machine type and service account: the default machine type is not available
            # in every zone, and the default service account has too many permissions or is disabled.
            remove_default_node_pool=True,
            initial_node_count=1,
            node_config={
                "machine_type": system_pool.machine_type,
                "disk_type": system_pool.disk_type,
                "boot_disk_kms_key": self._boot_disk_key,
                "service_account": self._service_account,
                "oauth_scopes": [CLOUD_PLATFORM_SCOPE],
                "workload_metadata_config": {"mode": "GKE_METADATA"},
                "shielded_instance_config": {"enable_secure_boot": True, "enable_integrity_monitoring": True},
            },
            network=args["network"],
            subnetwork=args["subnetwork"],
            networking_mode="VPC_NATIVE",
            ip_allocation_policy={
                "cluster_secondary_range_name": plan.pods_range,
                "services_secondary_range_name": plan.services_range,
            },
            datapath_provider="ADVANCED_DATAPATH",
            enable_intranode_visibility=True,
            enable_multi_networking=plan.multi_networking or None,
            enable_cilium_clusterwide_network_policy=security.clusterwide_network_policy or None,
            master_auth={"client_certificate_config": {"issue_client_certificate": False}},
            enable_legacy_abac=False,
            rbac_binding_config={
                "enable_insecure_binding_system_authenticated": False,
                "enable_insecure_binding_system_unauthenticated": False,
            },
            workload_identity_config={"workload_pool": pulumi.Output.concat(args["project"], ".svc.id.goog")},
            enable_shielded_nodes=True,
            addons_config=addons(plan),
            control_plane_endpoints_config={
                "dns_endpoint_config": {"allow_external_traffic": plan.control_plane.dns_endpoint},
                "ip_endpoints_config": {"enabled": plan.control_plane.ip_endpoint},
            },
            private_cluster_config=private_cluster(plan.control_plane, global_access=plan.global_access),
            master_authorized_networks_config=authorized_networks(plan.control_plane),
            database_encryption={"state": "ENCRYPTED", "key_name": self._secrets_key}
            if self._secrets_key is not None
            else {"state": "DECRYPTED"},
            security_posture_config={"mode": security.posture, "vulnerability_mode": "VULNERABILITY_DISABLED"},
            binary_authorization={"evaluation_mode": security.binary_authorization},
            anonymous_authentication_config={"mode": security.anonymous_authentication},
            secret_manager_config={"enabled": security.secret_manager},
            authenticator_groups_config={"security_group": security.security_group}
            if security.security_group is not None
            else None,
            logging_config={"enable_components": list(plan.monitoring.logs)},
            monitoring_config={
                "enable_components": list(plan.monitoring.components or ()),
                "managed_prometheus": {"enabled": plan.monitoring.managed_prometheus},
            },
            cost_management_config={"enabled": plan.cost_allocation},
            opts=waiting_like(
                opts,
                pulumi.ResourceOptions(
                    parent=self,
                    # Google rejects the deletion, and with `protect` Pulumi rejects it in the preview.
                    protect=plan.deletion_protection or None,  # None: the option of the component
                    delete_before_replace=True,
                    ignore_changes=[*_OF_THE_FIRST_POOL, *plan.kept],
                    depends_on=self._waits,
                    custom_timeouts=pulumi.CustomTimeouts(create="60m", update="90m", delete="60m"),
                    hooks=self._guard.hooks,
                ),
            ),
        )


def _planned(name: str, args: ClusterArgs) -> ClusterPlan:
    require(args, ClusterArgs)
    described = {key: value for key, value in args.items() if key not in _INPUTS}
    return planned_cluster({"cluster_name": name, **described, "own_account": "service_account" not in args})
