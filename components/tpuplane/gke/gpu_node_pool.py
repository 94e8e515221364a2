"""Node pools with GPUs."""

from collections.abc import Mapping
from typing import NotRequired

import pulumi

from tpuplane.args import GpuPoolArgs, ReservationArgs
from tpuplane.description_error import in_plain_words
from tpuplane.gke.arguments import in_cluster
from tpuplane.gke.cluster_ref import ClusterRef
from tpuplane.gke.pool_resource import node_pool
from tpuplane.plan.components import planned_gpu_pool
from tpuplane.plan.pools import NodePoolPlan


class GpuNodePoolArgs(GpuPoolArgs):
    """Arguments of `GpuNodePool`: the fields of a platform's GPU pool, and where it is."""

    cluster: ClusterRef
    """Where the pool is made: `Cluster.ref`, `ExistingCluster.ref`, or the same fields of any other cluster. A change
    of all but its version replaces it."""

    pool_name: NotRequired[str]
    """Name of the GKE node pool. Default: the component's own name. A change replaces the pool."""

    reservations: NotRequired[Mapping[str, ReservationArgs]]
    """Reservations that the pool may draw on, by the name that Compute Engine knows them by."""


class GpuNodePool(pulumi.ComponentResource):
    """Nodes with GPUs, in any cluster: one GKE node pool."""

    accelerator: str
    """GPU, as GKE's label cloud.google.com/gke-accelerator has it."""
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
    ) -> None:
        """Make the pool. `plan` is the one of a `Platform`; default: the arguments describe it.

        Raises:
            SpecError: if the description is wrong, before anything is registered: a line for each mistake.
            ValueError: if a plan has no GPUs.

        """
        plan = plan or planned_gpu_pool(in_cluster(args, pool_name=name))
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
