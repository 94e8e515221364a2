"""A VPC for GKE clusters: subnetworks with ranges for pods and services, and NAT for private nodes."""

from collections.abc import Mapping
from typing import NotRequired, TypedDict

import pulumi
import pulumi_gcp as gcp

from tpuplane.args import ClusterNetworkArgs
from tpuplane.gke.arguments import in_plain_words, plain, require
from tpuplane.gke.outputs import Component
from tpuplane.plan.cluster import NetworkPlan, SubnetPlan
from tpuplane.plan.components import planned_network


class SubnetworkArgs(ClusterNetworkArgs):
    """The subnetwork of one cluster: ranges for nodes, pods and Services. The subnetworks of a VPC must not overlap. A
    change replaces it."""

    region: str
    """Region of the subnetwork and its NAT."""


class NetworkArgs(TypedDict):
    """Arguments of `Network`."""

    project: pulumi.Input[str]
    """Google Cloud project of the VPC. A change replaces the network and everything in it."""

    network_name: NotRequired[str]
    """Name of the VPC. The names of its subnetworks begin with it. Default: the name of the component. A change
    replaces everything."""

    subnets: Mapping[str, SubnetworkArgs]
    """Subnetworks, by name. The name in Google Cloud is `<network>-<name>`. A new name creates a new subnetwork."""


class PlannedNetwork(Component):
    """The VPC of a plan."""

    network_id: pulumi.Output[str]
    """ID of the VPC."""
    subnetwork_ids: Mapping[str, pulumi.Output[str]]
    """IDs of the subnetworks, by their names in Google Cloud."""

    def __init__(
        self, name: str, plan: NetworkPlan, project: pulumi.Input[str], opts: pulumi.ResourceOptions | None
    ) -> None:
        super().__init__("tpuplane:index:Network", name, {}, opts)
        self.network = gcp.compute.Network(
            name,
            name=plan.name,
            project=project,
            auto_create_subnetworks=False,
            routing_mode="REGIONAL",
            opts=self._child(),
        )
        # By name, as the plan names them.
        self.subnets = {subnet.name: self._subnet(name, project, subnet) for subnet in plan.subnets}
        self.proxies = [
            self._proxies(name, project, subnet) for subnet in plan.subnets if subnet.proxies_cidr is not None
        ]
        for region, nat_name in plan.nats.items():
            self._nat(name, project, region, nat_name)
        self.network_id = self.network.id
        self.subnetwork_ids = {name: subnet.id for name, subnet in self.subnets.items()}
        self.register_annotated()

    def _subnet(self, name: str, project: pulumi.Input[str], plan: SubnetPlan) -> gcp.compute.Subnetwork:
        return gcp.compute.Subnetwork(
            f"{name}-{plan.name}",
            name=plan.name,
            project=project,
            region=plan.region,
            network=self.network.id,
            ip_cidr_range=plan.nodes_cidr,
            secondary_ip_ranges=[
                {"range_name": plan.pods_range, "ip_cidr_range": plan.pods_cidr},
                {"range_name": plan.services_range, "ip_cidr_range": plan.services_cidr},
            ],
            # Private nodes reach Google's APIs and Artifact Registry without the NAT.
            private_ip_google_access=True,
            log_config={
                "aggregation_interval": "INTERVAL_10_MIN",
                "flow_sampling": 0.5,
                "metadata": "INCLUDE_ALL_METADATA",
            },
            # The provider would change them in place, and Compute Engine rejects that: "Existing secondary range cannot
            # be modified".
            opts=self._child("secondaryIpRanges"),
        )

    def _proxies(self, name: str, project: pulumi.Input[str], plan: SubnetPlan) -> gcp.compute.Subnetwork:
        return gcp.compute.Subnetwork(
            f"{name}-{plan.proxies_name}",
            name=plan.proxies_name,
            project=project,
            region=plan.region,
            network=self.network.id,
            ip_cidr_range=plan.proxies_cidr,
            purpose="REGIONAL_MANAGED_PROXY",
            role="ACTIVE",
            # The provider would expand the range, and Compute Engine rejects that.
            opts=self._child("ipCidrRange"),
        )

    def _nat(self, name: str, project: pulumi.Input[str], region: str, nat_name: str) -> None:
        router = gcp.compute.Router(
            f"{name}-{nat_name}",
            name=nat_name,
            project=project,
            region=region,
            network=self.network.id,
            opts=self._child(),
        )
        gcp.compute.RouterNat(
            f"{name}-{nat_name}",
            name=nat_name,
            project=project,
            region=region,
            router=router.name,
            nat_ip_allocate_option="AUTO_ONLY",
            source_subnetwork_ip_ranges_to_nat="ALL_SUBNETWORKS_ALL_IP_RANGES",
            log_config={"enable": True, "filter": "ERRORS_ONLY"},
            opts=self._child(),
        )

    def _child(self, *replace_on: str) -> pulumi.ResourceOptions:
        # Names are explicit, so the old resource must be deleted before its replacement is created.
        return pulumi.ResourceOptions(
            parent=self, delete_before_replace=True, replace_on_changes=list(replace_on) or None
        )


class Network(PlannedNetwork):
    """A custom-mode VPC. It has a subnetwork for each cluster, with secondary ranges for pods and Services, and in each
    region a Cloud NAT for the outgoing traffic of private nodes."""

    @in_plain_words
    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create the VPC. Raises `SpecError`."""
        require(args, NetworkArgs)
        super().__init__(name, planned_network({"network_name": name, **plain(args)}), args["project"], opts)
