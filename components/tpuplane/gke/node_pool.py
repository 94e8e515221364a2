"""Node pools: the system pool, and TPU pools of one or more slices of one shape."""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_gcp as gcp

from tpuplane.gke.cluster_ref import ClusterRef
from tpuplane.gke.pool_resource import node_pool
from tpuplane.plan.model import NodePoolPlan
from tpuplane.spec.locations import region_of


class SystemNodePoolArgs(TypedDict):
    """Arguments of `SystemNodePool`."""

    cluster: ClusterRef
    """Where the pool is made. A change replaces it."""

    plan: NodePoolPlan
    """The pool, without a slice."""


class TpuNodePoolArgs(TypedDict):
    """Arguments of `TpuNodePool`."""

    cluster: ClusterRef
    """Where the pools are made. A change replaces them."""

    plans: Sequence[NodePoolPlan]
    """The GKE pools, all of the same slice: one for each slice that spans hosts, else one in all.
    An added or removed pool leaves the others as they are; a changed slice replaces every pool."""

    policy_front: NotRequired[pulumi.Input[str]]
    """What is put in front of the workload policies' names, which are the region's own: the name of the cluster, where
    it was not known when the pools were planned. Default: nothing. A change replaces the pools."""


class SystemNodePool(pulumi.ComponentResource):
    """The pool without accelerators, for what must run somewhere: DNS, operators, Ray heads, queues."""

    pool_name: pulumi.Output[str]
    """Name of the GKE node pool."""

    def __init__(self, name: str, args: SystemNodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpuplane:index:SystemNodePool", name, {}, opts)
        self.pool = node_pool(name, args["plan"], args["cluster"], {}, parent=self, opts=opts)
        self.pool_name = self.pool.name
        self.register_outputs({"poolName": self.pool_name})


class TpuNodePool(pulumi.ComponentResource):
    """N TPU slices of one shape.

    A slice that spans hosts is a GKE node pool of its own, for GKE makes and repairs it as a whole. Single-host
    slices are the nodes of one pool.
    """

    shape: str
    """Generation and topology of one slice, such as "v6e 4x4"."""
    pool_names: list[pulumi.Output[str]]
    """GKE node pools: one for each multi-host slice, or one in all."""
    slices: int
    """Slices at full scale."""
    hosts: int
    """Nodes at full scale."""
    chips: int
    """TPU chips at full scale."""

    def __init__(self, name: str, args: TpuNodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Make the pools.

        Raises:
            ValueError: if a plan has no slice, or the plans are of different slices.

        """
        plans, cluster = args["plans"], args["cluster"]
        shapes = {str(plan.slice): plan.slice for plan in plans}
        shape = next(iter(shapes.values()), None)
        if shape is None or len(shapes) > 1:
            raise ValueError(f"{name}: a TPU node pool has slices of one shape, not {sorted(shapes)}")
        super().__init__("tpuplane:index:TpuNodePool", name, {}, opts)
        policies = self._workload_policies(name, args)
        self.pools = [
            node_pool(
                f"{name}-{plan.index}" if shape.multi_host else name, plan, cluster, policies, parent=self, opts=opts
            )
            for plan in plans
        ]
        self.shape = str(shape)
        self.pool_names = [pool.name for pool in self.pools]
        self.hosts = sum(plan.max_nodes for plan in plans)
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

    def _workload_policies(self, name: str, args: TpuNodePoolArgs) -> dict[str, pulumi.Output[str]]:
        """Make the policies that the plans name, each once: how tpu7x hosts are brought together.

        A policy cannot be changed. Another topology or mode has another policy, by the plan and by its logical name.
        """
        plans, cluster, front = args["plans"], args["cluster"], args.get("policy_front")
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
