"""The clusters of a platform, created or existing: their node pools, contents, and the access between them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import pulumi
import pulumi_gcp as gcp

from tpuplane.addons.monitoring import Monitoring
from tpuplane.addons.multi_kueue import MultiKueue, MultiKueueWorker
from tpuplane.addons.operator import Addons
from tpuplane.addons.queues import Queues
from tpuplane.gke.cluster import PlannedCluster
from tpuplane.gke.cluster_resource import Identities
from tpuplane.gke.compute_class import PlannedComputeClass
from tpuplane.gke.existing_cluster import PlannedExistingCluster
from tpuplane.gke.network import PlannedNetwork
from tpuplane.gke.node_pool import PlannedGpuPool, PlannedTpuPool
from tpuplane.gke.objects import make_namespace
from tpuplane.plan import ClusterPlan, PlatformPlan
from tpuplane.plan.pools import NodePoolPlan
from tpuplane.plan.queue_model import NamespacePlan

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


_Kubeconfigs = dict[str, pulumi.Output[str]]


def fill_clusters(
    name: str,
    platform: PlatformPlan,
    clusters: Mapping[str, PlatformCluster],
    images: Sequence[pulumi.Resource],
    addresses: Mapping[str, pulumi.Output[str]],
) -> None:
    """Create the contents of each cluster, operators after the repositories of their `images`. The manager of
    MultiKueue comes last, because it needs access to its workers. `addresses` are those of file systems."""
    workers: _Kubeconfigs = {}
    for plan in sorted(platform.clusters, key=lambda plan: plan.manager is not None):
        own, cluster = f"{name}-{plan.key}", clusters[plan.key]
        for own_class in plan.compute_classes:
            PlannedComputeClass(f"{own}-{own_class.name}", own_class, cluster.ref, cluster.in_cluster())
        ready = _addons(f"{own}-addons", plan, cluster, images)
        for namespace in plan.namespaces:
            planned = NamespacePlan(namespace, plan.namespace_classes.get(namespace))
            # Pulumi deletes it before the operators, because they remove the finalizers of the workloads in it.
            make_namespace(f"{own}-{namespace}", planned, cluster, list(ready.values()))
        queues = _queues(own, plan, cluster, list(ready.values()), workers, addresses)
        if plan.worker is not None and isinstance(cluster, PlannedCluster):
            after = [*ready.values(), *([] if queues is None else [queues])]
            workers[plan.key] = MultiKueueWorker(f"{own}-multikueue", cluster, plan.worker, after).kubeconfig
        if plan.scrapes:
            Monitoring(f"{own}-monitoring", cluster, plan.scrapes, plan.frontend, ready)


def _queues(
    name: str,
    plan: ClusterPlan,
    cluster: PlatformCluster,
    ready: list[pulumi.Resource],
    workers: _Kubeconfigs,
    addresses: Mapping[str, pulumi.Output[str]],
) -> Queues | None:
    """Create a cluster's queues. On a manager of MultiKueue, create the access to its workers first."""
    if plan.queues is None:
        return None
    checks: list[pulumi.Resource] = []
    if plan.manager is not None:
        queues = plan.queues.cluster_queues
        checks = MultiKueue(f"{name}-multikueue", cluster, plan.manager, queues, workers, ready).checks
    return Queues(f"{name}-queues", cluster, plan.queues, ready, checks, addresses)


def _addons(
    name: str, plan: ClusterPlan, cluster: PlatformCluster, images: Sequence[pulumi.Resource]
) -> dict[str, pulumi.Resource]:
    """Install a cluster's add-ons after its system pool and `images`. Returns the gate of each add-on, by its key."""
    if not plan.addons:
        return {}
    after = [*images, *([cluster.system_pool] if isinstance(cluster, PlannedCluster) else [])]
    return {key: operator.ready for key, operator in Addons(name, cluster, plan.addons, after).operators.items()}
