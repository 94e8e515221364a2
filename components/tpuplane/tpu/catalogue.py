"""The catalogue: look-ups by name, label, machine type and zone, over the data files. Each is read on first use."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import Any, Literal

from tpuplane.data_files import read_data, with_tuples
from tpuplane.tpu.errors import SliceError, look_up
from tpuplane.tpu.model import Availability, Generation, MachineType, Price, PriceModel
from tpuplane.tpu.nearest import nearest_names
from tpuplane.tpu.topology import TopologyRule
from tpuplane.tpu.versions import GkeVersion

_read: Callable[[str], Any] = cache(partial(read_data, "tpuplane.tpu"))
Offer = Literal["documented", "listed", "region"]

_ZONE = re.compile(r"([a-z]+-[a-z]+[0-9]+)-(?:ai[0-9]+)?[a-z]")


class Catalogue:
    """The known facts about TPUs on GKE. Use `catalogue()` to get the instance."""

    @cached_property
    def generations(self) -> tuple[Generation, ...]:
        """Every generation, oldest first."""
        return tuple(_generation(name, raw) for name, raw in _read("generations")["generations"].items())

    @cached_property
    def prices(self) -> tuple[Price, ...]:
        """Every list price on record."""
        return tuple(
            Price(generation, region, model, float(usd), as_of, source)
            for source, rows in _read("prices")["prices"].items()
            for generation, region, model, usd, as_of in rows
        )

    @cached_property
    def sources(self) -> dict[str, str]:
        """The citation of each source key."""
        return dict(_read("sources")["sources"])

    @cached_property
    def _zones(self) -> dict[str, Availability]:
        return {name: Availability(**with_tuples(raw)) for name, raw in _read("zones")["zones"].items()}

    @cached_property
    def _names(self) -> dict[str, Generation]:
        """Name, label and aliases of each generation."""
        return {name: gen for gen in self.generations for name in (gen.name, gen.label, *gen.aliases)}

    @cached_property
    def _machines(self) -> dict[str, tuple[Generation, MachineType]]:
        return {machine.name: (gen, machine) for gen in self.generations for machine in gen.machines}

    def generation(self, name: str) -> Generation:
        """The generation with this name, accelerator label or alias. Raises `SliceError`."""
        try:
            return self._names[name]
        except KeyError:
            names = tuple(gen.name for gen in self.generations)
            close = nearest_names(name, tuple(self._names))
            nearest = tuple(dict.fromkeys(self._names[hit].name for hit in close))
            raise SliceError("generation", name, "is not a TPU generation", allowed=names, nearest=nearest) from None

    def known(self, name: str) -> Generation | None:
        """The generation with this name, accelerator label or alias; None if there is none."""
        return self._names.get(name)

    def machine(self, machine_type: str) -> tuple[Generation, MachineType]:
        """The machine type and its generation. Raises `SliceError`."""
        reasons = {name: f" on GKE: {reason}" for gen in self.generations for name, reason in gen.not_on_gke}
        cause = f"is not a TPU machine type{reasons.get(machine_type, '')}"
        return look_up(self._machines, machine_type, SliceError, "machine_type", cause)

    def zones(self, generation: str, *, flex_start: bool = False) -> tuple[str, ...]:
        """Zones that offer a generation: first the documented zones, then zones that an API lists.

        With `flex_start`, only the zones with flex-start. Capacity is not guaranteed.
        """
        known = self._availability(generation)
        return known.flex_start if flex_start else known.zones

    def zone_offers(self, zone: str, generation: str) -> Offer | None:
        """The evidence that `zone` offers `generation`; None (false) without evidence.

        "documented": in Google's tables. "listed": an API reported the hardware in the zone. "region": Compute Engine
        lists the machine types in the region, and no zone of that region is known.
        """
        known = self._availability(generation)
        if zone in known.documented:
            return "documented"
        if zone in known.listed:
            return "listed"
        region = region_of(zone)
        if region in known.regions and region not in map(region_of, known.zones):
            return "region"
        return None

    def offer_sources(self, offer: Offer) -> tuple[str, ...]:
        """Keys of `sources` for a result of `zone_offers`."""
        return tuple(_read("zones")["sources"]["regions" if offer == "region" else offer])

    def check_zone(self, zone: str, generation: str) -> None:
        """Raise `SliceError` for a zone that is not known to offer the generation."""
        if self.zone_offers(zone, generation):
            return
        known = self._availability(generation)
        elsewhere = [region for region in known.regions if region not in map(region_of, known.zones)]
        cause, nearest = f"is not known to offer {self.generation(generation).name}", nearest_zones(zone, known.zones)
        text = ", ".join((*known.zones, *(f"a zone of {region}" for region in elsewhere)))
        raise SliceError("zone", zone, cause, allowed=known.zones, allowed_text=text, nearest=nearest)

    def _availability(self, generation: str) -> Availability:
        name = self.generation(generation).name
        if name not in self._zones:
            raise LookupError(f"{name} has no zones; add it to tpu/data/zones.yaml")
        return self._zones[name]

    def price(self, generation: str, region: str, model: PriceModel) -> Price | None:
        """The newest list price for this region and model; None if it is not on record."""
        name = self.generation(generation).name
        hits = [p for p in self.prices if (p.generation, p.region, p.model) == (name, region, model)]
        return max(hits, key=lambda p: p.as_of or "", default=None)

    def min_version(self, feature: str) -> GkeVersion:
        """The oldest GKE version with a feature of `data/versions.yaml`, such as "flex-start-tpu"."""
        return GkeVersion.minimum(_read("versions")["features"][feature]["version"])

    @property
    def oldest_version(self) -> str:
        """The oldest minor version that GKE offers for new clusters, such as 1.30."""
        return str(_read("versions")["oldest"]["version"])


def region_of(zone: str) -> str:
    """`us-central1` for `us-central1-a` and for the AI zone `us-central1-ai1a`; empty for another text."""
    match = _ZONE.fullmatch(zone)
    return match[1] if match else ""


def nearest_zones(zone: str, zones: Sequence[str]) -> tuple[str, ...]:
    """Two of `zones` in the same region, else on the same continent; for another text those with similar names."""
    if not (region := region_of(zone)):
        return nearest_names(zone, zones)
    near = [other for other in zones if region_of(other) == region]
    near = near or [other for other in zones if other.partition("-")[0] == zone.partition("-")[0]]
    return tuple(near[:2])


def _generation(name: str, raw: Mapping[str, Any]) -> Generation:
    values = with_tuples(raw)
    machines = values.pop("machines")
    rule = values.pop("rule", None)
    return Generation(
        name=name,
        machines=tuple(MachineType(name=key, **with_tuples(machine)) for key, machine in machines.items()),
        rule=TopologyRule(**rule) if rule else None,
        not_on_gke=tuple(values.pop("not_on_gke", {}).items()),
        **values,
    )


@cache
def catalogue() -> Catalogue:
    """The catalogue."""
    return Catalogue()
