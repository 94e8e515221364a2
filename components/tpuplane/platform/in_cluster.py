"""The contents of a platform's clusters: namespaces, classes, operators, queues, and the access between clusters."""

from collections.abc import Mapping

import pulumi

from tpuplane.addons.monitoring import Monitoring, MonitoringArgs
from tpuplane.addons.multi_kueue import MultiKueue, MultiKueueWorker
from tpuplane.addons.operators import Addons
from tpuplane.addons.queues import Queues, QueuesArgs
from tpuplane.gke import AnyCluster, Cluster
from tpuplane.gke.namespace import make_namespace
from tpuplane.plan import ClusterPlan, PlatformPlan
from tpuplane.plan.observability import ObservabilityPlan
from tpuplane.platform.clusters import NodePools, make_classes

_Kubeconfigs = dict[str, pulumi.Output[str]]


def fill_clusters(
    name: str, platform: PlatformPlan, clusters: Mapping[str, AnyCluster], pools: Mapping[str, NodePools]
) -> None:
    """Create the contents of each cluster. The manager of MultiKueue comes last, because it needs access to its
    workers."""
    workers: _Kubeconfigs = {}
    for it in sorted(platform.clusters, key=lambda it: it.manager is not None):
        own, cluster = f"{name}-{it.key}", clusters[it.key]
        below = pulumi.ResourceOptions(parent=cluster)
        make_classes(own, it, cluster, pools[it.key].ref)
        ready = _addons(f"{own}-addons", it, cluster)
        for namespace in it.namespaces:
            owner = it.namespace_classes.get(namespace)
            # It is deleted before the operators, which take their finalizers from the work in it.
            make_namespace(f"{own}-{namespace}", namespace, cluster, list(ready.values()), owner)
        queues = _queues(own, it, cluster, list(ready.values()), workers)
        if it.worker is not None and isinstance(cluster, Cluster):
            after = [*ready.values(), *([] if queues is None else [queues])]
            access = MultiKueueWorker(
                f"{own}-multikueue", {"cluster": cluster, "plan": it.worker, "after": after}, below
            )
            workers[it.key] = access.kubeconfig
        _monitoring(f"{own}-monitoring", it.key, platform.observability, cluster, ready)


def _queues(
    name: str, plan: ClusterPlan, cluster: AnyCluster, ready: list[pulumi.Resource], workers: _Kubeconfigs
) -> Queues | None:
    """Create a cluster's queues. On a manager of MultiKueue, create the access to its workers first."""
    if plan.queues is None:
        return None
    below = pulumi.ResourceOptions(parent=cluster)
    args: QueuesArgs = {"cluster": cluster, "plan": plan.queues, "ready": ready}
    if plan.manager is not None:
        handing_on = MultiKueue(
            f"{name}-multikueue",
            {
                "cluster": cluster,
                "plan": plan.manager,
                "queues": plan.queues.cluster_queues,
                "kubeconfigs": workers,
                "ready": ready,
            },
            below,
        )
        args["checks"] = handing_on.checks
    return Queues(f"{name}-queues", args, below)


def _addons(name: str, plan: ClusterPlan, cluster: AnyCluster) -> dict[str, pulumi.Resource]:
    """Install a cluster's add-ons after its system pool. Returns the gate of each add-on, by its key."""
    if not plan.addons:
        return {}
    after = [cluster.system_pool] if isinstance(cluster, Cluster) else []
    made = Addons(name, {"cluster": cluster, "plan": plan, "after": after}, pulumi.ResourceOptions(parent=cluster))
    return {key: operator.ready for key, operator in made.operators.items()}


def _monitoring(
    name: str, key: str, plan: ObservabilityPlan, cluster: AnyCluster, ready: Mapping[str, pulumi.Resource]
) -> None:
    """Collect a cluster's metrics, after the add-ons that have them."""
    if key not in plan.scrapes:
        return
    args: MonitoringArgs = {"cluster": cluster, "scrapes": plan.scrapes[key], "ready": ready}
    if key in plan.frontends:
        args["frontend"] = plan.frontends[key]
    Monitoring(name, args, pulumi.ResourceOptions(parent=cluster))
