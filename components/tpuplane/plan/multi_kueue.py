"""MultiKueue: the manager's queues from those of its workers, and what the workers let it do."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from tpuplane.plan.flavors import rank
from tpuplane.plan.queue_model import (
    CheckUsePlan,
    ClusterQueuePlan,
    FlavorPlan,
    FlavorQuotaPlan,
    ManagerPlan,
    NamespacePlan,
    QueuesPlan,
    ResourceQuotaPlan,
    WorkerPlan,
)
from tpuplane.plan.queues import Share, launcher_plan, local_queues
from tpuplane.spec import ControlPlaneSpec, PlatformSpec
from tpuplane.spec.addons.catalogue import addon_catalogue
from tpuplane.spec.cluster.cluster import AuthorizedNetworkSpec
from tpuplane.spec.core.locations import region_of
from tpuplane.spec.queues.kueue_checks import managed
from tpuplane.spec.queues.team_checks import namespaces_of

_LONGEST_NAME = 63  # of an authorized network, as the spec has it


def manager_plan(spec: PlatformSpec, key: str) -> ManagerPlan | None:
    """What the cluster `key` hands on, and to whom; None where it is no manager."""
    shared = spec.queues.multi_kueue
    if shared is None or shared.manager != key:
        return None
    known = addon_catalogue()
    return ManagerPlan(
        name=spec.clusters[key].gke_name(spec.name, key),
        namespace=known.addons["kueue"].namespace,
        workers={worker: spec.clusters[worker].gke_name(spec.name, worker) for worker in shared.workers},
        dispatcher=known.kueue["multiKueue"]["dispatchers"][shared.dispatcher],
        worker_lost_timeout=shared.worker_lost_timeout,
    )


def worker_plan(spec: PlatformSpec, key: str) -> WorkerPlan | None:
    """What the cluster `key` lets its manager do; None where it is no worker."""
    shared = spec.queues.multi_kueue
    if shared is None or key not in shared.workers:
        return None
    known = addon_catalogue()
    kinds = known.kueue["multiKueue"]["kinds"]
    watched = (kinds[name] for name in managed(spec.clusters[shared.manager]) if name in kinds)
    teams = (name for name, team in spec.teams.items() if key in team.clusters)
    return WorkerPlan(
        namespace=known.addons["kueue"].namespace,
        kinds=tuple((group, resource) for group, resource in watched),
        namespaces=tuple(namespace for name in teams for namespace in namespaces_of(name, spec.teams[name])),
    )


def control_plane(spec: PlatformSpec, key: str) -> ControlPlaneSpec:
    """The control plane of the cluster `key`, which the pods of its manager reach at its private address."""
    plane, shared = spec.clusters[key].control_plane, spec.queues.multi_kueue
    if shared is None or key not in shared.workers:
        return plane
    pods = spec.clusters[shared.manager].network.pods_cidr
    name = f"Pods of {spec.clusters[shared.manager].gke_name(spec.name, shared.manager)}, which hands jobs on"
    let_in = AuthorizedNetworkSpec(cidr=pods, name=name[:_LONGEST_NAME])
    return plane.model_copy(update={"authorized_networks": (*plane.authorized_networks, let_in)})


def global_access(spec: PlatformSpec, key: str) -> bool:
    """Whether the manager of the cluster `key` is in another region, which a private address answers only then."""
    shared = spec.queues.multi_kueue
    if shared is None or key not in shared.workers:
        return False
    return region_of(spec.clusters[shared.manager].location) != region_of(spec.clusters[key].location)


def manager_queues(spec: PlatformSpec, queues: Mapping[str, QueuesPlan]) -> QueuesPlan | None:
    """The queues of the manager, given those of all clusters by key: each team's quota is the sum of its workers'."""
    shared = spec.queues.multi_kueue
    found = [queues[key] for key in shared.workers if key in queues] if shared is not None else []
    if shared is None or not found:
        return None
    covered = max((it.covered for it in found), key=len)  # the same, some of them with GPUs
    flavors = _flavors(spec, [flavor for it in found for flavor in it.flavors])
    names = [flavor.name for flavor in flavors]
    teams = [name for name in spec.teams if spec.workers_of(name)]
    # A job is sent to the local queue of the same name there: cluster queues to which none leads take none.
    parts = {
        (key, it.name): it
        for key in shared.workers
        if key in queues
        for it in queues[key].cluster_queues
        if any(it.name in team.local_queues.values() for team in queues[key].teams)
    }
    cluster_queues = tuple(
        _queue(spec, {key: it for (key, of), it in parts.items() if of == name}, names, covered)
        for team in teams
        for name in sorted({queue.name for queue in parts.values() if queue.team == team})
    )
    return replace(
        found[0],
        # Work is placed in the worker. A flavor is the same here and there: the manager waits for a placement where the
        # worker's has a topology, and rejects work that asks for one where it has none.
        topologies=tuple(dict.fromkeys(topology for it in found for topology in it.topologies)),
        flavors=flavors,
        shared=_summed([it.shared for it in found], names, covered),
        cluster_queues=cluster_queues,
        teams=tuple(
            replace(
                next(it for part in found for it in part.teams if it.name == team),
                # No pod runs in its namespaces, so that they need no compute class.
                namespaces=tuple(
                    NamespacePlan(own, pod_security=spec.teams[team].pod_security)
                    for own in namespaces_of(team, spec.teams[team])
                ),
                local_queues=local_queues(spec.teams[team].queue, [it for it in cluster_queues if it.team == team]),
                # An agent has rights where it runs: the workers' own start jobs there, the manager's start them here.
                launcher=launcher_plan(spec.clusters[shared.manager], team),
            )
            for team in teams
        ),
        covered=covered,
    )


def _queue(
    spec: PlatformSpec, parts: Mapping[str, ClusterQueuePlan], names: Sequence[str], covered: tuple[str, ...]
) -> ClusterQueuePlan:
    """A team's queue in the manager, given those of its workers by key."""
    first = next(iter(parts.values()))
    return replace(
        first,
        flavors=_summed([part.flavors for part in parts.values()], names, covered),
        # Nodes are asked for in a worker; Kueue takes both kinds of checks in one queue for a mistake.
        checks=(CheckUsePlan(f"multikueue-{first.name}"),),
        workers=tuple(spec.clusters[key].gke_name(spec.name, key) for key in parts),
    )


def _flavors(spec: PlatformSpec, found: Iterable[FlavorPlan]) -> tuple[FlavorPlan, ...]:
    """Flavors of one name are one, because they have the same labels and taints in each worker."""
    order = spec.queues.capacity_order
    by_name = sorted(found, key=lambda it: (bool(it.per_slice), rank(it.capacity, order), it.name))
    return tuple(_flavor(list(alike)) for _, alike in groupby(by_name, key=lambda it: it.name))


def _flavor(alike: Sequence[FlavorPlan]) -> FlavorPlan:
    return replace(
        alike[0],
        pools=tuple(dict.fromkeys(pool for it in alike for pool in it.pools)),
        slices=sum(it.slices for it in alike),
        provisioning=None,
    )


def _summed(
    parts: Iterable[tuple[FlavorQuotaPlan, ...]], names: Sequence[str], covered: tuple[str, ...]
) -> tuple[FlavorQuotaPlan, ...]:
    """The quotas of several queues in one, by flavor; `names` are all flavors, in the manager's order."""
    by_flavor: dict[str, list[FlavorQuotaPlan]] = {}
    for part in parts:
        for quota in part:
            by_flavor.setdefault(quota.flavor, []).append(quota)
    return tuple(
        FlavorQuotaPlan(name, tuple(_sum(it, by_flavor[name]) for it in covered)) for name in names if name in by_flavor
    )


def _sum(resource: str, quotas: Iterable[FlavorQuotaPlan]) -> ResourceQuotaPlan:
    found = [it for quota in quotas for it in quota.resources if it.resource == resource]
    share = Share()
    for it in found:
        share.add(it.nominal, it.borrowing_limit, it.lending_limit)
    return ResourceQuotaPlan(
        resource, share.own, borrowing_limit=share.borrowing if found else None, lending_limit=share.lending
    )
