"""What teams may be promised: pools that exist, whole slices, and no more of them than there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterator

from tpuplane.spec.clusters import ClusterSpec
from tpuplane.spec.errors import Mistake, Path, choice, shown
from tpuplane.spec.platform import PlatformSpec
from tpuplane.spec.pools import PoolSpec
from tpuplane.spec.rules import broken
from tpuplane.spec.teams import PoolQuotaSpec, TeamSpec
from tpuplane.tpu import Slice, SliceError


def check_teams(spec: PlatformSpec) -> Iterator[Mistake]:
    """Refuse teams whose queues could never admit what they promise."""
    yield from _check_preemption(spec)
    promised: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for name, team in spec.teams.items():
        at: Path = ("teams", name)
        yield from _check_namespaces(at, spec, name)
        for key, share in team.clusters.items():
            cluster = spec.clusters.get(key)
            if cluster is None:
                yield Mistake((*at, "clusters", key), choice(key, "one of the clusters", spec.clusters))
                continue
            for pool_key, quota in share.pools.items():
                path = (*at, "clusters", key, "pools", pool_key)
                slices = yield from _slices(path, cluster, pool_key, quota)
                promised[key, pool_key][name] = slices
    yield from _check_sums(spec, promised)


def quota_slices(quota: PoolQuotaSpec, amount: int, shape: Slice) -> int:
    """`amount`, which is in the quota's unit, in slices."""
    return amount if quota.slices is not None else amount // shape.chips


def namespaces_of(name: str, team: TeamSpec) -> tuple[str, ...]:
    """The namespaces of the team called `name`."""
    return team.namespaces or (name,)


def _check_preemption(spec: PlatformSpec) -> Iterator[Mistake]:
    preemption, at = spec.queues.preemption, ("queues", "preemption", "borrowWithinCohort")
    if preemption.borrow_within_cohort == "Never":
        return
    if spec.queues.fair_sharing:
        yield broken("borrow-or-fair-sharing", at, ("queues", "fairSharing"))
    if preemption.reclaim_within_cohort == "Never":
        yield broken("borrow-needs-reclaim", at, ("queues", "preemption", "reclaimWithinCohort"))


def _check_namespaces(at: Path, spec: PlatformSpec, name: str) -> Iterator[Mistake]:
    mine = namespaces_of(name, spec.teams[name])
    for index, namespace in enumerate(mine):
        path = (*at, "namespaces", index) if spec.teams[name].namespaces else at
        if namespace in mine[:index]:
            yield Mistake(path, f"{shown(namespace)} stands in the list twice; remove one")
        for other, team in spec.teams.items():
            if other == name:
                break
            if namespace in namespaces_of(other, team) and team.clusters.keys() & spec.teams[name].clusters.keys():
                yield broken("team-namespace", path, value=shown(namespace), owner=other)


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
        yield broken("team-quota-unit", path)
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


def _check_sums(spec: PlatformSpec, promised: dict[tuple[str, str], dict[str, int]]) -> Iterator[Mistake]:
    for (key, pool_key), shares in promised.items():
        pool: PoolSpec | None = spec.clusters[key].pools.get(pool_key)
        if pool is None:
            continue
        total = 0
        for name, slices in shares.items():
            total += slices
            if total > pool.max_slices:
                yield broken(
                    "team-quota-sum",
                    ("teams", name, "clusters", key, "pools", pool_key),
                    value=slices,
                    pool=f"clusters.{key}.pools.{pool_key}",
                    has=pool.max_slices,
                    others=total - slices,
                )
