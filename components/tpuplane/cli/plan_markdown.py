"""`tpuplane plan --markdown`: the plan and its cost as a comment, and their changes."""

from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest

from tpuplane.cli.plan_queues import HEADS, quotas_of
from tpuplane.cost import Amount, PlatformCost, PoolCost
from tpuplane.plan import PlatformPlan

Planned = tuple[PlatformPlan, PlatformCost]

_Cells = dict[tuple[str, ...], tuple[str, ...]]
"""The cells of each row, by its key cells."""

_QUOTA_HEADS = ("queue", *HEADS[1:])


def plan_as_markdown(now: Planned, before: Planned | None = None) -> str:
    """Pools with slices, chips and cost, and quotas of teams; with `before`, such as the base branch, the changes."""
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
    if rows := list(_differences(_pools(were), _pools(costs))):
        heads = ("pool", "what", "slice", "capacity", "slices", "chips", "USD a month, max")
        yield from _rows(heads, rows, right=3)
    else:
        yield "No pool changes."
    yield from _auto_provisioned(costs)
    if rows := list(_differences(_quotas(was), _quotas(platform))):
        yield ""
        yield from _rows(("cluster", "team", "flavor", "what", *_QUOTA_HEADS[2:]), rows, right=0)


def _differences(before: _Cells, now: _Cells) -> Iterator[tuple[str, ...]]:
    """A row for each key with different cells: the key, the kind of change, and `before → now` in each cell."""
    for key in dict.fromkeys(chain(before, now)):
        old, new = before.get(key), now.get(key)
        if old != new:
            what = "new" if old is None else "removed" if new is None else "changed"
            yield (*key, what, *(_step(*cells) for cells in zip_longest(old or (), new or (), fillvalue="")))


def _pools(costs: PlatformCost) -> _Cells:
    return {(it.path,): _cells(it) for it in costs.pools}


def _quotas(platform: PlatformPlan) -> _Cells:
    """By cluster, queue and flavor."""
    return {(cluster, queue, flavor): tuple(cells) for cluster, queue, flavor, *cells in quotas_of(platform)}


def _cells(cost: PoolCost) -> tuple[str, ...]:
    pool = cost.pool
    return pool.shape, pool.capacity, pool.pieces, f"{pool.units:,}", _usd(cost.sum.max)


def _step(before: object, now: object) -> str:
    one, other = (f"{it:,}" if isinstance(it, int) else str(it) for it in (before, now))
    return f"{one} → {other}" if one and other and one != other else one or other


def _auto_provisioned(costs: PlatformCost) -> Iterator[str]:
    for it in costs.provisioned:
        chips = f"{it.limit.up_to:,} {it.limit.generation} chips"
        yield f"\nGKE can add up to {chips} in {it.cluster}: {_usd(it.up_to)} USD a month."
    total = costs.total.max
    if total.missing:
        yield f"\nWithout a price, so not included in the totals: {', '.join(total.missing)}."


def _usd(amount: Amount) -> str:
    return f"{amount.usd_per_month:,.0f}" if amount.known else "?"


def _rows(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]], *, right: int) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * (len(heads) - right)}{'---:|' * right}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
