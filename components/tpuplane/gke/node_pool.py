"""Node pools: the system pool, pools of TPU slices of one shape, and pools of GPU nodes."""

from collections.abc import Mapping
from typing import NotRequired

import pulumi

from tpuplane.args import GpuPoolArgs, PoolArgs, ReservationArgs, SystemPoolArgs
from tpuplane.gke.arguments import ClusterRef, in_cluster, in_plain_words
from tpuplane.gke.planned_pools import PlannedGpuPool, PlannedSystemPool, PlannedTpuPool
from tpuplane.gke.pool_hosts import check_hosts
from tpuplane.plan.components import planned_gpu_pool, planned_system_pool, planned_tpu_pools


class SystemNodePoolArgs(SystemPoolArgs):
    """Arguments of `SystemNodePool`: the fields of a cluster's `systemPool`, and its cluster."""

    cluster: ClusterRef
    """The cluster of the pool: `Cluster.ref`, `ExistingCluster.ref`, or the same fields of another cluster. A change
    replaces the pool, except a change to the version."""

    pool_name: NotRequired[str]
    """Name of the GKE node pool. Default: the name of the component. A change replaces the pool."""

    labels: NotRequired[Mapping[str, str]]
    """Google Cloud labels of the nodes. Changed in place."""


class TpuNodePoolArgs(PoolArgs):
    """Arguments of `TpuNodePool`: the fields of a platform's pool, and its cluster."""

    cluster: ClusterRef
    """The cluster of the pools: `Cluster.ref`, `ExistingCluster.ref`, or the same fields of another cluster. A change
    replaces the pools, except a change to the version."""

    pool_name: NotRequired[str]
    """Name of the GKE node pool. For multi-host slices, names of node pools begin with it. Default: the name of the
    component. A change replaces the pools."""

    reservations: NotRequired[Mapping[str, ReservationArgs]]
    """Compute Engine reservations for the pool, by name."""


class GpuNodePoolArgs(GpuPoolArgs):
    """Arguments of `GpuNodePool`: the fields of a platform's GPU pool, and its cluster."""

    cluster: ClusterRef
    """The cluster of the pool: `Cluster.ref`, `ExistingCluster.ref`, or the same fields of another cluster. A change
    replaces the pool, except a change to the version."""

    pool_name: NotRequired[str]
    """Name of the GKE node pool. Default: the name of the component. A change replaces the pool."""

    reservations: NotRequired[Mapping[str, ReservationArgs]]
    """Compute Engine reservations for the pool, by name."""


class SystemNodePool(PlannedSystemPool):
    """A pool without accelerators, in any cluster, for system workloads: DNS, operators, Ray heads."""

    @in_plain_words
    def __init__(self, name: str, args: SystemNodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create the pool. Raises `SpecError`."""
        super().__init__(name, planned_system_pool(in_cluster(args, pool_name=name)), args["cluster"], opts)


class TpuNodePool(PlannedTpuPool):
    """N TPU slices of one shape, in any cluster.

    Each multi-host slice is a GKE node pool (`NAME-0`, `NAME-1` and so on), because GKE creates and repairs it as a
    whole. A changed number of slices adds or removes only the last ones. Single-host slices are the nodes of one pool.
    """

    @in_plain_words
    def __init__(self, name: str, args: TpuNodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create the pools. Raises `SpecError`."""
        plans = planned_tpu_pools(in_cluster(args, pool_name=name))
        named = {f"{name}-{plan.index}" if plan.placement_topology else name: plan for plan in plans}
        # Policies are the region's own. The name of the cluster may be known only while the engine runs.
        super().__init__(name, named, args["cluster"], opts, policy_prefix=args["cluster"]["name"])
        check_hosts(self.planned, self)


class GpuNodePool(PlannedGpuPool):
    """Nodes with GPUs, in any cluster: one GKE node pool."""

    @in_plain_words
    def __init__(self, name: str, args: GpuNodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create the pool. Raises `SpecError`."""
        plan = planned_gpu_pool(in_cluster(args, pool_name=name))
        super().__init__(name, {name: plan}, args["cluster"], opts)
        check_hosts(self.planned, self)
