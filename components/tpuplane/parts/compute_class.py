"""A compute class in any cluster, whoever made it."""

from collections.abc import Mapping
from typing import NotRequired

import pulumi

from tpuplane import gke
from tpuplane.args import PlatformComputeClassArgs, ReservationArgs
from tpuplane.gke.cluster_ref import ClusterRef
from tpuplane.parts.arguments import others, require_cluster
from tpuplane.plan.added_class import added_class
from tpuplane.refused import in_plain_words


class ComputeClassArgs(PlatformComputeClassArgs):
    """Arguments of `ComputeClass`: the fields of a platform's class but `clusters` and `defaultNamespaces`, and where
    it is. Node pools in its priorities are named as GKE knows them."""

    cluster: ClusterRef
    """Where the class is: `Cluster.ref`, `ExistingCluster.ref`, or the same fields of any other cluster."""

    class_name: NotRequired[str]
    """Name of the class. Default: the component's own name. A change replaces it."""

    reservations: NotRequired[Mapping[str, ReservationArgs]]
    """Reservations that the class may draw on, by the name that Compute Engine knows them by."""


class ComputeClass(gke.ComputeClass):
    """A ComputeClass in any cluster.

    Give it the cluster's own options, `cluster.in_cluster()`, or the Kubernetes provider of a cluster of yours.
    """

    @in_plain_words
    def __init__(self, name: str, args: ComputeClassArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Plan and make the class.

        Raises:
            SpecError: if the description is wrong, before anything is registered: a line for each mistake.

        """
        cluster = require_cluster(args)
        project = cluster["project"]
        plan = added_class(
            args.get("class_name", name),
            others(args, "cluster", "class_name", "reservations"),
            location=cluster["location"],
            version=cluster.get("version"),
            project=project if isinstance(project, str) else None,
            reservations=args.get("reservations"),
        )
        super().__init__(name, {"plan": plan, "cluster": cluster}, opts)
