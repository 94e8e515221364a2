"""An existing cluster: it is looked up, so that pools and objects can be added to it."""

from typing import NotRequired, TypedDict

import pulumi
import pulumi_gcp as gcp
import pulumi_kubernetes as kubernetes

from tpuplane.gke.arguments import ClusterRef
from tpuplane.gke.cluster import Cluster
from tpuplane.gke.kubernetes_access import cluster_id, cluster_kubeconfig, dns_authority, kubernetes_provider


class ExistingClusterArgs(TypedDict):
    """Arguments of `ExistingCluster`. A change of project, name or location replaces everything that was added."""

    project: pulumi.Input[str]
    """Project of the cluster."""

    name: pulumi.Input[str]
    """Name of the cluster in Google Cloud."""

    location: str
    """Region or zone of the cluster's control plane. A plain value: the zones of pools depend on it."""

    service_account: pulumi.Input[str]
    """E-mail address of the account that the nodes of added pools run as. It must not be the project's default one."""

    version: NotRequired[str]
    """GKE version of the cluster, such as "1.34" (in quotes): pools that need a newer one are rejected. Default: not
    compared."""

    dns_endpoint: NotRequired[bool]
    """Reach the control plane by its DNS endpoint instead of its IP address. Default false."""


class ExistingCluster(pulumi.ComponentResource):
    """An existing GKE cluster, and the Kubernetes provider that reaches it.

    Nothing of the cluster is in the stack's state, so nothing of it is ever changed or deleted. A cluster that is not
    there is an error of the preview, in Google's words.
    """

    name: pulumi.Output[str]
    """Name in Google Cloud."""
    location: pulumi.Output[str]
    """Region or zone of the control plane."""
    endpoint: pulumi.Output[str]
    """Address of the control plane, without a scheme."""
    kubeconfig: pulumi.Output[str]
    """Kubeconfig that calls Google's auth plugin; it holds no credential."""

    def __init__(self, name: str, args: ExistingClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpuplane:index:ExistingCluster", name, {}, opts)
        project, location = args["project"], args["location"]
        found = gcp.container.get_cluster_output(
            name=args["name"], location=location, project=project, opts=pulumi.InvokeOutputOptions(parent=self)
        )
        by_name = args.get("dns_endpoint", False)
        self.name = pulumi.Output.from_input(args["name"])
        self.location = pulumi.Output.from_input(location)
        # The whole answer is secret because a client key may be in it. Address and CA certificate are public.
        self.endpoint = pulumi.Output.unsecret(
            found.control_plane_endpoints_configs[0].dns_endpoint_configs[0].endpoint if by_name else found.endpoint
        )
        certificate = pulumi.Output.unsecret(found.master_auths[0].cluster_ca_certificate)
        authority = dns_authority(self.endpoint, certificate) if by_name else certificate
        self.kubeconfig = cluster_kubeconfig(project, location, args["name"], self.endpoint, authority)
        # Google's id of the cluster, by which providers see that it is still the same one.
        self.identifier = cluster_id(project, location, args["name"])
        self.provider: kubernetes.Provider = kubernetes_provider(name, self.identifier, self.kubeconfig, parent=self)
        # What a node pool must know of this cluster.
        self.ref: ClusterRef = {
            "project": project,
            "name": args["name"],
            "location": location,
            "service_account": args["service_account"],
        }
        if "version" in args:
            self.ref["version"] = args["version"]
        self.register_outputs(
            {"name": self.name, "location": self.location, "endpoint": self.endpoint, "kubeconfig": self.kubeconfig}
        )

    def in_cluster(self) -> pulumi.ResourceOptions:
        """Return the options of every object that lives inside this cluster.

        The cluster outlives the stack, so that its objects are deleted one by one when the stack is destroyed.
        """
        return pulumi.ResourceOptions(parent=self, provider=self.provider)


AnyCluster = Cluster | ExistingCluster
"""A cluster in which pools and objects are made: new or existing."""
