"""The contents of a platform's clusters: namespaces, classes, operators, queues, and the access between clusters."""

from collections.abc import Mapping, Sequence

import pulumi

from tpuplane.addons.monitoring import Monitoring
from tpuplane.addons.multi_kueue import MultiKueue, MultiKueueWorker
from tpuplane.addons.operator import Addons
from tpuplane.addons.queues import Queues
from tpuplane.gke.cluster import PlannedCluster
from tpuplane.gke.compute_class import PlannedComputeClass
from tpuplane.gke.objects import make_namespace
from tpuplane.plan import ClusterPlan, PlatformPlan
from tpuplane.plan.queue_model import NamespacePlan
from tpuplane.platform.clusters import PlatformCluster

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
