"""A GKE ComputeClass: the nodes for pods, in order of preference."""

from collections.abc import Mapping
from typing import Any, NotRequired

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.args import PlatformComputeClassArgs, ReservationArgs
from tpuplane.gke.arguments import ClusterRef, in_cluster, in_plain_words
from tpuplane.gke.outputs import Component
from tpuplane.gke.resource_options import like
from tpuplane.plan.classes import ComputeClassPlan
from tpuplane.plan.components import planned_class

API_VERSION = "cloud.google.com/v1"


class ComputeClassArgs(PlatformComputeClassArgs):
    """Arguments of `ComputeClass`: the fields of a platform's class except `clusters` and `defaultNamespaces`, and its
    cluster. Priorities name node pools by their names in GKE."""

    cluster: ClusterRef
    """The cluster of the class: `Cluster.ref`, `ExistingCluster.ref`, or the same fields of another cluster."""

    class_name: NotRequired[str]
    """Name of the class. Default: the name of the component. A change replaces the class."""

    reservations: NotRequired[Mapping[str, ReservationArgs]]
    """Compute Engine reservations for the class, by name."""


class PlannedComputeClass(Component):
    """The ComputeClass of a plan."""

    class_name: pulumi.Output[str]
    """Name that pods use in the node selector `cloud.google.com/compute-class`."""

    def __init__(
        self, name: str, plan: ComputeClassPlan, cluster: ClusterRef, opts: pulumi.ResourceOptions | None
    ) -> None:
        super().__init__("tpuplane:index:ComputeClass", name, {}, opts)
        self.resource: kubernetes.apiextensions.CustomResource = kubernetes.apiextensions.CustomResource(
            name,
            api_version=API_VERSION,
            kind="ComputeClass",
            metadata={"name": plan.name, "labels": {"app.kubernetes.io/managed-by": "tpuplane"}},
            spec=_with_identity(plan, cluster) if plan.makes_pools else plan.spec,
            opts=like(opts, parent=self),
        )
        self.class_name = pulumi.Output.from_input(plan.name)
        self.register_annotated()


class ComputeClass(PlannedComputeClass):
    """A ComputeClass in any cluster.

    Its options are those of the cluster, `cluster.in_cluster()`, or the Kubernetes provider of another cluster.
    """

    @in_plain_words
    def __init__(self, name: str, args: ComputeClassArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create the class. Raises `SpecError`."""
        super().__init__(name, planned_class(in_cluster(args, class_name=name)), args["cluster"], opts)


def _with_identity(plan: ComputeClassPlan, cluster: ClusterRef) -> dict[str, Any]:
    """The spec, with the cluster's service account and boot disk key if the spec has none."""
    spec = dict(plan.spec)
    spec["nodePoolConfig"] = {"serviceAccount": cluster["service_account"], **spec["nodePoolConfig"]}
    if "boot_disk_key" in cluster:
        key = {"bootDiskKMSKey": cluster["boot_disk_key"]}
        spec["priorities"] = [
            priority if "nodepools" in priority else {**priority, "storage": {**key, **priority.get("storage", {})}}
            for priority in spec["priorities"]
        ]
    return spec
