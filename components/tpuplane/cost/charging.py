"""How capacity is charged: the data of `data/charging.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

from tpuplane.tpu import PriceModel


@dataclass(frozen=True, slots=True)
class Charging:
    """What turns chips and list prices into a bill's size."""

    hours_per_month: int
    models: Mapping[str, PriceModel]
    """The list price that each capacity is charged by."""
    notes: Mapping[str, str]
    """What else there is to know about how a capacity is charged; not every one has a note."""
    not_included: tuple[str, ...]
    """What costs money too and has no price on record."""


@cache
def charging() -> Charging:
    """The data, read once."""
    data = yaml.safe_load(files("tpuplane.cost").joinpath("data/charging.yaml").read_text(encoding="utf-8"))
    capacities = data["capacities"]
    return Charging(
        hours_per_month=data["hours_per_month"],
        models={name: entry["price"] for name, entry in capacities.items()},
        notes={name: entry["note"] for name, entry in capacities.items() if "note" in entry},
        not_included=tuple(data["not_included"]),
    )
