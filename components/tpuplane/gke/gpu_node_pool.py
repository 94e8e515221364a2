"""Node pools with GPUs."""

from typing import TypedDict

import pulumi

from tpuplane.gke.cluster_ref import ClusterRef
from tpuplane.gke.pool_resource import node_pool
from tpuplane.plan.model import NodePoolPlan


class GpuNodePoolArgs(TypedDict):
    """Arguments of `GpuNodePool`."""

    cluster: ClusterRef
    """Where the pool is made. A change replaces it."""

    plan: NodePoolPlan
    """The pool, with its GPUs. Other GPUs, another driver or other sharing replace it."""


class GpuNodePool(pulumi.ComponentResource):
    """Nodes with GPUs: one GKE node pool."""

    accelerator: str
    """GPU, as GKE's label cloud.google.com/gke-accelerator has it."""
    pool_name: pulumi.Output[str]
    """Name of the GKE node pool."""
    nodes: int
    """Nodes at full scale, over all zones."""
    gpus: int
    """GPUs at full scale, over all zones."""

    def __init__(self, name: str, args: GpuNodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Make the pool.

        Raises:
            ValueError: if a plan has no GPUs.

        """
        plan = args["plan"]
        if plan.gpu is None:
            raise ValueError(f"{name}: a GPU node pool has GPUs")
        super().__init__("tpuplane:index:GpuNodePool", name, {}, opts)
        self.pool = node_pool(name, plan, args["cluster"], {}, parent=self, opts=opts)
        self.accelerator = plan.gpu.machine.accelerator.name
        self.pool_name = self.pool.name
        self.nodes = plan.max_nodes * len(plan.zones)
        self.gpus = self.nodes * plan.gpu.machine.gpus
        self.register_outputs(
            {
                "accelerator": self.accelerator,
                "poolName": self.pool_name,
                "nodes": self.nodes,
                "gpus": self.gpus,
            }
        )
