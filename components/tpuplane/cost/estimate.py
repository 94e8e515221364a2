"""The cost of chips and GPUs per hour: by pool, cluster and capacity, and in total."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from tpuplane.cost.rates import Rate, charging, gpu_rate, rate
from tpuplane.plan import PlatformPlan
from tpuplane.plan.cluster_options import TpuLimitPlan
from tpuplane.plan.summary import PoolSummary
from tpuplane.tpu import Price, Slice


@dataclass(frozen=True, slots=True)
class PoolCost:
    """The cost of a pool's chips or GPUs."""

    cluster: str
    """GKE name of the cluster."""
    pool: PoolSummary
    rate: Rate

    @property
    def path(self) -> str:
        """The name of the pool in messages."""
        return f"{self.cluster} {self.pool.name}"

    @property
    def sum(self) -> "Sum":
        """Its cost as a sum."""
        return Sum.of([self])


@dataclass(frozen=True, slots=True)
class Amount:
    """US dollars per hour of running chips and GPUs."""

    usd_per_hour: float
    estimated: tuple[str, ...] = ()
    """Pools that are included with the price of another region."""
    missing: tuple[str, ...] = ()
    """Pools with chips or GPUs that are not included because they have no price."""

    @classmethod
    def of(cls, pools: Iterable[tuple["PoolCost | ProvisionedCost", int]]) -> Self:
        """The cost of pools, each with its running chips or GPUs."""
        running = [(pool, chips) for pool, chips in pools if chips]
        priced = ((pool.rate.price, chips) for pool, chips in running)
        total = sum(chips * price.usd_per_chip_hour for price, chips in priced if price is not None)
        estimated = tuple(pool.path for pool, _ in running if pool.rate.stand_in)
        return cls(total, estimated, tuple(pool.path for pool, _ in running if pool.rate.price is None))

    @property
    def known(self) -> bool:
        """Whether the amount includes a price, or no price is missing."""
        return not self.missing or self.usd_per_hour > 0

    @property
    def usd_per_month(self) -> float:
        """The same for a month of `charging().hours_per_month` hours."""
        return self.usd_per_hour * charging().hours_per_month


@dataclass(frozen=True, slots=True)
class Sum:
    """The cost of pools at their minimum and at full scale."""

    min: Amount
    max: Amount

    @classmethod
    def of(cls, pools: Iterable[PoolCost]) -> Self:
        """The cost of several pools together."""
        pools = list(pools)
        return cls(
            min=Amount.of((cost, cost.pool.min_units) for cost in pools),
            max=Amount.of((cost, cost.pool.units) for cost in pools),
        )


@dataclass(frozen=True, slots=True)
class ProvisionedCost:
    """The cost of the chips that node auto-provisioning can add up to its limit."""

    cluster: str
    """GKE name of the cluster."""
    limit: TpuLimitPlan
    rate: Rate

    @property
    def path(self) -> str:
        """The name of the pools in messages."""
        return f"{self.cluster} auto-provisioned {self.limit.generation}"

    @property
    def up_to(self) -> Amount:
        """The maximum in addition to the declared pools, at the on-demand price, which is the highest."""
        return Amount.of([(self, self.limit.up_to)])


@dataclass(frozen=True, slots=True)
class PlatformCost:
    """The cost of a platform's chips and GPUs. Other costs: `charging().not_included`."""

    pools: tuple[PoolCost, ...]
    provisioned: tuple[ProvisionedCost, ...] = ()
    """Not included in sums, because the future number of chips is unknown."""

    @property
    def total(self) -> Sum:
        """The whole platform."""
        return Sum.of(self.pools)

    @property
    def by_capacity(self) -> dict[str, Sum]:
        """A sum for each capacity, in the order of the file."""
        names = dict.fromkeys(pool.pool.capacity for pool in self.pools)
        return {name: Sum.of(pool for pool in self.pools if pool.pool.capacity == name) for name in names}

    def of_cluster(self, name: str) -> Sum:
        """One cluster's pools."""
        return Sum.of(pool for pool in self.pools if pool.cluster == name)

    @property
    def prices(self) -> tuple[Price, ...]:
        """Each price that is used."""
        used = [*(pool.rate.price for pool in self.pools), *(cost.rate.price for cost in self.provisioned)]
        return tuple(dict.fromkeys(price for price in used if price is not None))

    @property
    def sources(self) -> tuple[str, ...]:
        """Keys of `citation` for the prices."""
        return tuple(dict.fromkeys(price.source for price in self.prices))

    @property
    def oldest(self) -> str | None:
        """The date of the oldest price; None if a price has no date, or no price is used."""
        dates = [price.as_of for price in self.prices]
        return None if None in dates else min((date for date in dates if date), default=None)

    @property
    def notes(self) -> dict[str, str]:
        """Notes on the charges of the capacities in use."""
        return {name: charging().notes[name] for name in self.by_capacity if name in charging().notes}


def cost(platform: PlatformPlan, *, estimate: bool = False) -> PlatformCost:
    """The cost of a plan. With `estimate`, prices of other regions replace missing ones."""
    found: list[PoolCost] = []
    for cluster in platform.clusters:
        for pool in PoolSummary.of(cluster.pools):
            where = (cluster.region, pool.capacity)
            if isinstance(pool.hardware, Slice):
                price = rate(pool.hardware.generation.name, *where, estimate=estimate)
            else:
                price = gpu_rate(pool.hardware.machine, *where, estimate=estimate)
            found.append(PoolCost(cluster.name, pool, price))
    provisioned = tuple(
        ProvisionedCost(cluster.name, limit, rate(limit.generation, cluster.region, "on-demand", estimate=estimate))
        for cluster in platform.clusters
        if cluster.auto_provisioning is not None
        for limit in cluster.auto_provisioning.tpu
    )
    return PlatformCost(tuple(found), provisioned)
