"""One cluster of a platform, created or existing, with its node pools."""

from itertools import groupby
from typing import NamedTuple, cast

import pulumi

from tpuplane.gke import (
    AnyCluster,
    Cluster,
    ClusterArgs,
    ClusterRef,
    ExistingCluster,
    GpuNodePool,
    Network,
    TpuNodePool,
    TpuNodePoolArgs,
)
from tpuplane.gke.service_account import own_account
from tpuplane.plan import ClusterPlan


def make_cluster(
    name: str, plan: ClusterPlan, project: str, network: Network | None, parent: pulumi.Resource
) -> AnyCluster:
    """Create the cluster of a plan, or read the existing one."""
    if plan.existing is not None:
        return _existing(name, plan, project, parent)
    if plan.network is not None:
        in_network: ClusterArgs = {
            "project": project,
            "network": plan.network.network,
            "subnetwork": plan.network.subnetwork,
            "location": plan.location,
        }
        return Cluster(name, in_network, pulumi.ResourceOptions(parent=parent), plan=plan)
    if network is None or plan.subnet is None:
        raise ValueError(f"{name}: the plan has no network for it")
    subnet = network.subnets[plan.subnet.name]
    return Cluster(
        name,
        {"project": project, "network": network.network.id, "subnetwork": subnet.id, "location": plan.location},
        # Nodes pull images through the NAT as long as they exist.
        pulumi.ResourceOptions(parent=parent, depends_on=[network]),
        plan=plan,
        stands_on=[network.network, subnet],
    )


def _existing(name: str, plan: ClusterPlan, project: str, parent: pulumi.Resource) -> ExistingCluster:
    return ExistingCluster(
        name,
        {
            "project": project,
            "name": plan.name,
            "location": plan.location,
            "service_account": plan.existing_account or "",
            "dns_endpoint": plan.existing is not None and plan.existing.dns_endpoint,
        },
        pulumi.ResourceOptions(parent=parent),
    )


class NodePools(NamedTuple):
    """The user's pools of one cluster, by their names in the description."""

    tpu: dict[str, TpuNodePool]
    gpu: dict[str, GpuNodePool]
    ref: ClusterRef
    """The cluster, for its nodes."""


def make_node_pools(name: str, plan: ClusterPlan, project: str, cluster: AnyCluster) -> NodePools:
    """Create the pools of one cluster."""
    ref = cluster.ref
    waits = cluster.identity if isinstance(cluster, Cluster) else []
    if isinstance(cluster, ExistingCluster) and (account := own_account(name, project, plan, cluster)):
        ref = {**ref, "service_account": account.email}
        waits = [account]
    # A node that starts before its account has its roles reports neither logs nor metrics, and pulls no image.
    after_roles = pulumi.ResourceOptions(parent=cluster, depends_on=waits)
    pools = NodePools({}, {}, ref)
    # The other arguments are in the plans.
    args = cast(TpuNodePoolArgs, {"cluster": ref})
    # Named like the node pools in GKE, so that an adopted pool can get another key.
    for key, plans in groupby(plan.tpu_pools, key=lambda it: it.pool):
        pools.tpu[key] = TpuNodePool(
            f"{name}-{key}", args, after_roles, plans={f"{name}-{it.name}": it for it in plans}
        )
    for it in plan.gpu_pools:
        own = f"{name}-{it.name}"
        pools.gpu[it.pool] = GpuNodePool(f"{name}-{it.pool}", {"cluster": ref}, after_roles, plan=it, own_name=own)
    return pools
