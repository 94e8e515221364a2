"""The list price of a pool's chips: of exactly its region, or, when asked for, of another in its stead."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from tpuplane.cost.charging import charging
from tpuplane.gpu import GpuMachine, gpu_catalogue
from tpuplane.tpu import Price, PriceModel, catalogue


@dataclass(frozen=True, slots=True)
class Rate:
    """The price that a pool's chips are counted at; `price` is None, with a `reason`, where there is none."""

    price: Price | None
    stand_in: bool = False
    """Whether it is the price of another region."""
    reason: str = ""
    """Why there is no price."""


def rate(generation: str, region: str, capacity: str, *, estimate: bool = False) -> Rate:
    """The newest list price for a generation's chips in a region, bought as `capacity`.

    With `estimate`, a region without a price gets the highest one of its continent, else of anywhere, for the same
    generation and way of buying: an estimate that errs, errs high.
    """
    name = catalogue().generation(generation).name
    regions = {(price.region, price.model) for price in catalogue().prices if price.generation == name}
    return _rate(name, regions, partial(catalogue().price, name), region, capacity, estimate=estimate)


def gpu_rate(machine: GpuMachine, region: str, capacity: str, *, estimate: bool = False) -> Rate:
    """The same for a node with GPUs, divided by them: a GPU with its part of the node."""

    def price(region: str, model: PriceModel) -> Price | None:
        found = gpu_catalogue().price(machine, region, model)
        if found is None:
            return None
        usd = found.usd_per_node_hour(machine) / machine.gpus
        return Price(machine.name, region, model, usd, found.as_of, found.source)

    regions = {(it.region, it.model) for it in gpu_catalogue().prices if it.series == machine.series}
    return _rate(machine.name, regions, price, region, capacity, estimate=estimate)


def citation(source: str) -> str:
    """What the source of a price stands for."""
    return {**gpu_catalogue().sources, **catalogue().sources}[source]


def _rate(
    name: str,
    priced: Iterable[tuple[str, PriceModel]],
    price: Callable[[str, PriceModel], Price | None],
    region: str,
    capacity: str,
    *,
    estimate: bool,
) -> Rate:
    model = charging().models.get(capacity)
    if model is None:
        return Rate(None, reason=f"how {capacity} capacity is charged is not on record")
    exact = price(region, model)
    if exact is not None:
        return Rate(exact)
    regions = sorted(other for other, kind in priced if kind == model)
    near = [other for other in regions if _continent(other) == _continent(region)] or regions
    known = [found for other in near if (found := price(other, model)) is not None]
    dearest = max(known, key=lambda it: it.usd_per_chip_hour, default=None)
    if dearest is None:
        return Rate(None, reason=f"no {model} price of {name} is on record for any region")
    if estimate:
        return Rate(dearest, stand_in=True)
    return Rate(None, reason=f"no {model} price of {name} is on record for {region}, only for {', '.join(regions)}")


def _continent(region: str) -> str:
    return region.partition("-")[0]
