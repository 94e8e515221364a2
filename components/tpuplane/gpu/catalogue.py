"""The GPU catalogue: look-ups by accelerator, machine type and zone, over the data files."""

from collections.abc import Callable
from functools import cache, cached_property, partial
from typing import Any

from tpuplane.data_files import read_data, with_tuples
from tpuplane.gpu.model import Accelerator, GpuError, GpuMachine, GpuPrice
from tpuplane.tpu import PriceModel
from tpuplane.tpu.catalogue import nearest_zones
from tpuplane.tpu.errors import look_up

_read: Callable[[str], Any] = cache(partial(read_data, "tpuplane.gpu"))


class GpuCatalogue:
    """The known facts about GPUs on GKE. Use `gpu_catalogue()` to get the instance."""

    @cached_property
    def _accelerators(self) -> dict[str, Accelerator]:
        return {
            name: Accelerator(name=name, **with_tuples(raw))
            for name, raw in _read("accelerators")["accelerators"].items()
        }

    @cached_property
    def _machines(self) -> dict[str, GpuMachine]:
        found: dict[str, GpuMachine] = {}
        for series, raw in _read("machines")["series"].items():
            shared = {key: value for key, value in raw.items() if key not in ("machines", "accelerator")}
            accelerator = self._accelerators[raw["accelerator"]]
            for name, own in raw["machines"].items():
                values = with_tuples({**shared, **own})
                found[name] = GpuMachine(name=name, series=series, accelerator=accelerator, **values)
        return found

    @cached_property
    def prices(self) -> tuple[GpuPrice, ...]:
        """Every list price on record."""
        return tuple(
            GpuPrice(series, region, model, float(vcpu), float(gpu), as_of, source)
            for source, rows in _read("prices")["prices"].items()
            for series, region, model, vcpu, gpu, as_of in rows
        )

    @cached_property
    def sources(self) -> dict[str, str]:
        """The citation of each source key."""
        return dict(_read("sources")["sources"])

    @property
    def accelerators(self) -> tuple[Accelerator, ...]:
        """Every model of GPU."""
        return tuple(self._accelerators.values())

    @property
    def machines(self) -> tuple[GpuMachine, ...]:
        """Every machine type."""
        return tuple(self._machines.values())

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of every machine type with GPUs, also of types without other known facts."""
        return frozenset((*self._machines, *_read("machines")["not_described"]))

    @cached_property
    def accelerator_names(self) -> tuple[str, ...]:
        """Names of every model of GPU, also of models without other known facts."""
        return (*self._accelerators, *_read("accelerators")["not_described"])

    def accelerator(self, name: str) -> Accelerator:
        """The GPU model with GKE's name. Raises `GpuError`."""
        return look_up(self._accelerators, name, GpuError, "accelerator", "is not a supported GPU")

    def machine(self, name: str) -> GpuMachine:
        """The machine type with this name. Raises `GpuError`."""
        return look_up(self._machines, name, GpuError, "machine_type", "is not a known machine type with GPUs")

    def machine_with(self, accelerator: str, gpus: int | None = None) -> GpuMachine:
        """The machine type with this accelerator and number of GPUs; without a number, the one with the fewest GPUs.

        If several match, it is the default in the data. Raises `GpuError`.
        """
        model = self.accelerator(accelerator)
        fitting = [machine for machine in self.machines if machine.accelerator.name == model.name]
        counts = sorted({machine.gpus for machine in fitting})
        wanted = counts[0] if gpus is None else gpus
        if wanted not in counts:
            cause = f"GPUs of {model.name} are not available in any machine type"
            raise GpuError("gpus", str(wanted), cause, allowed=tuple(map(str, counts)))
        return max((machine for machine in fitting if machine.gpus == wanted), key=lambda machine: machine.default)

    def machine_for(self, machine_type: str | None, accelerator: str | None, gpus: int | None) -> GpuMachine:
        """The machine type with a name, or with an accelerator and a number of GPUs. Raises `GpuError`."""
        if machine_type is None:
            if accelerator is None:
                raise GpuError("machine_type", "", "is not a machine type; set it, or the accelerator")
            return self.machine_with(accelerator, gpus)
        machine = self.machine(machine_type)
        if accelerator not in (None, machine.accelerator.name):
            cause = f"is not the GPU of {machine.name}"
            raise GpuError("accelerator", str(accelerator), cause, allowed=(machine.accelerator.name,))
        if gpus not in (None, machine.gpus):
            cause = f"is not the number of GPUs of {machine.name}"
            raise GpuError("gpus", str(gpus), cause, allowed=(str(machine.gpus),))
        return machine

    def check_zone(self, zone: str, machine: GpuMachine) -> None:
        """Raise `GpuError` for a zone that is not known to offer the machine type."""
        if zone in machine.zones:
            return
        cause = f"is not known to offer {machine.name}"
        raise GpuError("zone", zone, cause, allowed=machine.zones, nearest=nearest_zones(zone, machine.zones))

    def price(self, machine: GpuMachine, region: str, model: PriceModel) -> GpuPrice | None:
        """The newest list price for this region and model; None if it is not on record."""
        wanted = (machine.series, region, model)
        hits = [price for price in self.prices if (price.series, price.region, price.model) == wanted]
        return max(hits, key=lambda price: price.as_of or "", default=None)


@cache
def gpu_catalogue() -> GpuCatalogue:
    """The catalogue. Its files are read on first use."""
    return GpuCatalogue()
