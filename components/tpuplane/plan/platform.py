"""`plan`: the whole platform, from its network to its last node pool."""

from dataclasses import dataclass, replace

from tpuplane.labels import PLATFORM_LABEL
from tpuplane.plan import file_systems
from tpuplane.plan.addons import addon_plans
from tpuplane.plan.classes import compute_class, in_classes
from tpuplane.plan.cluster import (
    DEFAULT_CLASS,
    ClusterPlan,
    NetworkPlan,
    cluster_plan,
    network_plan,
    node_account,
    subnet_plan,
)
from tpuplane.plan.flavors import in_flavors
from tpuplane.plan.images import RepositoryPlan, repository_plans, sources_of
from tpuplane.plan.multi_kueue import control_plane, global_access, manager_plan, manager_queues, worker_plan
from tpuplane.plan.observability import ObservabilityPlan, frontend_plan, observability_plan, scrape_plans
from tpuplane.plan.pools import Context, node_pools
from tpuplane.plan.queue_model import QueuesPlan
from tpuplane.plan.queues import queues_plan
from tpuplane.plan.storage import BucketPlan, bucket_plan, checkpointing_plans, disk_plans
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
    images: tuple[RepositoryPlan, ...]
    storage: tuple[BucketPlan, ...]
    lustre: tuple[file_systems.LustrePlan, ...]
    filestore: tuple[file_systems.FilestorePlan, ...]
    services_access: file_systems.ServicesAccessPlan | None  # None: no Lustre instance is in the platform's own network

    @property
    def chips(self) -> int:
        """TPU chips at full scale, over all clusters."""
        return sum(cluster.chips for cluster in self.clusters)

    @property
    def gpus(self) -> int:
        """GPUs at full scale, over all clusters."""
        return sum(cluster.gpus for cluster in self.clusters)


def plan(spec: PlatformSpec) -> PlatformPlan:
    """All resources of the description. Pure: the same description always gives the same plan.

    Raises `SpecError` if the description has mistakes. A description from `parse_platform` has none.
    """
    if mistakes := list(check(spec)):
        raise SpecError(mistakes)
    clusters = _clusters(spec)
    return PlatformPlan(
        name=spec.name,
        project=spec.project,
        network=network_plan(spec.name, (cluster.subnet for cluster in clusters if cluster.subnet is not None)),
        clusters=clusters,
        observability=observability_plan(spec, (cluster.frontend for cluster in clusters if cluster.frontend)),
        images=repository_plans(spec, clusters),
        storage=tuple(bucket_plan(spec, key) for key in spec.storage.buckets),
        lustre=tuple(file_systems.lustre_plans(spec)),
        filestore=tuple(file_systems.filestore_plans(spec)),
        services_access=file_systems.services_access_plan(spec),
    )


def _clusters(spec: PlatformSpec) -> tuple[ClusterPlan, ...]:
    """The clusters in the order of the file. The manager of MultiKueue is planned last, from the others' queues."""
    shared = spec.queues.multi_kueue
    manager = shared.manager if shared is not None else None
    made: dict[str, ClusterPlan] = {}
    for key in sorted(spec.clusters, key=lambda key: key == manager):
        known = {other: cluster.queues for other, cluster in made.items() if cluster.queues is not None}
        made[key] = _cluster(spec, key, spec.clusters[key], manager_queues(spec, known) if key == manager else None)
    return tuple(made[key] for key in spec.clusters)


def _cluster(spec: PlatformSpec, key: str, cluster: ClusterSpec, handed_on: QueuesPlan | None) -> ClusterPlan:
    """One cluster. `handed_on` are the queues of a manager, in which no team has its own quota."""
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
    by_name = {own: pool for (_, own), pool in cluster.all_pools.items()}
    described = (planned for own, pool in by_name.items() for planned in node_pools(own, pool, context))
    pools = in_classes(described, owners)
    queues = handed_on
    if queues is None:
        queues = queues_plan(spec, key, pools, system_pool=cluster.existing is None)
        if queues is not None:
            pools = in_flavors(queues.flavors, pools)
    # Namespaces without a queue are made apart; the others belong to a team.
    with_queue = {own.name for team in (queues.teams if queues else ()) for own in team.namespaces}
    manager = manager_plan(spec, key)
    made = cluster_plan(key, name, cluster, context)
    return replace(
        made,
        subnet=None if cluster.existing else subnet_plan(name, made.region, cluster.network),
        control_plane=control_plane(spec, key),
        global_access=global_access(spec, key),
        service_account=node_account(cluster_name(spec.name, key), name) if own_account else None,
        pools=pools,
        multi_networking=any(pool.node.extra_networks for pool in pools),
        namespaces=tuple(namespace for namespace in cluster.namespaces if namespace not in with_queue),
        queues=queues,
        addons=addon_plans(cluster, made.system_pool, queues, manager, sources_of(spec, cluster.location)),
        scrapes=scrape_plans(cluster),
        frontend=frontend_plan(spec, cluster, made.system_pool),
        checkpointing=checkpointing_plans(spec, key),
        disks=disk_plans(spec, key),
        compute_classes=tuple(compute_class(key, own, context, by_name) for key, own in classes.items()),
        default_compute_class=DEFAULT_CLASS in classes,
        manager=manager,
        worker=worker_plan(spec, key),
    )
