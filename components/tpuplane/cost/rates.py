"""How capacity is charged, and the list price of chips in a region or, as an estimate, in another region."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial

from tpuplane.data_files import read_data, with_tuples
from tpuplane.gpu import GpuMachine, gpu_catalogue
from tpuplane.tpu import Price, PriceModel, catalogue


@dataclass(frozen=True, slots=True)
class Charging:
    """How capacity is charged."""

    hours_per_month: int
    models: Mapping[str, PriceModel]
    """The list price for each capacity."""
    notes: Mapping[str, str]
    """Notes on the charges of some capacities."""
    not_included: tuple[str, ...]
    """Costs without a price on record."""


@cache
def charging() -> Charging:
    """The data, read once."""
    return Charging(**with_tuples(read_data("tpuplane.cost", "charging")))


@dataclass(frozen=True, slots=True)
class Rate:
    """The price of a pool's chips or GPUs; None with a `reason` if it is not on record."""

    price: Price | None
    stand_in: bool = False
    """Whether it is the price of another region."""
    reason: str = ""
    """Why the price is missing."""


def rate(generation: str, region: str, capacity: str, *, estimate: bool = False) -> Rate:
    """The newest list price of a generation's chips in a region with this capacity.

    With `estimate`, a region without a price gets the highest price of its continent, else of any region, for the same
    generation and capacity. So an estimate is more likely too high than too low.
    """
    name = catalogue().generation(generation).name
    regions = {(price.region, price.model) for price in catalogue().prices if price.generation == name}
    return _rate(name, regions, partial(catalogue().price, name), region, capacity, estimate=estimate)


def gpu_rate(machine: GpuMachine, region: str, capacity: str, *, estimate: bool = False) -> Rate:
    """The price of a node with GPUs, divided by its GPUs."""

    def price(region: str, model: PriceModel) -> Price | None:
        if (found := gpu_catalogue().price(machine, region, model)) is None:
            return None
        usd = found.usd_per_node_hour(machine) / machine.gpus
        return Price(machine.name, region, model, usd, found.as_of, found.source)

    regions = {(price.region, price.model) for price in gpu_catalogue().prices if price.series == machine.series}
    return _rate(machine.name, regions, price, region, capacity, estimate=estimate)


def citation(source: str) -> str:
    """The citation of a source of prices."""
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
    if (model := charging().models.get(capacity)) is None:
        return Rate(None, reason=f"the charge for {capacity} capacity is not on record")
    if (exact := price(region, model)) is not None:
        return Rate(exact)
    regions = sorted(other for other, kind in priced if kind == model)
    near = [other for other in regions if _continent(other) == _continent(region)] or regions
    known = [found for other in near if (found := price(other, model)) is not None]
    if (dearest := max(known, key=lambda price: price.usd_per_chip_hour, default=None)) is None:
        return Rate(None, reason=f"no {model} price of {name} is on record for any region")
    if estimate:
        return Rate(dearest, stand_in=True)
    return Rate(None, reason=f"no {model} price of {name} is on record for {region}, only for {', '.join(regions)}")


def _continent(region: str) -> str:
    return region.partition("-")[0]
