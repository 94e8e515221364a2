"""The list price of a pool's chips: of exactly its region, or, when asked for, of another in its stead."""

from __future__ import annotations

from dataclasses import dataclass

from tpuplane.cost.charging import charging
from tpuplane.tpu import Price, catalogue


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
    model = charging().models.get(capacity)
    if model is None:
        return Rate(None, reason=f"how {capacity} capacity is charged is not on record")
    exact = catalogue().price(generation, region, model)
    if exact is not None:
        return Rate(exact)
    name = catalogue().generation(generation).name
    regions = sorted({price.region for price in catalogue().prices if (price.generation, price.model) == (name, model)})
    near = [other for other in regions if _continent(other) == _continent(region)] or regions
    known = [price for other in near if (price := catalogue().price(generation, other, model)) is not None]
    dearest = max(known, key=lambda price: price.usd_per_chip_hour, default=None)
    if dearest is None:
        return Rate(None, reason=f"no {model} price of {name} is on record for any region")
    if estimate:
        return Rate(dearest, stand_in=True)
    return Rate(None, reason=f"no {model} price of {name} is on record for {region}, only for {', '.join(regions)}")


def _continent(region: str) -> str:
    return region.partition("-")[0]
