"""`plan`: the whole platform, from its network to its last node pool."""

from dataclasses import dataclass, replace

from tpuplane.labels import PLATFORM_LABEL
from tpuplane.plan.addons import addon_plans
from tpuplane.plan.classes import compute_class, in_classes
from tpuplane.plan.cluster import ClusterPlan, NetworkPlan, cluster_plan, network_plan, node_account, subnet_plan
from tpuplane.plan.flavors import in_flavors
from tpuplane.plan.multi_kueue import control_plane, global_access, manager_plan, manager_queues, worker_plan
from tpuplane.plan.observability import ObservabilityPlan, frontend_plan, observability_plan, scrape_plans
from tpuplane.plan.pools import Context, node_pools
from tpuplane.plan.queue_model import QueuesPlan
from tpuplane.plan.queues import queues_plan
from tpuplane.spec import ClusterSpec, PlatformSpec, SpecError
from tpuplane.spec.checks import check
from tpuplane.spec.classes.of_cluster import classes_of, pool_classes
from tpuplane.spec.core.names import cluster_name


@dataclass(frozen=True, slots=True)
class PlatformPlan:
    """Everything one stack creates, in one project."""

    name: str
    project: str
    network: NetworkPlan
    clusters: tuple[ClusterPlan, ...]
    observability: ObservabilityPlan

    @property
    def chips(self) -> int:
        """TPU chips at full scale, over all clusters."""
        return sum(cluster.chips for cluster in self.clusters)

    @property
    def gpus(self) -> int:
        """GPUs at full scale, over all clusters."""
        return sum(cluster.gpus for cluster in self.clusters)


def plan(spec: PlatformSpec) -> PlatformPlan:
    """Everything the description will create. Pure; the same description always gives the same plan.

    Raises `SpecError` when the description is wrong (one that `parse_platform` returned is not).
    """
    mistakes = check(spec)
    if mistakes:
        raise SpecError(mistakes)
    clusters = _clusters(spec)
    return PlatformPlan(
        name=spec.name,
        project=spec.project,
        network=network_plan(spec.name, (it.subnet for it in clusters if it.subnet is not None)),
        clusters=clusters,
        observability=observability_plan(spec, (it.frontend for it in clusters if it.frontend)),
    )


def _clusters(spec: PlatformSpec) -> tuple[ClusterPlan, ...]:
    """The clusters in the order of the file. The manager of others is planned when their queues are known."""
    shared = spec.queues.multi_kueue
    manager = shared.manager if shared is not None else None
    made: dict[str, ClusterPlan] = {}
    for key in sorted(spec.clusters, key=lambda it: it == manager):
        known = {other: it.queues for other, it in made.items() if it.queues is not None}
        made[key] = _cluster(spec, key, spec.clusters[key], manager_queues(spec, known) if key == manager else None)
    return tuple(made[key] for key in spec.clusters)


def _cluster(spec: PlatformSpec, key: str, cluster: ClusterSpec, handed_on: QueuesPlan | None) -> ClusterPlan:
    """One cluster. `handed_on` are a manager's queues: no team has a quota of its own there."""
    name, own_account = cluster.gke_name(spec.name, key), not (cluster.node_service_account or cluster.adopted)
    context = Context(
        location=cluster.location,
        project=spec.project,
        cluster_name=name,
        labels={**spec.labels, **cluster.labels, PLATFORM_LABEL: spec.name},
        reservations=spec.reservations,
    )
    classes = classes_of(spec, key)
    owners = pool_classes(cluster, classes)
    described = (it for (_, own), pool in cluster.all_pools.items() for it in node_pools(own, pool, context))
    pools = in_classes(described, owners)
    queues = handed_on
    if queues is None:
        queues = queues_plan(spec, key, pools, system_pool=cluster.existing is None)
        if queues is not None:
            pools = in_flavors(queues.flavors, pools)
    manager = manager_plan(spec, key)
    made = cluster_plan(key, name, cluster, context)
    return replace(
        made,
        subnet=None if cluster.existing else subnet_plan(name, made.region, cluster.network),
        control_plane=control_plane(spec, key),
        global_access=global_access(spec, key),
        service_account=node_account(cluster_name(spec.name, key), name) if own_account else None,
        pools=pools,
        namespaces=_namespaces(cluster, queues),
        queues=queues,
        addons=addon_plans(cluster, made.system_pool, queues, manager),
        scrapes=scrape_plans(cluster),
        frontend=frontend_plan(spec, cluster, made.system_pool),
        compute_classes=tuple(compute_class(own, it, context, cluster.pools) for own, it in classes.items()),
        manager=manager,
        worker=worker_plan(spec, key),
    )


def _namespaces(cluster: ClusterSpec, queues: QueuesPlan | None) -> tuple[str, ...]:
    """Those without a queue; the others come with their team."""
    with_queue = {own.name for team in (queues.teams if queues else ()) for own in team.namespaces}
    return tuple(namespace for namespace in cluster.namespaces if namespace not in with_queue)
