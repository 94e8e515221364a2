"""Workload policies: how the generations that refuse a compact placement (tpu7x) get a slice's hosts together."""

from collections.abc import Iterable

import pulumi
import pulumi_gcp as gcp

from tpuplane.gke.node_pool import ClusterRef
from tpuplane.plan.model import NodePoolPlan


def workload_policies(
    name: str, plans: Iterable[NodePoolPlan], cluster: ClusterRef, parent: pulumi.Resource
) -> dict[str, pulumi.Output[str]]:
    """Make each policy that the pools of one cluster name, once, and return their names for `TpuNodePool`.

    Pools of the same topology share a policy. A policy cannot be changed; the plan gives another topology another name.
    """
    topologies = {plan.workload_policy: plan.placement_topology for plan in plans if plan.workload_policy is not None}
    return {
        policy: gcp.compute.ResourcePolicy(
            f"{name}-{topology}",
            name=policy,
            project=cluster["project"],
            region=cluster["region"],
            workload_policy={"type": "HIGH_THROUGHPUT", "accelerator_topology": topology},
            opts=pulumi.ResourceOptions(parent=parent, delete_before_replace=True),
        ).name
        for policy, topology in topologies.items()
    }
