"""`tpuplane plan --markdown`: the plan and its cost as a comment on a change, and what the change does to both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from tpuplane.cli.plan_queues import HEADS, quotas_of
from tpuplane.cost import Amount, PlatformCost, PoolCost
from tpuplane.plan import PlatformPlan
from tpuplane.plan.summary import GpuPoolSummary

Planned = tuple[PlatformPlan, PlatformCost]

_QUOTA_HEADS = ("team", *HEADS[1:])


def plan_as_markdown(now: Planned, before: Planned | None = None) -> str:
    """Pools with slices, chips and cost, and teams' quotas; beside `before`, such as the base branch, what changed."""
    return "\n".join(_changes(now, before) if before else _table(now)) + "\n"


def _table(now: Planned) -> Iterator[str]:
    platform, costs = now
    yield f"### {platform.name}: {platform.chips:,} chips, {_usd(costs.total.max)} USD a month at full scale\n"
    yield from _rows(
        ("cluster", "pool", "slice", "capacity", "slices", "chips", "USD a month, min", "max"),
        (
            (it.cluster, it.pool.name, shape, capacity, slices, chips, _usd(it.sum.min), usd)
            for it in costs.pools
            for shape, capacity, slices, chips, usd in [_cells(it)]
        ),
        right=4,
    )
    yield from _auto_provisioned(costs)
    if quotas := list(quotas_of(platform)):
        yield ""
        yield from _rows(("cluster", *_QUOTA_HEADS), quotas, right=0)


def _changes(now: Planned, before: Planned) -> Iterator[str]:
    (platform, costs), (was, were) = now, before
    chips, usd = _step(was.chips, platform.chips), _step(_usd(were.total.max), _usd(costs.total.max))
    yield f"### {platform.name}: {chips} chips, {usd} USD a month at full scale\n"
    new, old = _by_path(costs), _by_path(were)
    rows = [_change(path, old.get(path), new.get(path)) for path in dict.fromkeys(chain(old, new))]
    if rows := [row for row in rows if row]:
        heads = ("pool", "what", "slice", "capacity", "slices", "chips", "USD a month, max")
        yield from _rows(heads, rows, right=3)
    else:
        yield "No pool changes."
    yield from _auto_provisioned(costs)
    of_new, of_old = _quotas(platform), _quotas(was)
    found = [_quota_change(key, of_old.get(key), of_new.get(key)) for key in dict.fromkeys(chain(of_old, of_new))]
    if rows := [row for row in found if row]:
        yield ""
        yield from _rows(("cluster", "team", "flavor", "what", *_QUOTA_HEADS[2:]), rows, right=0)


def _change(path: str, old: PoolCost | None, new: PoolCost | None) -> tuple[str, ...] | None:
    """One row, `before → now` where they differ; None where nothing does."""
    before, after = _cells(old), _cells(new)
    if before == after:
        return None
    what = "new" if old is None else "gone" if new is None else "changed"
    return (path, what, *(_step(one, other) for one, other in zip(before, after, strict=True)))


def _quotas(platform: PlatformPlan) -> dict[tuple[str, ...], tuple[str, ...]]:
    """What stands of each quota, by cluster, team and flavor."""
    return {(cluster, team, flavor): tuple(cells) for cluster, team, flavor, *cells in quotas_of(platform)}


def _quota_change(
    key: tuple[str, ...], old: tuple[str, ...] | None, new: tuple[str, ...] | None
) -> tuple[str, ...] | None:
    if old == new:
        return None
    what = "new" if old is None else "gone" if new is None else "changed"
    nothing = ("",) * (len(_QUOTA_HEADS) - 2)
    return (*key, what, *(_step(one, other) for one, other in zip(old or nothing, new or nothing, strict=True)))


def _cells(cost: PoolCost | None) -> tuple[str, ...]:
    if cost is None:
        return ("",) * 5
    pool = cost.pool
    if isinstance(pool, GpuPoolSummary):
        return str(pool.machine), pool.capacity, pool.nodes, f"{pool.gpus:,}", _usd(cost.sum.max)
    return str(pool.shape), pool.capacity, pool.slices, f"{pool.chips:,}", _usd(cost.sum.max)


def _step(before: object, now: object) -> str:
    one, other = (f"{it:,}" if isinstance(it, int) else str(it) for it in (before, now))
    return f"{one} → {other}" if one and other and one != other else one or other


def _by_path(costs: PlatformCost) -> dict[str, PoolCost]:
    return {it.path: it for it in costs.pools}


def _auto_provisioned(costs: PlatformCost) -> Iterator[str]:
    for it in costs.provisioned:
        chips = f"{it.limit.up_to:,} {it.limit.generation} chips"
        yield f"\nGKE may add up to {chips} in {it.cluster}: {_usd(it.up_to)} USD a month."
    total = costs.total.max
    if total.missing:
        yield f"\nWithout a price, and not in the sums: {', '.join(total.missing)}."


def _usd(amount: Amount) -> str:
    return f"{amount.usd_per_month:,.0f}" if amount.known else "?"


def _rows(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]], *, right: int) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * (len(heads) - right)}{'---:|' * right}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
