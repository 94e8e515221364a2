"""Queues: who has how much of which flavor, from the teams and the pools of a cluster."""

from __future__ import annotations

from tpuplane.plan.flavors import CPU_FLAVOR, SLICE_TOPOLOGY, flavor_of, flavors
from tpuplane.plan.model import NodePoolPlan
from tpuplane.plan.queue_model import (
    TPU,
    ClusterQueuePlan,
    FlavorPlan,
    FlavorQuotaPlan,
    LocalQueuePlan,
    MemberPlan,
    PreemptionPlan,
    PriorityClassPlan,
    QueuesPlan,
    ResourceQuotaPlan,
)
from tpuplane.spec import PlatformSpec
from tpuplane.spec.cluster_classes import namespace_classes
from tpuplane.spec.team_checks import namespaces_of, quota_slices
from tpuplane.spec.teams import PoolQuotaSpec, TeamClusterSpec, TeamSpec

COVERED = (TPU, "cpu", "memory", "ephemeral-storage")
"""Every resource that TPU pods ask for: one that no queue covers is never admitted (xpk issue 603)."""

# Compute Engine's GB are 2^30 bytes.
_UNITS = {TPU: "", "cpu": "", "memory": "Gi", "ephemeral-storage": "Gi"}


def queues_plan(
    spec: PlatformSpec, key: str, pools: tuple[NodePoolPlan, ...], *, system_pool: bool
) -> QueuesPlan | None:
    """What Kueue gets in the cluster `key`; None where no team has anything in it."""
    teams = {name: team for name, team in spec.teams.items() if key in team.clusters}
    if not teams:
        return None
    classes = namespace_classes(spec, key)
    used = dict.fromkeys(pool for team in teams.values() for pool in team.clusters[key].pools)
    found = flavors(pools, used, spec.queues.capacity_order, system_pool=system_pool)
    shares = {name: _shares(team.clusters[key], pools) for name, team in teams.items()}
    queues = spec.queues
    return QueuesPlan(
        topologies=(SLICE_TOPOLOGY,) if any(flavor.topology for flavor in found) else (),
        flavors=found,
        priorities=tuple(
            PriorityClassPlan(name, priority.value, priority.description)
            for name, priority in queues.priorities.items()
        ),
        cohort=spec.name,
        shared=_shared(found, shares),
        cluster_queues=tuple(
            _cluster_queue(name, team, team.clusters[key], found, shares[name], classes, fair=queues.fair_sharing)
            for name, team in teams.items()
        ),
        covered=COVERED,
        strategy=queues.strategy,
        preemption=PreemptionPlan(
            within_cluster_queue=queues.preemption.within_cluster_queue,
            reclaim_within_cohort=queues.preemption.reclaim_within_cohort,
            borrow_within_cohort=queues.preemption.borrow_within_cohort,
        ),
        fair_sharing=queues.fair_sharing,
    )


class _Share:
    """A team's part of one flavor, in slices: pools of one shape and capacity are one flavor, so quotas add up."""

    def __init__(self) -> None:
        self.slices = 0
        self.borrowing: int | None = 0
        self.lending: int | None = 0

    def add(self, quota: PoolQuotaSpec, pool: NodePoolPlan) -> None:
        if pool.slice is None:
            raise ValueError(f"{pool.name!r} is no TPU pool")
        own = quota_slices(quota, (quota.slices if quota.slices is not None else quota.chips) or 0, pool.slice)
        self.slices += own
        for field, limit in (("borrowing", quota.borrowing_limit), ("lending", quota.lending_limit)):
            so_far = getattr(self, field)
            more = None if limit is None else quota_slices(quota, limit, pool.slice)
            setattr(self, field, None if so_far is None or more is None else so_far + more)


def _shares(team: TeamClusterSpec, pools: tuple[NodePoolPlan, ...]) -> dict[str, _Share]:
    shares: dict[str, _Share] = {}
    for key, quota in team.pools.items():
        flavor = flavor_of(pools, key)
        if flavor is not None:
            pool = next(it for it in pools if it.pool == key)
            shares.setdefault(flavor, _Share()).add(quota, pool)
    return shares


def _cluster_queue(
    name: str,
    team: TeamSpec,
    cluster: TeamClusterSpec,
    found: tuple[FlavorPlan, ...],
    shares: dict[str, _Share],
    classes: dict[str, str],
    *,
    fair: bool,
) -> ClusterQueuePlan:
    mine = tuple(flavor for flavor in found if flavor.name in shares)
    return ClusterQueuePlan(
        name=name,
        flavors=(_cpu_quota(cluster), *(_slice_quota(flavor, shares[flavor.name]) for flavor in mine)),
        weight=team.weight if fair else None,
        local_queues=tuple(LocalQueuePlan(team.queue, own, classes.get(own)) for own in namespaces_of(name, team)),
        members=tuple(_member(member) for member in team.members),
        provisioned_flavors=tuple(flavor.name for flavor in mine if flavor.queued),
    )


def _cpu_quota(cluster: TeamClusterSpec) -> FlavorQuotaPlan:
    cpu = cluster.cpu
    amounts = {TPU: 0, "cpu": cpu.cores, "memory": cpu.memory_gb, "ephemeral-storage": cpu.storage_gb}
    return FlavorQuotaPlan(CPU_FLAVOR, tuple(ResourceQuotaPlan(it, _quantity(it, amounts[it])) for it in COVERED))


def _slice_quota(flavor: FlavorPlan, share: _Share) -> FlavorQuotaPlan:
    """Limits are on chips alone: what else a host has goes with its chips."""
    return FlavorQuotaPlan(
        flavor.name,
        tuple(
            ResourceQuotaPlan(
                resource,
                _quantity(resource, share.slices * flavor.per_slice[resource]),
                borrowing_limit=_limit(share.borrowing, flavor) if resource == TPU else None,
                lending_limit=_limit(share.lending, flavor) if resource == TPU else None,
            )
            for resource in COVERED
        ),
    )


def _limit(slices: int | None, flavor: FlavorPlan) -> str | None:
    return None if slices is None else str(slices * flavor.per_slice[TPU])


def _shared(found: tuple[FlavorPlan, ...], shares: dict[str, dict[str, _Share]]) -> tuple[FlavorQuotaPlan, ...]:
    """What is left of each flavor: the cohort's own, for whoever asks first."""
    left: list[FlavorQuotaPlan] = []
    for flavor in found:
        own = sum(of[flavor.name].slices for of in shares.values() if flavor.name in of)
        idle = flavor.slices - own
        if idle > 0:
            amounts = tuple(ResourceQuotaPlan(it, _quantity(it, idle * flavor.per_slice[it])) for it in COVERED)
            left.append(FlavorQuotaPlan(flavor.name, amounts))
    return tuple(left)


def _quantity(resource: str, amount: int) -> str:
    return f"{amount}{_UNITS[resource]}" if amount else "0"


def _member(member: str) -> MemberPlan:
    """Kubernetes knows Google's service accounts as users too, by their e-mail address."""
    kind, _, name = member.partition(":")
    return MemberPlan("Group" if kind == "group" else "User", name)
