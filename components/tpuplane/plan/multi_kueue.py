"""MultiKueue: the manager's queues, made from those of its workers, and the access of the manager to its workers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from tpuplane.plan import queue_model as model
from tpuplane.plan.flavors import rank
from tpuplane.plan.queues import Share, launcher_plan, local_queues, other_kinds
from tpuplane.spec import ControlPlaneSpec, PlatformSpec
from tpuplane.spec.addons.catalogue import addon_catalogue
from tpuplane.spec.cluster.cluster import AuthorizedNetworkSpec
from tpuplane.spec.core.locations import region_of
from tpuplane.spec.queues.kueue_checks import managed
from tpuplane.spec.queues.team_checks import namespaces_of

_LONGEST_NAME = 63  # of an authorized network, as in the spec


def manager_plan(spec: PlatformSpec, key: str) -> model.ManagerPlan | None:
    """The workers and the settings of the manager `key`; None if the cluster is not a manager."""
    shared = spec.queues.multi_kueue
    if shared is None or shared.manager != key:
        return None
    known = addon_catalogue()
    return model.ManagerPlan(
        name=spec.clusters[key].gke_name(spec.name, key),
        namespace=known.addons["kueue"].namespace,
        workers={worker: spec.clusters[worker].gke_name(spec.name, worker) for worker in shared.workers},
        dispatcher=known.kueue["multiKueue"]["dispatchers"][shared.dispatcher],
        worker_lost_timeout=shared.worker_lost_timeout,
    )


def worker_plan(spec: PlatformSpec, key: str) -> model.WorkerPlan | None:
    """The access of the manager to the worker `key`; None if the cluster is not a worker."""
    shared = spec.queues.multi_kueue
    if shared is None or key not in shared.workers:
        return None
    known = addon_catalogue()
    kinds = known.kueue["multiKueue"]["kinds"]
    watched = (kinds[name] for name in managed(spec.clusters[shared.manager]) if name in kinds)
    teams = (name for name, team in spec.teams.items() if key in team.clusters)
    return model.WorkerPlan(
        namespace=known.addons["kueue"].namespace,
        kinds=tuple((group, resource) for group, resource in watched),
        namespaces=tuple(namespace for name in teams for namespace in namespaces_of(name, spec.teams[name])),
    )


def control_plane(spec: PlatformSpec, key: str) -> ControlPlaneSpec:
    """The control plane of the cluster `key`. The pods of its manager can reach its private address."""
    plane, shared = spec.clusters[key].control_plane, spec.queues.multi_kueue
    if shared is None or key not in shared.workers:
        return plane
    pods = spec.clusters[shared.manager].network.pods_cidr
    if any(network.cidr == pods for network in plane.authorized_networks):
        return plane
    name = f"Pods of {spec.clusters[shared.manager].gke_name(spec.name, shared.manager)}, which hands jobs on"
    own = AuthorizedNetworkSpec(cidr=pods, name=name[:_LONGEST_NAME])
    return plane.model_copy(update={"authorized_networks": (*plane.authorized_networks, own)})


def global_access(spec: PlatformSpec, key: str) -> bool:
    """Whether the manager of the cluster `key` is in another region, and so needs global access to its address."""
    shared = spec.queues.multi_kueue
    if shared is None or key not in shared.workers:
        return False
    return region_of(spec.clusters[shared.manager].location) != region_of(spec.clusters[key].location)


def manager_queues(spec: PlatformSpec, queues: Mapping[str, model.QueuesPlan]) -> model.QueuesPlan | None:
    """The manager's queues, from those of all clusters by key. A team's quota is the sum of its quotas in workers."""
    shared = spec.queues.multi_kueue
    workers = [queues[key] for key in shared.workers if key in queues] if shared is not None else []
    if shared is None or not workers:
        return None
    covered = max((worker.covered for worker in workers), key=len)  # equal, except that some include GPUs
    flavors = _flavors(spec, [flavor for worker in workers for flavor in worker.flavors])
    names = [flavor.name for flavor in flavors]
    teams = [name for name in spec.teams if spec.workers_of(name)]
    # MultiKueue creates a job in the local queue of the same name. No job reaches other cluster queues.
    parts = {
        (key, queue.name): queue
        for key in shared.workers
        if key in queues
        for queue in queues[key].cluster_queues
        if any(queue.name in team.local_queues.values() for team in queues[key].teams)
    }
    cluster_queues = tuple(
        _queue(spec, {key: part for (key, own), part in parts.items() if own == name}, names, covered)
        for team in teams
        for name in sorted({queue.name for queue in parts.values() if queue.team == team})
    )
    return replace(
        workers[0],
        # The worker places the pods. Its flavors have the same topologies as those of the manager: with a topology, the
        # manager waits for the placement; without one, it rejects jobs that request a topology.
        topologies=tuple(dict.fromkeys(topology for worker in workers for topology in worker.topologies)),
        flavors=flavors,
        shared=_summed([worker.shared for worker in workers], names, covered),
        cluster_queues=cluster_queues,
        teams=tuple(
            replace(
                next(own for worker in workers for own in worker.teams if own.name == team),
                # No pod runs in its namespaces, so they need no compute class.
                namespaces=tuple(
                    model.NamespacePlan(own, pod_security=spec.teams[team].pod_security)
                    for own in namespaces_of(team, spec.teams[team])
                ),
                local_queues=local_queues(team, spec.teams[team].queue, cluster_queues),
                # An agent starts jobs only in its own cluster.
                launcher=launcher_plan(spec.clusters[shared.manager], team),
            )
            for team in teams
        ),
        covered=covered,
        kinds=other_kinds(spec.clusters[shared.manager]),
    )


def _queue(
    spec: PlatformSpec, parts: Mapping[str, model.ClusterQueuePlan], names: Sequence[str], covered: tuple[str, ...]
) -> model.ClusterQueuePlan:
    """A team's queue in the manager, given those of its workers by key."""
    first = next(iter(parts.values()))
    return replace(
        first,
        flavors=_summed([part.flavors for part in parts.values()], names, covered),
        # The worker requests the nodes. Kueue rejects both kinds of checks in one queue.
        checks=(model.CheckUsePlan(f"multikueue-{first.name}"),),
        workers=tuple(spec.clusters[key].gke_name(spec.name, key) for key in parts),
    )


def _flavors(spec: PlatformSpec, found: Iterable[model.FlavorPlan]) -> tuple[model.FlavorPlan, ...]:
    """Flavors of one name are one, because they have the same labels and taints in each worker."""
    order = spec.queues.capacity_order
    by_name = sorted(found, key=lambda flavor: (bool(flavor.per_slice), rank(flavor.capacity, order), flavor.name))
    return tuple(_flavor(list(alike)) for _, alike in groupby(by_name, key=lambda flavor: flavor.name))


def _flavor(alike: Sequence[model.FlavorPlan]) -> model.FlavorPlan:
    return replace(
        alike[0],
        pools=tuple(dict.fromkeys(pool for flavor in alike for pool in flavor.pools)),
        slices=sum(flavor.slices for flavor in alike),
        provisioning=None,
    )


def _summed(
    parts: Sequence[tuple[model.FlavorQuotaPlan, ...]], names: Sequence[str], covered: tuple[str, ...]
) -> tuple[model.FlavorQuotaPlan, ...]:
    """The quotas of several queues in one, by flavor; `names` are all flavors, in the manager's order."""
    alike = ((name, [quota for part in parts for quota in part if quota.flavor == name]) for name in names)
    return tuple(
        model.FlavorQuotaPlan(name, tuple(_sum(key, quotas) for key in covered)) for name, quotas in alike if quotas
    )


def _sum(resource: str, quotas: Iterable[model.FlavorQuotaPlan]) -> model.ResourceQuotaPlan:
    parts = [part for quota in quotas for part in quota.resources if part.resource == resource]
    share = Share()
    for part in parts:
        share.add(part.nominal, part.borrowing_limit, part.lending_limit)
    borrowing = share.borrowing if parts else None
    return model.ResourceQuotaPlan(resource, share.own, borrowing_limit=borrowing, lending_limit=share.lending)
