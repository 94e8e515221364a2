"""`plan`: the whole platform, from its network to its last node pool."""

from __future__ import annotations

from tpuplane.labels import PLATFORM_LABEL
from tpuplane.plan.addons import addon_plans
from tpuplane.plan.auto_provisioning import auto_provisioning_plan
from tpuplane.plan.classes import compute_classes, in_classes
from tpuplane.plan.flavors import in_flavors
from tpuplane.plan.maintenance import maintenance_plan
from tpuplane.plan.model import ClusterPlan, PlatformPlan, ServiceAccountPlan
from tpuplane.plan.multi_kueue import control_plane, global_access, manager_plan, manager_queues, worker_plan
from tpuplane.plan.network_model import NatPlan, NetworkPlan, SubnetPlan
from tpuplane.plan.observability import observability_plan
from tpuplane.plan.options import keys_plan, monitoring
from tpuplane.plan.pools import gpu_pool, system_pool, tpu_pools
from tpuplane.plan.queue_model import QueuesPlan
from tpuplane.plan.queues import queues_plan
from tpuplane.spec import ClusterSpec, PlatformSpec, SpecError
from tpuplane.spec.checks import check
from tpuplane.spec.locations import region_of, system_zones
from tpuplane.spec.names import cluster_name
from tpuplane.spec.networks import address_needs

# The least that a GKE node needs (logs, metrics), and pulling images
# (https://cloud.google.com/kubernetes-engine/docs/how-to/hardening-your-cluster).
NODE_ROLES = ("roles/container.defaultNodeServiceAccount", "roles/artifactregistry.reader")


def plan(spec: PlatformSpec) -> PlatformPlan:
    """Everything the description will create. Pure; the same description always gives the same plan.

    Raises `SpecError` when the description is wrong (one that `PlatformSpec.parse` returned is not).
    """
    mistakes = check(spec)
    if mistakes:
        raise SpecError(mistakes)
    clusters = _clusters(spec)
    subnets = tuple(cluster.subnet for cluster in clusters if cluster.subnet is not None)
    regions = dict.fromkeys(subnet.region for subnet in subnets)
    network = NetworkPlan(
        name=spec.name,
        subnets=subnets,
        nats=tuple(NatPlan(region, f"{spec.name}-{region}", f"{spec.name}-{region}") for region in regions),
    )
    return PlatformPlan(
        name=spec.name,
        project=spec.project,
        network=network,
        clusters=clusters,
        observability=observability_plan(spec, {it.key: it.system_pool.name for it in clusters if it.system_pool}),
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
    own_name = cluster_name(spec.name, key)
    name = cluster.existing.name if cluster.existing else own_name
    labels = {**spec.labels, **cluster.labels, PLATFORM_LABEL: spec.name}
    needs = address_needs(cluster)
    pools = in_classes(
        spec,
        key,
        (
            node_pool
            for pool_key, pool in cluster.pools.items()
            for node_pool in tpu_pools(pool_key, pool, cluster, name, labels, spec)
        ),
    )
    gpu_pools = in_classes(
        spec, key, (gpu_pool(it, pool, cluster, labels, spec) for it, pool in cluster.gpu_pools.items())
    )
    queues = handed_on
    if queues is None:
        queues = queues_plan(spec, key, pools, gpu_pools, system_pool=cluster.existing is None)
        if queues is not None:
            pools, gpu_pools = in_flavors(queues.flavors, pools), in_flavors(queues.flavors, gpu_pools)
    manager = manager_plan(spec, key)
    system = None if cluster.existing else system_pool(cluster, labels)
    return ClusterPlan(
        key=key,
        name=name,
        location=cluster.location,
        region=region_of(cluster.location),
        node_zones=system_zones(cluster.location),
        release_channel=cluster.release_channel,
        min_master_version=cluster.version,
        subnet=None if cluster.existing or cluster.network.existing else _subnet(name, cluster),
        node_addresses=needs.nodes,
        pod_addresses=needs.pods,
        control_plane=control_plane(spec, key),
        global_access=global_access(spec, key),
        security=cluster.security,
        keys=keys_plan(cluster),
        storage=cluster.storage,
        monitoring=monitoring(cluster),
        cost_allocation=cluster.cost_allocation,
        service_account=None
        if cluster.node_service_account
        else ServiceAccountPlan(account_id=own_name, display_name=f"Nodes of GKE cluster {name}", roles=NODE_ROLES),
        node_service_account=cluster.node_service_account,
        ray_operator=cluster.addons.ray.mode == "gke-addon",
        deletion_protection=cluster.deletion_protection,
        resource_labels=labels,
        system_pool=system,
        tpu_pools=pools,
        gpu_pools=gpu_pools,
        namespaces=_namespaces(cluster, queues),
        maintenance=maintenance_plan(cluster.maintenance),
        queues=queues,
        existing=cluster.existing,
        auto_provisioning=auto_provisioning_plan(cluster),
        addons=addon_plans(cluster, system, queues, manager),
        compute_classes=compute_classes(spec, key),
        network=None if cluster.existing else cluster.network.existing,
        manager=manager,
        worker=worker_plan(spec, key),
    )


def _subnet(name: str, cluster: ClusterSpec) -> SubnetPlan:
    return SubnetPlan(
        name=name,
        region=region_of(cluster.location),
        nodes_cidr=cluster.network.nodes_cidr,
        pods_cidr=cluster.network.pods_cidr,
        services_cidr=cluster.network.services_cidr,
    )


def _namespaces(cluster: ClusterSpec, queues: QueuesPlan | None) -> tuple[str, ...]:
    """Those without a queue; the others come with their team."""
    with_queue = {own.name for team in (queues.teams if queues else ()) for own in team.namespaces}
    return tuple(namespace for namespace in cluster.namespaces if namespace not in with_queue)
