"""Node pools: the system pool, pools of TPU slices of one shape, and pools of GPU nodes."""

from collections.abc import Mapping, Sequence
from typing import NotRequired

import pulumi
import pulumi_gcp as gcp

from tpuplane.args import GpuPoolArgs, PoolArgs, ReservationArgs, SystemPoolArgs
from tpuplane.gke.arguments import ClusterRef, in_cluster, in_plain_words
from tpuplane.gke.pool_resource import node_pool
from tpuplane.plan.components import planned_gpu_pool, planned_system_pool, planned_tpu_pools
from tpuplane.plan.pools import NodePoolPlan
from tpuplane.spec.core.locations import region_of


class SystemNodePoolArgs(SystemPoolArgs):
    """Arguments of `SystemNodePool`: the fields of a cluster's `systemPool`, and its cluster."""

    cluster: ClusterRef
    """The cluster of the pool: `Cluster.ref`, `ExistingCluster.ref`, or the same fields of another cluster. A change
    replaces the pool, except a change of the version."""

    pool_name: NotRequired[str]
    """Name of the GKE node pool. Default: the name of the component. A change replaces the pool."""

    labels: NotRequired[Mapping[str, str]]
    """Google Cloud labels of the nodes. Changed in place."""


class TpuNodePoolArgs(PoolArgs):
    """Arguments of `TpuNodePool`: the fields of a platform's pool, and its cluster."""

    cluster: ClusterRef
    """The cluster of the pools: `Cluster.ref`, `ExistingCluster.ref`, or the same fields of another cluster. A change
    replaces the pools, except a change of the version."""

    pool_name: NotRequired[str]
    """Name of the GKE node pool. For multi-host slices, names of node pools begin with it. Default: the name of the
    component. A change replaces the pools."""

    reservations: NotRequired[Mapping[str, ReservationArgs]]
    """Compute Engine reservations for the pool, by name."""


class SystemNodePool(pulumi.ComponentResource):
    """A pool without accelerators, in any cluster, for system workloads: DNS, operators, Ray heads."""

    pool_name: pulumi.Output[str]
    """Name of the GKE node pool."""

    @in_plain_words
    def __init__(
        self,
        name: str,
        args: SystemNodePoolArgs,
        opts: pulumi.ResourceOptions | None = None,
        *,
        plan: NodePoolPlan | None = None,
    ) -> None:
        """Create the pool. `plan` is that of its `Cluster`. Default: the plan of the arguments. Raises `SpecError`."""
        plan = plan or planned_system_pool(in_cluster(args, pool_name=name))
        super().__init__("tpuplane:index:SystemNodePool", name, {}, opts)
        self.pool = node_pool(name, plan, args["cluster"], {}, parent=self, opts=opts)
        self.pool_name = self.pool.name
        self.register_outputs({"poolName": self.pool_name})


class TpuNodePool(pulumi.ComponentResource):
    """N TPU slices of one shape, in any cluster.

    Each multi-host slice is a GKE node pool (`NAME-0`, `NAME-1` and so on), because GKE creates and repairs it as a
    whole. A changed number of slices adds or removes only the last ones. Single-host slices are the nodes of one pool.
    """

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

    @in_plain_words
    def __init__(
        self,
        name: str,
        args: TpuNodePoolArgs,
        opts: pulumi.ResourceOptions | None = None,
        *,
        plans: Mapping[str, NodePoolPlan] | None = None,
    ) -> None:
        """Create the pools. `plans` are those of a `Platform`, by Pulumi's names of the node pools. Default: the plans
        of the arguments.

        Raises:
            SpecError: if the arguments have mistakes, before any resource is registered; one line for each mistake.
            ValueError: if a plan has no slice, or the plans have different slices.

        """
        cluster, front = args["cluster"], None
        if plans is None:
            # Policies are the region's own. The name of the cluster may be known only while the engine runs.
            planned, front = planned_tpu_pools(in_cluster(args, pool_name=name)), cluster["name"]
            plans = {f"{name}-{it.index}" if it.slice and it.slice.multi_host else name: it for it in planned}
        shapes = {str(plan.slice): plan.slice for plan in plans.values()}
        shape = next(iter(shapes.values()), None)
        if shape is None or len(shapes) > 1:
            raise ValueError(f"{name}: a TPU node pool has slices of one shape, not {sorted(shapes)}")
        super().__init__("tpuplane:index:TpuNodePool", name, {}, opts)
        policies = self._workload_policies(name, list(plans.values()), cluster, front)
        self.pools = [node_pool(own, plan, cluster, policies, parent=self, opts=opts) for own, plan in plans.items()]
        self.shape = str(shape)
        self.pool_names = [pool.name for pool in self.pools]
        self.hosts = sum(plan.max_nodes for plan in plans.values())
        self.slices = self.hosts // shape.hosts
        self.chips = self.hosts * shape.machine.chips
        self.register_outputs(
            {
                "shape": self.shape,
                "poolNames": self.pool_names,
                "slices": self.slices,
                "hosts": self.hosts,
                "chips": self.chips,
            }
        )

    def _workload_policies(
        self, name: str, plans: Sequence[NodePoolPlan], cluster: ClusterRef, front: pulumi.Input[str] | None
    ) -> dict[str, pulumi.Output[str]]:
        """Create each policy that the plans name. It places the hosts of a tpu7x slice together.

        A policy cannot be changed. Another topology or mode has another policy, with another name and logical name.
        """
        wanted = {plan.workload_policy: plan for plan in plans if plan.workload_policy}
        region = region_of(cluster["location"])
        return {
            policy: gcp.compute.ResourcePolicy(
                "-".join(filter(None, (name, plan.placement_topology, plan.accelerator_topology_mode))),
                name=policy if front is None else pulumi.Output.concat(front, "-", policy),
                project=cluster["project"],
                region=region,
                workload_policy={
                    "type": "HIGH_THROUGHPUT",
                    "accelerator_topology": plan.placement_topology,
                    "accelerator_topology_mode": plan.accelerator_topology_mode,
                },
                opts=pulumi.ResourceOptions(parent=self, delete_before_replace=True),
            ).name
            for policy, plan in wanted.items()
        }


class GpuNodePoolArgs(GpuPoolArgs):
    """Arguments of `GpuNodePool`: the fields of a platform's GPU pool, and its cluster."""

    cluster: ClusterRef
    """The cluster of the pool: `Cluster.ref`, `ExistingCluster.ref`, or the same fields of another cluster. A change
    replaces the pool, except a change of the version."""

    pool_name: NotRequired[str]
    """Name of the GKE node pool. Default: the name of the component. A change replaces the pool."""

    reservations: NotRequired[Mapping[str, ReservationArgs]]
    """Compute Engine reservations for the pool, by name."""


class GpuNodePool(pulumi.ComponentResource):
    """Nodes with GPUs, in any cluster: one GKE node pool."""

    accelerator: str
    """GPU model, as in GKE's label cloud.google.com/gke-accelerator."""
    pool_name: pulumi.Output[str]
    """Name of the GKE node pool."""
    nodes: int
    """Nodes at full scale, over all zones."""
    gpus: int
    """GPUs at full scale, over all zones."""

    @in_plain_words
    def __init__(
        self,
        name: str,
        args: GpuNodePoolArgs,
        opts: pulumi.ResourceOptions | None = None,
        *,
        plan: NodePoolPlan | None = None,
        own_name: str | None = None,
    ) -> None:
        """Create the pool. `plan` is that of a `Platform`, `own_name` Pulumi's name of the node pool. Default: the plan
        of the arguments, and the name of the component.

        Raises:
            SpecError: if the arguments have mistakes, before any resource is registered; one line for each mistake.
            ValueError: if a plan has no GPUs.

        """
        plan = plan or planned_gpu_pool(in_cluster(args, pool_name=name))
        if plan.gpu is None:
            raise ValueError(f"{name}: a GPU node pool has GPUs")
        super().__init__("tpuplane:index:GpuNodePool", name, {}, opts)
        self.pool = node_pool(own_name or name, plan, args["cluster"], {}, parent=self, opts=opts)
        self.accelerator = plan.gpu.machine.accelerator.name
        self.pool_name = self.pool.name
        self.nodes = plan.max_nodes * len(plan.zones)
        self.gpus = self.nodes * plan.gpu.machine.gpus
        self.register_outputs(
            {"accelerator": self.accelerator, "poolName": self.pool_name, "nodes": self.nodes, "gpus": self.gpus}
        )
