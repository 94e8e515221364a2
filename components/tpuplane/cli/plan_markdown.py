"""`tpuplane plan --markdown`: the plan and its cost as a comment."""

from collections.abc import Iterator

from tpuplane.cli.plan_queues import HEADS, quotas_of
from tpuplane.cli.render import markdown_rows
from tpuplane.cost import Amount, PlatformCost, PoolCost
from tpuplane.plan import PlatformPlan
from tpuplane.quantities import counted

_QUOTA_HEADS = ("queue", *HEADS[1:])


def plan_as_markdown(platform: PlatformPlan, costs: PlatformCost) -> Iterator[str]:
    """Pools with slices, chips and cost; and the quotas of teams."""
    yield f"### {platform.name}: {counted(platform.chips, 'chip')}, {_usd(costs.total.max)} USD a month at full scale\n"
    heads = ("cluster", "pool", "slice", "capacity", "slices", "chips", "USD a month, min", "max")
    yield from markdown_rows(heads, map(_cells, costs.pools), right=4)
    for cost in costs.provisioned:
        chips = counted(cost.limit.up_to, f"{cost.limit.generation} chip")
        yield f"\nGKE can add up to {chips} in {cost.cluster}: {_usd(cost.up_to)} USD a month."
    if missing := costs.total.max.missing:
        yield f"\nWithout a price, so not included in the totals: {', '.join(missing)}."
    if quotas := list(quotas_of(platform)):
        yield ""
        yield from markdown_rows(("cluster", *_QUOTA_HEADS), quotas)


def _cells(cost: PoolCost) -> tuple[str, ...]:
    pool, usd = cost.pool, (_usd(cost.sum.min), _usd(cost.sum.max))
    return cost.cluster, pool.name, pool.shape, pool.capacity, pool.pieces, f"{pool.units:,}", *usd


def _usd(amount: Amount) -> str:
    return f"{amount.usd_per_month:,.0f}" if amount.known else "?"
