"""An existing cluster: it is read, so that pools and objects can be added to it."""

import re
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_gcp as gcp
import pulumi_kubernetes as kubernetes

from tpuplane.gke.arguments import ClusterRef, in_plain_words, plain, require
from tpuplane.gke.cluster import PlannedCluster
from tpuplane.gke.kubernetes_access import cluster_id, cluster_kubeconfig, dns_authority, kubernetes_provider
from tpuplane.gke.outputs import Component
from tpuplane.gke.service_account import own_accounts
from tpuplane.plan import ClusterPlan
from tpuplane.plan.components import read_by_name

# How the SDK begins the error of a function.
_FAILED_CALL = re.compile(r"^invoke of \S+ failed: (invocation of \S+ returned an error: )?")


class ExistingClusterArgs(TypedDict):
    """Arguments of `ExistingCluster`. A change to project, name or location replaces everything that was added."""

    project: pulumi.Input[str]
    """Project of the cluster."""

    name: pulumi.Input[str]
    """Name of the cluster in Google Cloud."""

    location: str
    """Region or zone of the cluster's control plane. A plain value, because the zones of pools depend on it."""

    service_account: pulumi.Input[str]
    """E-mail address of the service account for the nodes of added pools. Do not use the project's default service
    account."""

    version: NotRequired[str]
    """GKE version of the cluster, such as "1.34" (in quotes). Pools that need a newer version are rejected. Default:
    not compared."""

    dns_endpoint: NotRequired[bool]
    """Use the DNS endpoint of the control plane instead of its IP address. Default false."""


class ReadCluster(Component):
    """A cluster that the stack reads, and its Kubernetes provider."""

    name: pulumi.Output[str]
    """Name in Google Cloud."""
    location: pulumi.Output[str]
    """Region or zone of the control plane."""
    endpoint: pulumi.Output[str]
    """Address of the control plane, without a scheme."""
    kubeconfig: pulumi.Output[str]
    """Kubeconfig that calls Google's auth plugin. It contains no credential."""

    def __init__(
        self,
        name: str,
        project: pulumi.Input[str],
        location: str,
        called: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None,
        *,
        by_name: bool,
    ) -> None:
        """Read the cluster `called`, and use its DNS endpoint if `by_name`."""
        super().__init__("tpuplane:index:ExistingCluster", name, {}, opts)
        place = pulumi.Output.all(called, location, project)
        found = gcp.container.get_cluster_output(
            name=called, location=location, project=project, opts=pulumi.InvokeOutputOptions(parent=self)
        ).recover(lambda error: _explained(name, place, error))
        self.name = pulumi.Output.from_input(called)
        self.location = pulumi.Output.from_input(location)
        # The whole answer is secret because it can contain a client key. Address and CA certificate are public.
        self.endpoint = pulumi.Output.unsecret(
            found.control_plane_endpoints_configs[0].dns_endpoint_configs[0].endpoint if by_name else found.endpoint
        )
        certificate = pulumi.Output.unsecret(found.master_auths[0].cluster_ca_certificate)
        authority = dns_authority(self.endpoint, certificate) if by_name else certificate
        self.kubeconfig = cluster_kubeconfig(project, location, called, self.endpoint, authority)
        # Google's ID of the cluster. The provider compares it to detect another cluster.
        self.identifier = cluster_id(project, location, called)
        self.provider: kubernetes.Provider = kubernetes_provider(name, self.identifier, self.kubeconfig, parent=self)
        self.register_annotated()

    def in_cluster(self) -> pulumi.ResourceOptions:
        """Return the options of every object in this cluster.

        The cluster remains when the stack is destroyed, so its objects are deleted one by one.
        """
        return pulumi.ResourceOptions(parent=self, provider=self.provider, delete_before_replace=True)


class ExistingCluster(ReadCluster):
    """An existing GKE cluster and its Kubernetes provider.

    The cluster is not in the stack's state, so it is never changed or deleted. If it cannot be read, the preview
    fails with Google's error message.
    """

    @in_plain_words
    def __init__(self, name: str, args: ExistingClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Read the cluster. Raises `SpecError`."""
        require(args, ExistingClusterArgs)
        by_name = read_by_name(plain(args))
        super().__init__(name, args["project"], args["location"], args["name"], opts, by_name=by_name)
        # The argument `cluster` of node pools.
        self.ref = ClusterRef(
            project=args["project"],
            name=args["name"],
            location=args["location"],
            service_account=args["service_account"],
        )
        if (version := args.get("version")) is not None:
            self.ref["version"] = version


class PlannedExistingCluster(ReadCluster):
    """The existing cluster of a plan, with a service account for the nodes of its pools."""

    def __init__(
        self, name: str, plan: ClusterPlan, project: pulumi.Input[str], opts: pulumi.ResourceOptions | None
    ) -> None:
        by_name = plan.existing is not None and plan.existing.dns_endpoint
        super().__init__(name, project, plan.location, plan.name, opts, by_name=by_name)
        self.identity = own_accounts(name, project, plan, self)
        account = self.identity[0].email if self.identity else plan.existing_account or ""
        self.ref = ClusterRef(project=project, name=plan.name, location=plan.location, service_account=account)


async def _explained(name: str, place: pulumi.Output[list[str]], error: Exception) -> Any:
    """Raise `RunError` in place of the SDK's exception, which has no component and no remedy."""
    cluster, location, project = await place.future() or ("",) * 3
    reason = _FAILED_CALL.sub("", str(error)).strip()
    raise pulumi.RunError(
        f"ExistingCluster {name}: cluster {cluster!r} in location {location}, project {project} cannot be read: "
        f"{reason}. `gcloud container clusters list --project {project}` lists the existing ones"
    )


AnyCluster = PlannedCluster | ReadCluster
"""A cluster in which pools and objects are created: new or existing."""
