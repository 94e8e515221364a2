"""A GKE cluster in a network that is there already."""

from typing import NotRequired

import pulumi

from tpuplane import gke
from tpuplane.args import ClusterSettingsArgs
from tpuplane.parts.arguments import require
from tpuplane.plan.parts import cluster_plan
from tpuplane.refused import in_plain_words


class ClusterArgs(ClusterSettingsArgs):
    """Arguments of `Cluster`: the settings of a platform's cluster, and the network that it is in."""

    project: pulumi.Input[str]
    """Google Cloud project. A change replaces the cluster."""

    cluster_name: NotRequired[str]
    """Name of the cluster in Google Cloud. Default: the component's own name. A change replaces the cluster."""

    network: pulumi.Input[str]
    """Id or self link of the VPC. A change replaces the cluster."""

    subnetwork: pulumi.Input[str]
    """Id or self link of the subnetwork, in the cluster's region. A change replaces the cluster."""

    pods_range: NotRequired[str]
    """Secondary range of the subnetwork for pods. Default "pods". A change replaces the cluster."""

    services_range: NotRequired[str]
    """Secondary range of the subnetwork for services. Default "services". A change replaces the cluster."""

    service_account: NotRequired[pulumi.Input[str]]
    """E-mail address of an account that exists already, for the nodes to run as. Default: one is made, with the roles
    that a node needs. A change replaces the node pools."""

    secrets_key: NotRequired[pulumi.Input[str]]
    """Full resource name of a Cloud KMS key that exists already, in the cluster's region, for Secrets; instead of
    `security.secrets_encryption`. Changed in place."""

    boot_disk_key: NotRequired[pulumi.Input[str]]
    """Full resource name of a Cloud KMS key that exists already, in the cluster's region, for boot disks; instead of
    `security.boot_disk_encryption`. A change replaces the node pools."""


class Cluster(gke.Cluster):
    """A GKE cluster with private nodes, Workload Identity and Dataplane V2, and its CPU pool. In Python `ref` is what
    node pools want for their `cluster`, and `in_cluster()` the options of objects inside it."""

    @in_plain_words
    def __init__(self, name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Plan and make the cluster.

        Raises:
            SpecError: if the description is wrong, before anything is registered: a line for each mistake.

        """
        require(args, ClusterArgs)
        plan = cluster_plan(
            args.get("cluster_name", name),
            {key: value for key, value in args.items() if key in ClusterSettingsArgs.__annotations__},
            pods_range=args.get("pods_range", "pods"),
            services_range=args.get("services_range", "services"),
            makes_account="service_account" not in args,
        )
        planned: gke.ClusterArgs = {
            "project": args["project"],
            "network": args["network"],
            "subnetwork": args["subnetwork"],
            "plan": plan,
        }
        if "service_account" in args:
            planned["service_account"] = args["service_account"]
        if "secrets_key" in args:
            planned["secrets_key"] = args["secrets_key"]
        if "boot_disk_key" in args:
            planned["boot_disk_key"] = args["boot_disk_key"]
        super().__init__(name, planned, opts)
        if plan.system_pool is not None:
            gke.SystemNodePool(
                f"{name}-system",
                {"cluster": self.ref, "plan": plan.system_pool},
                pulumi.ResourceOptions(parent=self, depends_on=self.identity),
            )
