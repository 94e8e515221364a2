"""One cluster of a platform, created or existing, with its node pools."""

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import pulumi
import pulumi_gcp as gcp

from tpuplane.gke.cluster import PlannedCluster
from tpuplane.gke.cluster_resource import Identities
from tpuplane.gke.existing_cluster import PlannedExistingCluster
from tpuplane.gke.network import PlannedNetwork
from tpuplane.gke.planned_pools import PlannedGpuPool, PlannedTpuPool
from tpuplane.plan import ClusterPlan
from tpuplane.plan.pools import NodePoolPlan

PlatformCluster = PlannedCluster | PlannedExistingCluster


def make_cluster(
    name: str, plan: ClusterPlan, project: str, network: PlannedNetwork | None, parent: pulumi.Resource
) -> PlatformCluster:
    """Create the cluster of a plan, or read the existing one."""
    own = pulumi.ResourceOptions(parent=parent)
    if plan.existing is not None:
        return PlannedExistingCluster(name, plan, project, own)
    if plan.network is not None:
        return PlannedCluster(name, plan, Identities(project, plan.network.network, plan.network.subnetwork), own)
    if network is None or plan.subnet is None:
        raise ValueError(f"{name}: the plan has no network for it")
    subnet = network.subnets[plan.subnet.name]
    # Nodes pull images through the NAT as long as they exist.
    after_network = pulumi.ResourceOptions(parent=parent, depends_on=[network])
    known = Identities(project, network.network.id, subnet.id)
    return PlannedCluster(name, plan, known, after_network, stands_on=[network.network, subnet])


class NodePools(NamedTuple):
    """The user's pools of one cluster, by their names in the description."""

    tpu: dict[str, PlannedTpuPool]
    gpu: dict[str, PlannedGpuPool]

    @property
    def planned(self) -> Iterator[tuple[gcp.container.NodePool, NodePoolPlan]]:
        """All GKE node pools with their plans."""
        for tpu in self.tpu.values():
            yield from tpu.planned
        for gpu in self.gpu.values():
            yield from gpu.planned


def make_node_pools(name: str, plan: ClusterPlan, cluster: PlatformCluster) -> NodePools:
    """Create the pools of one cluster."""
    # A node that starts before its service account has its roles cannot report logs and metrics, or pull images.
    after_roles = pulumi.ResourceOptions(parent=cluster, depends_on=cluster.identity)
    pools = NodePools({}, {})
    # Named like the node pools in GKE, so that an adopted pool can get another key.
    for (key, first_key), plans in groupby(plan.tpu_pools, key=lambda pool: (pool.pool, pool.first_key)):
        named = {f"{name}-{pool.name}": pool for pool in plans}
        pools.tpu[key] = PlannedTpuPool(f"{name}-{first_key}", named, cluster.ref, after_roles)
    for pool in plan.gpu_pools:
        named = {f"{name}-{pool.name}": pool}
        pools.gpu[pool.pool] = PlannedGpuPool(f"{name}-{pool.first_key}", named, cluster.ref, after_roles)
    return pools
