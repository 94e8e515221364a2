"""A GKE ComputeClass: which nodes pods get, in order of preference."""

from typing import Any, TypedDict

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.gke.cluster_ref import ClusterRef
from tpuplane.plan.class_model import ComputeClassPlan

API_VERSION = "cloud.google.com/v1"


class ComputeClassArgs(TypedDict):
    """Arguments of `ComputeClass`."""

    plan: ComputeClassPlan
    """What it is. Its name stays as it is; a new name is a new class. All else changes in place."""

    cluster: ClusterRef
    """Where it is. Nodes of pools that GKE makes run as its account, with its boot disk key, unless the class says
    otherwise. Both change in place: pools with another account then no longer belong to the class."""


class ComputeClass(pulumi.ComponentResource):
    """One ComputeClass of a cluster, which brings the definition of its kind."""

    class_name: pulumi.Output[str]
    """What pods name in the node selector `cloud.google.com/compute-class`."""

    def __init__(self, name: str, args: ComputeClassArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Make the class. `opts` is what the cluster says of objects in it: `in_cluster()`, or a provider at least."""
        super().__init__("tpuplane:index:ComputeClass", name, {}, opts)
        plan = args["plan"]
        self.resource: kubernetes.apiextensions.CustomResource = kubernetes.apiextensions.CustomResource(
            name,
            api_version=API_VERSION,
            kind="ComputeClass",
            metadata={"name": plan.name, "labels": {"app.kubernetes.io/managed-by": "tpuplane"}},
            spec=_with_identity(plan, args["cluster"]) if plan.makes_pools else plan.spec,
            opts=_like(opts, parent=self),
        )
        self.class_name = pulumi.Output.from_input(plan.name)
        self.register_outputs({"className": self.class_name})


def _with_identity(plan: ComputeClassPlan, cluster: ClusterRef) -> dict[str, Any]:
    """The spec, with the cluster's account and boot disk key where it names none."""
    spec = dict(plan.spec)
    spec["nodePoolConfig"] = {"serviceAccount": cluster["service_account"], **spec["nodePoolConfig"]}
    if "boot_disk_key" in cluster:
        key = {"bootDiskKMSKey": cluster["boot_disk_key"]}
        spec["priorities"] = [
            priority if "nodepools" in priority else {**priority, "storage": {**key, **priority.get("storage", {})}}
            for priority in spec["priorities"]
        ]
    return spec


def _like(opts: pulumi.ResourceOptions | None, parent: pulumi.Resource) -> pulumi.ResourceOptions:
    """Options of the object inside. A component hands down its provider; how it goes and comes it keeps to itself."""
    if opts is None:
        return pulumi.ResourceOptions(parent=parent)
    return pulumi.ResourceOptions(
        parent=parent,
        depends_on=opts.depends_on,
        deleted_with=opts.deleted_with,
        replace_with=opts.replace_with,
    )
