"""Node pools: the system pool, pools of TPU slices of one shape, and pools of GPU nodes."""

from collections.abc import Mapping, Sequence
from typing import NotRequired

import pulumi
import pulumi_gcp as gcp

from tpuplane.args import GpuPoolArgs, PoolArgs, ReservationArgs, SystemPoolArgs
from tpuplane.gke.arguments import ClusterRef, in_cluster, in_plain_words
from tpuplane.gke.outputs import Component
from tpuplane.gke.pool_hosts import Pools, check_hosts
from tpuplane.gke.pool_resource import node_pool
from tpuplane.plan.components import planned_gpu_pool, planned_system_pool, planned_tpu_pools
from tpuplane.plan.pools import NodePoolPlan
from tpuplane.plan.summary import PoolSummary

Plans = Mapping[str, NodePoolPlan]
"""Plans of the node pools of one component, by Pulumi's names of the node pools."""


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


class PlannedSystemPool(Component):
    """The pool without accelerators of a plan."""

    pool_name: pulumi.Output[str]
    """Name of the GKE node pool."""

    def __init__(self, name: str, plan: NodePoolPlan, cluster: ClusterRef, opts: pulumi.ResourceOptions | None) -> None:
        super().__init__("tpuplane:index:SystemNodePool", name, {}, opts)
        self.pool = node_pool(name, plan, cluster, {}, parent=self, opts=opts)
        self.pool_name = self.pool.name
        self.register_annotated()


class PlannedTpuPool(Component):
    """The TPU slices of one shape of several plans."""

    shape: str
    """Generation and topology of one slice, such as "v6e 4x4"."""
    pool_names: list[pulumi.Output[str]]
    """GKE node pools: one for each multi-host slice, or one for all single-host slices."""
    slices: int
    """Slices at full scale."""
    hosts: int
    """Nodes at full scale."""
    chips: int
    """TPU chips at full scale."""

    def __init__(
        self,
        name: str,
        plans: Plans,
        cluster: ClusterRef,
        opts: pulumi.ResourceOptions | None,
        *,
        policy_prefix: pulumi.Input[str] | None = None,
    ) -> None:
        """Create the pools. `policy_prefix` precedes the planned names of workload policies."""
        super().__init__("tpuplane:index:TpuNodePool", name, {}, opts)
        policies = self._workload_policies(name, list(plans.values()), cluster, policy_prefix)
        self.pools = [node_pool(own, plan, cluster, policies, parent=self, opts=opts) for own, plan in plans.items()]
        self.planned: Pools = list(zip(self.pools, plans.values(), strict=True))
        (pool,) = PoolSummary.of(plans.values())
        self.shape, self.slices, self.hosts, self.chips = pool.shape, pool.max_slices, pool.max_nodes, pool.units
        self.pool_names = [made.name for made in self.pools]
        self.register_annotated()

    def _workload_policies(
        self, name: str, plans: Sequence[NodePoolPlan], cluster: ClusterRef, prefix: pulumi.Input[str] | None
    ) -> dict[str, pulumi.Output[str]]:
        """Create each policy that the plans name. It places the hosts of a tpu7x slice together.

        A policy cannot be changed. Another topology or mode has another policy, with another name and logical name. The
        provider would send Google another name of the same policy.
        """
        wanted = {plan.workload_policy: plan for plan in plans if plan.workload_policy}
        return {
            policy: gcp.compute.ResourcePolicy(
                "-".join(filter(None, (name, plan.placement_topology, plan.accelerator_topology_mode))),
                name=policy if prefix is None else pulumi.Output.concat(prefix, "-", policy),
                project=cluster["project"],
                region=plan.region,
                workload_policy={
                    "type": "HIGH_THROUGHPUT",
                    "accelerator_topology": plan.placement_topology,
                    "accelerator_topology_mode": plan.accelerator_topology_mode,
                },
                opts=pulumi.ResourceOptions(parent=self, delete_before_replace=True, replace_on_changes=["name"]),
            ).name
            for policy, plan in wanted.items()
        }


class PlannedGpuPool(Component):
    """The pool of GPU nodes of a plan."""

    accelerator: str
    """GPU model, as in GKE's label cloud.google.com/gke-accelerator."""
    pool_name: pulumi.Output[str]
    """Name of the GKE node pool."""
    nodes: int
    """Nodes at full scale, over all zones."""
    gpus: int
    """GPUs at full scale, over all zones."""

    def __init__(self, name: str, plans: Plans, cluster: ClusterRef, opts: pulumi.ResourceOptions | None) -> None:
        ((own_name, plan),) = plans.items()
        if plan.gpu is None:
            raise ValueError(f"{name}: a GPU node pool has GPUs")
        super().__init__("tpuplane:index:GpuNodePool", name, {}, opts)
        self.pool = node_pool(own_name, plan, cluster, {}, parent=self, opts=opts)
        self.planned: Pools = [(self.pool, plan)]
        self.accelerator = plan.gpu.machine.accelerator.name
        self.pool_name = self.pool.name
        self.nodes = plan.max_nodes * len(plan.zones)
        self.gpus = self.nodes * plan.gpu.machine.gpus
        self.register_annotated()


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
