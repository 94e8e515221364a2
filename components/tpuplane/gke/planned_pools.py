"""The node pools of plans: the system pool, pools of TPU slices of one shape, and pools of GPU nodes."""

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_gcp as gcp

from tpuplane.gke.arguments import ClusterRef
from tpuplane.gke.outputs import Component
from tpuplane.gke.pool_hosts import Pools
from tpuplane.gke.pool_resource import node_pool
from tpuplane.plan.pools import NodePoolPlan
from tpuplane.plan.summary import PoolSummary

Plans = Mapping[str, NodePoolPlan]
"""Plans of the node pools of one component, by Pulumi's names of the node pools."""


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
