"""What teams may be promised: pools that exist, whole slices, and no more of them than there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterator

from tpuplane.gpu import GpuError
from tpuplane.spec.addons.checks import brought_namespaces
from tpuplane.spec.cluster.cluster import ClusterSpec
from tpuplane.spec.core.errors import Mistake, Path, choice, shown
from tpuplane.spec.core.fields import namespace_refusal
from tpuplane.spec.core.locations import gpu_zones
from tpuplane.spec.core.rules import broken
from tpuplane.spec.platform import PlatformSpec
from tpuplane.spec.pools.gpu import GpuPoolSpec
from tpuplane.spec.pools.sizes import AnyPool, pool_size, pools_of
from tpuplane.spec.pools.tpu import PoolSpec
from tpuplane.spec.queues.teams import GpuQuotaSpec, PoolQuotaSpec, TeamSpec
from tpuplane.tpu import Slice, SliceError

_MOST_FLAVORS = 64
"""Kueue takes no more flavors in a resource group."""

_Promised = dict[tuple[str, str], dict[str, int]]
"""By cluster and pool: what each team is promised of it."""


def check_teams(spec: PlatformSpec) -> Iterator[Mistake]:
    """Refuse teams whose queues could never admit what they promise."""
    yield from _check_preemption(spec)
    yield from _check_order(spec.queues.capacity_order)
    yield from _check_launch_agents(spec)
    yield from _check_ray(spec)
    promised: _Promised = defaultdict(dict)
    promised_gpus: _Promised = defaultdict(dict)
    for name, team in spec.teams.items():
        at: Path = ("teams", name)
        yield from _check_namespaces(at, spec, name)
        yield from _check_queue(at, spec, name)
        yield from _check_groups(spec, name)
        if "weight" in team.model_fields_set and not spec.queues.fair_sharing:
            yield broken("team-weight", (*at, "weight"), value=team.weight)
        for key, share in team.clusters.items():
            cluster = spec.clusters.get(key)
            if cluster is None:
                yield Mistake((*at, "clusters", key), choice(key, "one of the clusters", spec.clusters))
                continue
            if cluster.addons.kueue is None and cluster.existing is None:  # another's may have it already
                yield broken("team-needs-kueue", (*at, "clusters", key), value=shown(key))
            for pool_key, quota in share.pools.items():
                path = (*at, "clusters", key, "pools", pool_key)
                slices = yield from _slices(path, cluster, pool_key, quota)
                promised[key, pool_key][name] = slices
            for pool_key, gpu_quota in share.gpu_pools.items():
                path = (*at, "clusters", key, "gpuPools", pool_key)
                gpus = yield from _gpus(path, cluster, pool_key, gpu_quota)
                promised_gpus[key, pool_key][name] = gpus
    yield from _check_flavors(spec)
    for (key, pool_key), shares in promised.items():
        pool = spec.clusters[key].pools.get(pool_key)
        if pool is not None:
            yield from _check_sum(("clusters", key, "pools", pool_key), shares, pool.max_slices, "slices")
    for (key, pool_key), shares in promised_gpus.items():
        cluster = spec.clusters[key]
        gpu_pool = cluster.gpu_pools.get(pool_key)
        if gpu_pool is not None:
            has = _gpus_at_most(cluster, gpu_pool)
            yield from _check_sum(("clusters", key, "gpuPools", pool_key), shares, has, "GPUs")


def _check_flavors(spec: PlatformSpec) -> Iterator[Mistake]:
    """Reject a cluster whose pools with quotas are more flavors than Kueue takes in a resource group."""
    for key, cluster in spec.clusters.items():
        shares = [team.clusters[key] for team in spec.teams.values() if key in team.clusters]
        used = {("pools", name) for share in shares for name in share.pools}
        used |= {("gpuPools", name) for share in shares for name in share.gpu_pools}
        found = {flavor for path, pool in pools_of(cluster) if path in used for flavor in _flavors(cluster, pool)}
        if len(found) > _MOST_FLAVORS:
            yield broken("team-flavors", ("clusters", key), value=len(found), most=_MOST_FLAVORS)


def _flavors(cluster: ClusterSpec, pool: AnyPool) -> Iterator[tuple[object, ...]]:
    """What tells the pool's flavor from others, and of the system pool's the one that its jobs use."""
    size = pool_size(cluster.location, pool)
    if size is None or not size.max_nodes:
        return
    if isinstance(pool, PoolSpec):
        kind: tuple[object, ...] = (pool.topology, pool.accelerator_topology_mode)
    else:
        kind = (pool.partition_size, repr(pool.sharing))
    reservation = pool.reservation.name if pool.reservation is not None else None
    queued = pool.flex_start is not None and pool.flex_start.queued
    placed = pool.autoscaling is None or queued
    yield (placed,)
    yield size.hardware, size.machine_type, *kind, pool.capacity, queued, reservation, pool.compute_class, placed


def _check_launch_agents(spec: PlatformSpec) -> Iterator[Mistake]:
    """Refuse a Launch agent that works for a team which its cluster does not have."""
    for key, cluster in spec.clusters.items():
        here = [name for name in spec.teams if key in spec.clusters_of(name)]
        for index, name in enumerate(cluster.addons.launch_agent.teams if cluster.addons.launch_agent else ()):
            if name not in here:
                path = ("clusters", key, "addons", "launchAgent", "teams", index)
                yield Mistake(path, choice(name, "a team of the cluster", here))


def _check_ray(spec: PlatformSpec) -> Iterator[Mistake]:
    """Refuse an operator that leaves a team's Ray clusters alone. Somebody else's cluster may have another one."""
    for key, cluster in spec.clusters.items():
        watched = cluster.addons.ray.watch_namespaces
        if not watched or cluster.existing is not None:
            continue
        here = (namespaces_of(name, team) for name, team in spec.teams.items() if key in team.clusters)
        missing = [namespace for namespaces in here for namespace in namespaces if namespace not in watched]
        if missing:
            path = ("clusters", key, "addons", "ray", "watchNamespaces")
            yield broken("ray-watches-teams", path, missing=", ".join(missing))


def _check_groups(spec: PlatformSpec, name: str) -> Iterator[Mistake]:
    """Refuse groups in clusters that would not know them. What a cluster of somebody else's knows is not known here."""
    group = next((it for it in spec.teams[name].members if it.startswith("group:")), None)
    for key in spec.clusters_of(name) if group is not None else ():
        cluster = spec.clusters.get(key)
        if cluster is not None and cluster.existing is None and cluster.security.security_group is None:
            at = ("clusters", key, "security", "securityGroup")
            yield broken("team-groups", at, value=group, team=name)


def quota_slices(quota: PoolQuotaSpec, amount: int, shape: Slice) -> int:
    """`amount`, which is in the quota's unit, in slices."""
    return amount if quota.slices is not None else amount // shape.chips


def quota_gpus(quota: GpuQuotaSpec, amount: int, offered: int) -> int:
    """`amount`, which is in the quota's unit, in GPUs, of which a node offers so many."""
    return amount if quota.gpus is not None else amount * offered


def namespaces_of(name: str, team: TeamSpec) -> tuple[str, ...]:
    """The namespaces of the team called `name`."""
    return team.namespaces or (name,)


def _check_order(order: tuple[str, ...]) -> Iterator[Mistake]:
    for index, capacity in enumerate(order):
        if capacity in order[:index]:
            yield Mistake(("queues", "capacityOrder", index), f"{shown(capacity)} stands in the list twice; remove one")


def _check_preemption(spec: PlatformSpec) -> Iterator[Mistake]:
    preemption, at = spec.queues.preemption, ("queues", "preemption", "borrowWithinCohort")
    if preemption.borrow_within_cohort == "Never":
        return
    if spec.queues.fair_sharing:
        yield broken("borrow-or-fair-sharing", at)
    if preemption.reclaim_within_cohort == "Never":
        yield broken("borrow-needs-reclaim", at)


def _check_namespaces(at: Path, spec: PlatformSpec, name: str) -> Iterator[Mistake]:
    mine = namespaces_of(name, spec.teams[name])
    places = spec.clusters_of(name)
    clusters = [spec.clusters[key] for key in places if key in spec.clusters]
    brought = {namespace: title for cluster in clusters for namespace, title in brought_namespaces(cluster).items()}
    for index, namespace in enumerate(mine):
        path = (*at, "namespaces", index) if spec.teams[name].namespaces else at
        refusal = namespace_refusal(namespace)
        if refusal is not None:
            yield Mistake(path, f"its namespace {refusal}, or give the team namespaces")
        if namespace in brought:
            yield broken("addon-namespace", path, value=shown(namespace), addon=brought[namespace])
        if namespace in mine[:index]:
            yield Mistake(path, f"{shown(namespace)} stands in the list twice; remove one")
        for other, team in spec.teams.items():
            if other == name:
                break
            if namespace in namespaces_of(other, team) and not set(places).isdisjoint(spec.clusters_of(other)):
                yield broken("team-namespace", path, value=shown(namespace), owner=other)


def _check_queue(at: Path, spec: PlatformSpec, name: str) -> Iterator[Mistake]:
    """Reject a team whose cluster queue would have the name of another team's queue of autoscaled pools."""
    owner = name.removesuffix("-elastic")
    if owner in spec.teams and owner != name and not {*spec.clusters_of(name)}.isdisjoint(spec.clusters_of(owner)):
        yield broken("team-elastic", at, value=shown(name), owner=owner)


def _slices(path: Path, cluster: ClusterSpec, key: str, quota: PoolQuotaSpec) -> Generator[Mistake, None, int]:
    """Refuse what is wrong with one quota. Returns its slices."""
    pool = cluster.pools.get(key)
    if pool is None:
        yield Mistake(path, choice(key, "a pool of the cluster", cluster.pools))
        return 0
    try:
        shape = pool.slice
    except SliceError:
        return 0  # reported where it stands
    if (quota.slices is None) == (quota.chips is None):
        yield broken("team-quota-unit", path, one="slices", other="chips")
        return 0
    unit = "slices" if quota.slices is not None else "chips"
    own = (quota.slices if quota.slices is not None else quota.chips) or 0
    for field, amount in (
        (unit, own),
        ("borrowingLimit", quota.borrowing_limit),
        ("lendingLimit", quota.lending_limit),
    ):
        if unit == "chips" and amount is not None and amount % shape.chips:
            nearest = amount // shape.chips * shape.chips
            yield broken(
                "team-quota-whole", (*path, field), value=amount, shape=shape, chips=shape.chips, nearest=nearest,
                above=nearest + shape.chips,
            )  # fmt: skip
    if quota.lending_limit is not None and quota.lending_limit > own:
        yield broken("team-lends-own", (*path, "lendingLimit"), value=quota.lending_limit, own=own, unit=unit)
    return quota_slices(quota, own, shape)


def _gpus(path: Path, cluster: ClusterSpec, key: str, quota: GpuQuotaSpec) -> Generator[Mistake, None, int]:
    """Refuse what is wrong with one quota in a GPU pool. Returns its GPUs."""
    pool = cluster.gpu_pools.get(key)
    if pool is None:
        yield Mistake(path, choice(key, "a GPU pool of the cluster", cluster.gpu_pools))
        return 0
    if (quota.nodes is None) == (quota.gpus is None):
        yield broken("team-quota-unit", path, one="nodes", other="gpus")
        return 0
    unit, own = ("nodes", quota.nodes or 0) if quota.nodes is not None else ("GPUs", quota.gpus or 0)
    if quota.lending_limit is not None and quota.lending_limit > own:
        yield broken("team-lends-own", (*path, "lendingLimit"), value=quota.lending_limit, own=own, unit=unit)
    try:
        return quota_gpus(quota, own, pool.offered)
    except GpuError:
        return 0  # reported where it stands


def _gpus_at_most(cluster: ClusterSpec, pool: GpuPoolSpec) -> int:
    try:
        return pool.max_nodes * len(gpu_zones(cluster.location, pool)) * pool.offered
    except GpuError:
        return 0  # and nothing is promised of it


def _check_sum(pool: tuple[str, ...], shares: dict[str, int], has: int, unit: str) -> Iterator[Mistake]:
    total = 0
    for name, own in shares.items():
        total += own
        if total > has:
            at = ("teams", name, *pool)
            where, others = ".".join(pool), total - own
            yield broken("team-quota-sum", at, value=own, pool=where, has=has, others=others, unit=unit)
