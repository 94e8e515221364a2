"""The data files as objects of the model. Each file is read once, on first use."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from tpuplane.data_files import read_data
from tpuplane.tpu.model import AcceleratorTypeName, Availability, ChipFacts, Generation, MachineType, Price
from tpuplane.tpu.topology import TopologyRule


def _read(name: str) -> Any:
    return read_data("tpuplane.tpu", name)


def _tuples(mapping: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in mapping.items()}


def _generation(name: str, raw: Mapping[str, Any]) -> Generation:
    values = _tuples(raw)
    machines = values.pop("machines")
    rule = values.pop("rule", None)
    return Generation(
        name=name,
        machines=tuple(MachineType(name=key, **_tuples(machine)) for key, machine in machines.items()),
        rule=TopologyRule(**rule) if rule else None,
        chip=ChipFacts(**values.pop("chip")),
        accelerator_type=AcceleratorTypeName(**_tuples(values.pop("accelerator_type"))),
        not_on_gke=tuple(values.pop("not_on_gke", {}).items()),
        **values,
    )


@cache
def generations() -> dict[str, Generation]:
    """Every generation by name, in the order of the file: oldest first."""
    return {name: _generation(name, raw) for name, raw in _read("generations")["generations"].items()}


@cache
def zones() -> dict[str, Availability]:
    """The zones of each generation."""
    return {name: Availability(**_tuples(raw)) for name, raw in _read("zones")["zones"].items()}


@cache
def offer_sources() -> dict[str, tuple[str, ...]]:
    """Source keys of each list of `Availability`, by its name."""
    return {name: tuple(keys) for name, keys in _read("zones")["sources"].items()}


@cache
def prices() -> tuple[Price, ...]:
    """Every price, in the order of the file."""
    return tuple(
        Price(generation, region, model, float(usd), as_of, source)
        for source, rows in _read("prices")["prices"].items()
        for generation, region, model, usd, as_of in rows
    )


@cache
def features() -> dict[str, str]:
    """Minimum GKE version per feature."""
    return {name: raw["version"] for name, raw in _read("versions")["features"].items()}


@cache
def sources() -> dict[str, str]:
    """Citation per source key."""
    return dict(_read("sources")["sources"])
