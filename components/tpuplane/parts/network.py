"""A VPC for GKE clusters, on its own."""

from collections.abc import Mapping
from typing import NotRequired, TypedDict

import pulumi

from tpuplane import gke
from tpuplane.args import ClusterNetworkArgs
from tpuplane.parts.arguments import require
from tpuplane.plan.parts import network_plan
from tpuplane.refused import in_plain_words


class SubnetworkArgs(ClusterNetworkArgs):
    """The subnetwork of one cluster: a range for nodes, one for pods, one for services. The subnetworks of a VPC must
    not overlap. A change replaces it."""

    region: str
    """Region of the subnetwork and its NAT."""


class NetworkArgs(TypedDict):
    """Arguments of `Network`."""

    project: pulumi.Input[str]
    """Google Cloud project of the VPC. A change replaces the network and all that stands on it."""

    network_name: NotRequired[str]
    """Name of the VPC, and the front of its subnetworks' names. Default: the component's own name. A change replaces
    everything."""

    subnets: Mapping[str, SubnetworkArgs]
    """Subnetworks, by name; Google sees `<network>-<name>`. A new name is a new subnetwork."""


class Network(gke.Network):
    """A custom-mode VPC with a subnetwork for each cluster, secondary ranges for pods and services, and a Cloud NAT in
    each region, through which private nodes reach what is outside."""

    @in_plain_words
    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Plan and make the network.

        Raises:
            SpecError: if the description is wrong, before anything is registered: a line for each mistake.

        """
        require(args, NetworkArgs)
        plan = network_plan(args.get("network_name", name), args["subnets"])
        super().__init__(name, {"project": args["project"], "plan": plan}, opts)
