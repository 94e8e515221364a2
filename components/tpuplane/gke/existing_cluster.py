"""An existing cluster: it is read, so that pools and objects can be added to it."""

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
    """Region or zone of the cluster's control plane. A plain value, because the zones of pools depend on it."""

    service_account: pulumi.Input[str]
    """E-mail address of the service account for the nodes of added pools. Do not use the project's default service
    account."""

    version: NotRequired[str]
    """GKE version of the cluster, such as "1.34" (in quotes). Pools that need a newer version are rejected. Default:
    not compared."""

    dns_endpoint: NotRequired[bool]
    """Use the DNS endpoint of the control plane instead of its IP address. Default false."""


class ExistingCluster(pulumi.ComponentResource):
    """An existing GKE cluster and its Kubernetes provider.

    The cluster is not in the stack's state, so it is never changed or deleted. If it does not exist, the preview fails
    with Google's error message.
    """

    name: pulumi.Output[str]
    """Name in Google Cloud."""
    location: pulumi.Output[str]
    """Region or zone of the control plane."""
    endpoint: pulumi.Output[str]
    """Address of the control plane, without a scheme."""
    kubeconfig: pulumi.Output[str]
    """Kubeconfig that calls Google's auth plugin. It contains no credential."""

    def __init__(self, name: str, args: ExistingClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpuplane:index:ExistingCluster", name, {}, opts)
        project, location = args["project"], args["location"]
        found = gcp.container.get_cluster_output(
            name=args["name"], location=location, project=project, opts=pulumi.InvokeOutputOptions(parent=self)
        )
        by_name = args.get("dns_endpoint", False)
        self.name = pulumi.Output.from_input(args["name"])
        self.location = pulumi.Output.from_input(location)
        # The whole answer is secret because it can contain a client key. Address and CA certificate are public.
        self.endpoint = pulumi.Output.unsecret(
            found.control_plane_endpoints_configs[0].dns_endpoint_configs[0].endpoint if by_name else found.endpoint
        )
        certificate = pulumi.Output.unsecret(found.master_auths[0].cluster_ca_certificate)
        authority = dns_authority(self.endpoint, certificate) if by_name else certificate
        self.kubeconfig = cluster_kubeconfig(project, location, args["name"], self.endpoint, authority)
        # Google's ID of the cluster. The provider compares it to detect another cluster.
        self.identifier = cluster_id(project, location, args["name"])
        self.provider: kubernetes.Provider = kubernetes_provider(name, self.identifier, self.kubeconfig, parent=self)
        # The argument `cluster` of node pools.
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
        """Return the options of every object in this cluster.

        The cluster remains when the stack is destroyed, so its objects are deleted one by one.
        """
        return pulumi.ResourceOptions(parent=self, provider=self.provider)


AnyCluster = Cluster | ExistingCluster
"""A cluster in which pools and objects are made: new or existing."""
