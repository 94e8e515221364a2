"""What the chips and GPUs of a platform cost per hour: for each pool, cluster and capacity, and in all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tpuplane.cost.charging import charging
from tpuplane.cost.rates import Rate, gpu_rate, rate
from tpuplane.plan import PlatformPlan, TpuLimitPlan
from tpuplane.plan.summary import GpuPoolSummary, PoolSummary
from tpuplane.tpu import Price


@dataclass(frozen=True, slots=True)
class PoolCost:
    """What one pool's chips or GPUs cost."""

    cluster: str
    """GKE name of the cluster."""
    pool: PoolSummary | GpuPoolSummary
    rate: Rate

    @property
    def min_units(self) -> int:
        """Chips or GPUs that are always there."""
        return self.pool.min_chips if isinstance(self.pool, PoolSummary) else self.pool.min_gpus

    @property
    def units(self) -> int:
        """Chips or GPUs at full scale."""
        return self.pool.chips if isinstance(self.pool, PoolSummary) else self.pool.gpus

    @property
    def path(self) -> str:
        """The pool as messages name it."""
        return f"{self.cluster} {self.pool.name}"

    @property
    def sum(self) -> Sum:
        """Its cost, as a sum of one."""
        return Sum.of([self])


@dataclass(frozen=True, slots=True)
class Amount:
    """US dollars per hour of running chips and GPUs."""

    usd_per_hour: float
    estimated: tuple[str, ...] = ()
    """Pools in it that are counted at another region's price."""
    missing: tuple[str, ...] = ()
    """Pools that run chips and are not in it, for want of a price."""

    @classmethod
    def of(cls, pools: Iterable[tuple[PoolCost, int]]) -> Amount:
        """What these pools cost, each with the chips or GPUs that it runs."""
        running = [(pool, chips) for pool, chips in pools if chips]
        return cls(
            usd_per_hour=sum(
                chips * pool.rate.price.usd_per_chip_hour for pool, chips in running if pool.rate.price is not None
            ),
            estimated=tuple(pool.path for pool, _ in running if pool.rate.stand_in),
            missing=tuple(pool.path for pool, _ in running if pool.rate.price is None),
        )

    @property
    def known(self) -> bool:
        """Whether anything in it has a price, or nothing in it costs anything."""
        return not self.missing or self.usd_per_hour > 0

    @property
    def usd_per_month(self) -> float:
        """The same for a month of `charging().hours_per_month` hours."""
        return self.usd_per_hour * charging().hours_per_month


@dataclass(frozen=True, slots=True)
class Sum:
    """What pools cost with all of them at their minimum, and at full scale."""

    min: Amount
    max: Amount

    @classmethod
    def of(cls, pools: Iterable[PoolCost]) -> Sum:
        """The cost of several pools together."""
        pools = list(pools)
        return cls(
            min=Amount.of((pool, pool.min_units) for pool in pools),
            max=Amount.of((pool, pool.units) for pool in pools),
        )


@dataclass(frozen=True, slots=True)
class ProvisionedCost:
    """What the chips of one TPU type would cost if node auto-provisioning made all that its limit allows."""

    cluster: str
    """GKE name of the cluster."""
    limit: TpuLimitPlan
    rate: Rate

    @property
    def up_to(self) -> Amount:
        """At the most, beside the declared pools at full scale: at the on-demand price, the highest."""
        path, price = f"{self.cluster} auto-provisioned {self.limit.generation}", self.rate.price
        if price is None:
            return Amount(0, missing=(path,) if self.limit.up_to else ())
        estimated = (path,) if self.rate.stand_in and self.limit.up_to else ()
        return Amount(self.limit.up_to * price.usd_per_chip_hour, estimated)


@dataclass(frozen=True, slots=True)
class PlatformCost:
    """What the chips of a platform cost. What else costs money: `charging().not_included`."""

    pools: tuple[PoolCost, ...]
    provisioned: tuple[ProvisionedCost, ...] = ()
    """In none of the sums: nobody knows how much of it there will be."""

    @property
    def total(self) -> Sum:
        """The whole platform."""
        return Sum.of(self.pools)

    @property
    def by_capacity(self) -> dict[str, Sum]:
        """A sum for each capacity that is used, in the order of the file."""
        names = dict.fromkeys(pool.pool.capacity for pool in self.pools)
        return {name: Sum.of(pool for pool in self.pools if pool.pool.capacity == name) for name in names}

    def of_cluster(self, name: str) -> Sum:
        """One cluster's pools."""
        return Sum.of(pool for pool in self.pools if pool.cluster == name)

    @property
    def prices(self) -> tuple[Price, ...]:
        """Every price that was used, once."""
        used = [*(pool.rate.price for pool in self.pools), *(it.rate.price for it in self.provisioned)]
        return tuple(dict.fromkeys(price for price in used if price is not None))

    @property
    def sources(self) -> tuple[str, ...]:
        """Keys of `citation` behind the prices."""
        return tuple(dict.fromkeys(price.source for price in self.prices))

    @property
    def oldest(self) -> str | None:
        """The date of the oldest price used; None where one of them is undated, or none was used."""
        dates = [price.as_of for price in self.prices]
        return None if None in dates else min((date for date in dates if date), default=None)

    @property
    def notes(self) -> dict[str, str]:
        """What there is to know about how the capacities in use are charged."""
        return {name: charging().notes[name] for name in self.by_capacity if name in charging().notes}


def cost(platform: PlatformPlan, *, estimate: bool = False) -> PlatformCost:
    """Price every pool of a plan. `estimate` fills the gaps of the price list with other regions' prices."""
    found: list[PoolCost] = []
    for cluster in platform.clusters:
        for pool in PoolSummary.of(cluster.tpu_pools):
            price = rate(pool.shape.generation.name, cluster.region, pool.capacity, estimate=estimate)
            found.append(PoolCost(cluster.name, pool, price))
        for gpu_pool in GpuPoolSummary.of(cluster.gpu_pools):
            price = gpu_rate(gpu_pool.machine, cluster.region, gpu_pool.capacity, estimate=estimate)
            found.append(PoolCost(cluster.name, gpu_pool, price))
    provisioned = tuple(
        ProvisionedCost(cluster.name, limit, rate(limit.generation, cluster.region, "on-demand", estimate=estimate))
        for cluster in platform.clusters
        if cluster.auto_provisioning is not None
        for limit in cluster.auto_provisioning.tpu
    )
    return PlatformCost(tuple(found), provisioned)
