"""A GKE Standard cluster with private nodes, Workload Identity and Dataplane V2, without a default node pool."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, NotRequired

import pulumi
import pulumi_gcp as gcp
import pulumi_kubernetes as kubernetes

from tpuplane.args import ClusterSettingsArgs
from tpuplane.gke import kubernetes_access as access
from tpuplane.gke.arguments import in_plain_words, plain, require
from tpuplane.gke.cluster_resource import Identities, gke_cluster
from tpuplane.gke.deletion_guard import DeletionGuard, GuardedRef
from tpuplane.gke.keys import ClusterKeys
from tpuplane.gke.node_pool import PlannedSystemPool
from tpuplane.gke.outputs import Component
from tpuplane.gke.service_account import own_accounts
from tpuplane.plan.cluster import ClusterPlan
from tpuplane.plan.cluster_options import BOOT_DISK_KEY, SECRETS_KEY
from tpuplane.plan.components import planned_cluster


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

    multi_networking: NotRequired[bool]
    """Let pools have `extra_networks`. Default false. Changed in place."""

    default_compute_class: NotRequired[bool]
    """Give pods that request no compute class the class `default`, which the program creates. Default false. Changed in
    place."""

    service_account: NotRequired[pulumi.Input[str]]
    """E-mail address of an existing service account for the nodes. Default: create one with the roles that a node
    needs. A change replaces the node pools."""

    secrets_key: NotRequired[pulumi.Input[str]]
    """Full resource name of an existing Cloud KMS key in the cluster's region, for Secrets. It replaces
    `security.secrets_encryption`. Changed in place."""

    boot_disk_key: NotRequired[pulumi.Input[str]]
    """Full resource name of an existing Cloud KMS key in the cluster's region, for boot disks. It replaces
    `security.boot_disk_encryption`. A change replaces the node pools."""


class PlannedCluster(Component):
    """The cluster of a plan, and its CPU pool."""

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

    def __init__(
        self,
        name: str,
        plan: ClusterPlan,
        known: Identities,
        opts: pulumi.ResourceOptions | None,
        stands_on: Sequence[pulumi.Resource] = (),
    ) -> None:
        """Create the cluster. `stands_on` are the resources whose replacement replaces it: VPC and subnetwork of the
        same program."""
        if plan.system_pool is None:
            raise ValueError(f"{name}: the plan is that of an existing cluster; use ExistingCluster")
        super().__init__("tpuplane:index:Cluster", name, {}, opts)
        self.identity = own_accounts(name, known.project, plan, self)
        account = self.identity[0].email if self.identity else known.service_account or plan.existing_account or ""
        self.node_service_account = pulumi.Output.from_input(account)
        own = pulumi.ResourceOptions(parent=self)
        keys = [ClusterKeys(f"{name}-keys", plan, known.project, own)] if plan.own_keys else []
        made: dict[str, pulumi.Input[str]] = {use: key.id for own_keys in keys for use, key in own_keys.keys.items()}
        ids: dict[str, pulumi.Input[str] | None] = {**plan.keys, **made}
        secrets_key = known.secrets_key or ids.get(SECRETS_KEY)
        boot_disk_key = known.boot_disk_key or ids.get(BOOT_DISK_KEY)
        known = replace(known, service_account=account, secrets_key=secrets_key, boot_disk_key=boot_disk_key)
        guard = DeletionGuard(name, protected=plan.deletion_protection)
        own = pulumi.ResourceOptions(parent=self, depends_on=[*self.identity, *keys], hooks=guard.hooks)
        self.resource = gke_cluster(name, plan, known, opts, own)
        guard.watch(self.resource)
        self.name = self.resource.name
        self.location = self.resource.location
        # master_auth is secret as a whole because it can hold a client key. The CA certificate is public.
        self._authority = pulumi.Output.unsecret(self.resource.master_auth.cluster_ca_certificate)
        self.endpoint, authority = self._reached(plan.control_plane.dns_endpoint)
        self.kubeconfig = access.cluster_kubeconfig(
            self.resource.project, self.location, self.name, self.endpoint, authority
        )
        # Google's ID of the cluster. The provider compares it to detect another cluster.
        self.identifier = access.cluster_id(known.project, plan.location, plan.name)
        if not plan.imported:
            self.resource.node_pools.apply(self._report_first_pool)
            self.provider  # noqa: B018 - registered now
        # The argument `cluster` of node pools.
        self.ref = GuardedRef(
            project=known.project,
            name=self.name,
            location=plan.location,
            service_account=account,
            multi_networking=plan.multi_networking,
            default_compute_class=plan.default_compute_class,
            guard=guard,
        )
        if boot_disk_key is not None:
            self.ref["boot_disk_key"] = boot_disk_key
        if plan.version is not None:
            self.ref["version"] = plan.version
        self._foundations = [*stands_on, *(made.account for made in self.identity), self.resource]
        # A node that starts before its account has its roles reports neither logs nor metrics, and pulls no image.
        after_roles = pulumi.ResourceOptions(parent=self, depends_on=self.identity)
        self.system_pool = PlannedSystemPool(f"{name}-system", plan.system_pool, self.ref, after_roles)
        self.register_annotated()

    def _report_first_pool(self, pools: Sequence[gcp.container.outputs.ClusterNodePool] | None) -> None:
        """Report the first pool of GKE, which the provider removes only at the end of an uninterrupted creation."""
        if any(pool.name == "default-pool" for pool in pools or ()):
            message = (
                "an interrupted creation has left the node pool default-pool, which costs money and belongs to no "
                "stack. `tpuplane check FILE --online --deployed STACK` prints the command that deletes it. Then run "
                "`pulumi refresh`"
            )
            pulumi.log.warn(message, self.resource)

    def _reached(self, by_name: bool) -> tuple[pulumi.Output[str], pulumi.Output[Any]]:
        """Address and CA certificate of the control plane."""
        if not by_name:
            return self.resource.endpoint, self._authority
        endpoint = self.resource.control_plane_endpoints_config.dns_endpoint_config.endpoint
        return endpoint, access.dns_authority(endpoint, self._authority)

    @functools.cached_property
    def provider(self) -> kubernetes.Provider:
        """The Kubernetes provider of the cluster. In an adopted cluster it exists only if something uses it, because
        `pulumi import` cannot add a provider to a stack."""
        return access.kubernetes_provider(self.pulumi_resource_name, self.identifier, self.kubeconfig, parent=self)

    def kubeconfig_inside(self, token: pulumi.Input[str]) -> pulumi.Output[str]:
        """Return a kubeconfig with `token`, for a pod in the VPC. It is a secret, because it contains the token.

        Its address is the private one, because pods have no public address in an authorized network.
        """
        address = self.resource.private_cluster_config.private_endpoint
        found = pulumi.Output.all(self.name, address, self._authority, token)
        return pulumi.Output.secret(found.apply(lambda values: access.kubeconfig(*values)))

    def in_cluster(self) -> pulumi.ResourceOptions:
        """Return the options of every object in this cluster.

        Such objects are deleted with their cluster, without a request to an API server that no longer exists. When the
        cluster is replaced, they are created again although their own inputs are unchanged. The options also name the
        resources that the cluster depends on, because the engine looks for such objects only at the start of a chain of
        replacements. They are deleted first: after an interrupted replacement, Pulumi 3.259 and older would create
        them, and then delete the former objects of the same names, which are the new ones.
        """
        return pulumi.ResourceOptions(
            parent=self,
            provider=self.provider,
            deleted_with=self.resource,
            replace_with=self._foundations,
            delete_before_replace=True,
        )


class Cluster(PlannedCluster):
    """A GKE cluster with private nodes, Workload Identity and Dataplane V2, and its CPU pool. In Python, `ref` is the
    argument `cluster` of node pools, and `in_cluster()` returns the options of objects in the cluster."""

    @in_plain_words
    def __init__(self, name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create the cluster. Raises `SpecError`."""
        require(args, ClusterArgs)
        given: Mapping[str, Any] = args
        known = {field.name: given[field.name] for field in fields(Identities) if given.get(field.name) is not None}
        own_account = "service_account" not in known
        plan = planned_cluster({"cluster_name": name, **plain(given), "own_account": own_account})
        replaced = {SECRETS_KEY: "secrets_key" in known, BOOT_DISK_KEY: "boot_disk_key" in known}
        plan = replace(plan, keys={use: key for use, key in plan.keys.items() if not replaced[use]})
        super().__init__(name, plan, Identities(**known), opts)
