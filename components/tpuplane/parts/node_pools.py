"""Node pools in any cluster, whoever made it."""

from collections.abc import Mapping
from typing import Any, NotRequired

import pulumi

from tpuplane import gke
from tpuplane.args import GpuPoolArgs, PoolArgs, ReservationArgs, SystemPoolArgs
from tpuplane.gke.cluster_ref import ClusterRef
from tpuplane.parts.arguments import others, require_cluster
from tpuplane.plan.added import Kind, added_pools
from tpuplane.plan.model import NodePoolPlan
from tpuplane.plan.parts import system_pool_plan
from tpuplane.refused import in_plain_words


class TpuNodePoolArgs(PoolArgs):
    """Arguments of `TpuNodePool`: the fields of a platform's pool, and where it is."""

    cluster: ClusterRef
    """Where the pools are made: `Cluster.ref`, `ExistingCluster.ref`, or the same fields of any other cluster. A change
    of all but its version replaces them."""

    pool_name: NotRequired[str]
    """Name of the GKE node pool, and the front of it for slices that span hosts. Default: the component's own name. A
    change replaces the pools."""

    reservations: NotRequired[Mapping[str, ReservationArgs]]
    """Reservations that the pool may draw on, by the name that Compute Engine knows them by."""


class GpuNodePoolArgs(GpuPoolArgs):
    """Arguments of `GpuNodePool`: the fields of a platform's GPU pool, and where it is."""

    cluster: ClusterRef
    """Where the pool is made: `Cluster.ref`, `ExistingCluster.ref`, or the same fields of any other cluster. A change
    of all but its version replaces it."""

    pool_name: NotRequired[str]
    """Name of the GKE node pool. Default: the component's own name. A change replaces the pool."""

    reservations: NotRequired[Mapping[str, ReservationArgs]]
    """Reservations that the pool may draw on, by the name that Compute Engine knows them by."""


class SystemNodePoolArgs(SystemPoolArgs):
    """Arguments of `SystemNodePool`: the fields of a cluster's `systemPool`, and where it is."""

    cluster: ClusterRef
    """Where the pool is made: `Cluster.ref`, `ExistingCluster.ref`, or the same fields of any other cluster. A change
    of all but its version replaces it."""

    pool_name: NotRequired[str]
    """Name of the GKE node pool. Default: the component's own name. A change replaces the pool."""

    labels: NotRequired[Mapping[str, str]]
    """Google Cloud labels of the nodes. Changed in place."""


class TpuNodePool(gke.TpuNodePool):
    """N TPU slices of one shape, in any cluster.

    A slice that spans hosts is a GKE node pool of its own, for GKE makes and repairs it as a whole: `NAME-0`, `NAME-1`
    and so on, so that a changed count adds and removes the last ones only. Single-host slices are the nodes of one
    pool.
    """

    @in_plain_words
    def __init__(self, name: str, args: TpuNodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Plan and make the pools.

        Raises:
            SpecError: if the description is wrong, before anything is registered: a line for each mistake.

        """
        cluster = require_cluster(args)
        plans = _added(name, args, cluster, "pools")
        super().__init__(name, {"cluster": cluster, "plans": plans, "policy_front": cluster["name"]}, opts)


class GpuNodePool(gke.GpuNodePool):
    """Nodes with GPUs, in any cluster: one GKE node pool."""

    @in_plain_words
    def __init__(self, name: str, args: GpuNodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Plan and make the pool.

        Raises:
            SpecError: if the description is wrong, before anything is registered: a line for each mistake.

        """
        cluster = require_cluster(args)
        (planned,) = _added(name, args, cluster, "gpuPools")
        super().__init__(name, {"cluster": cluster, "plan": planned}, opts)


class SystemNodePool(gke.SystemNodePool):
    """A pool without accelerators, in any cluster, for what must run somewhere: DNS, operators, Ray heads, queues."""

    @in_plain_words
    def __init__(self, name: str, args: SystemNodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Plan and make the pool.

        Raises:
            SpecError: if the description is wrong, before anything is registered: a line for each mistake.

        """
        cluster = require_cluster(args)
        plan = system_pool_plan(
            args.get("pool_name", name),
            others(args, "cluster", "pool_name", "labels"),
            location=cluster["location"],
            labels=args.get("labels"),
        )
        super().__init__(name, {"cluster": cluster, "plan": plan}, opts)


def _added(name: str, args: Mapping[str, Any], cluster: ClusterRef, kind: Kind) -> tuple[NodePoolPlan, ...]:
    """Plan the pool that the arguments describe."""
    project = cluster["project"]
    return added_pools(
        args.get("pool_name", name),
        others(args, "cluster", "pool_name", "reservations"),
        kind=kind,
        location=cluster["location"],
        version=cluster.get("version"),
        project=project if isinstance(project, str) else None,
        reservations=args.get("reservations"),
    )
