"""Regions and their zones."""

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tpuplane.cpu import CpuFamily
from tpuplane.spec.core.errors import Mistake, Path, choice, shown
from tpuplane.spec.core.rules import spec_data
from tpuplane.tpu import catalogue
from tpuplane.tpu.nearest import lookalike, nearest_names


class Locations(NamedTuple):
    """The data of `data/locations.yaml`."""

    regions: tuple[str, ...]
    zones: dict[str, tuple[str, ...]]  # region -> zones; only regions whose zones matter to TPU clusters


@functools.cache
def locations() -> Locations:
    """The data, read once."""
    data = spec_data("locations")
    letters = data["zones"]["letters"].items()
    zones = {region: tuple(f"{region}-{letter}" for letter in known) for region, known in letters}
    return Locations(tuple(data["regions"]["names"]), zones)


def region_of(location: str) -> str:
    """The region of a zone (`us-central1` of `us-central1-a`, also of `us-central1-ai1a`); a region is its own."""
    return "-".join(location.split("-")[:2])


def is_zone(location: str) -> bool:
    """Whether `location` names a zone, not a region."""
    return location.count("-") > 1


def is_inside(zone: str, location: str) -> bool:
    """Whether a cluster at `location` can have nodes in a zone. A zonal cluster can have them in its whole region:
    https://docs.cloud.google.com/kubernetes-engine/docs/concepts/types-of-clusters#multi-zonal_clusters.
    """
    return region_of(zone) == region_of(location)


def known_zones(region: str) -> tuple[str, ...]:
    """Zones of `region` as far as they are known: Google's list, and every zone with TPUs."""
    offered = {zone for generation in catalogue().generations for zone in catalogue().zones(generation.name)}
    with_tpus = sorted(zone for zone in offered if region_of(zone) == region)
    return tuple(dict.fromkeys((*locations().zones.get(region, ()), *with_tpus)))


def tpu_regions() -> tuple[str, ...]:
    """Regions with a zone that offers TPUs."""
    zones = (zone for generation in catalogue().generations for zone in catalogue().zones(generation.name))
    return tuple(sorted({region_of(zone) for zone in zones}))


def system_zones(location: str, family: CpuFamily | None = None) -> tuple[str, ...]:
    """Zones of the system pool's nodes: a zonal cluster's own; in a region the first three that Google lists,
    as GKE itself would choose; none (GKE chooses) where the list is not known. With a family, only zones that offer it.
    """
    if is_zone(location):
        return (location,)
    zones = locations().zones.get(location, ())
    return tuple(zone for zone in zones if family is None or family.may_be_in(zone))[:3]


@functools.cache
def offering_zones(generation: str, region: str) -> tuple[str, ...]:
    """Zones of `region` that offer the generation."""
    return tuple(zone for zone in catalogue().zones(generation) if region_of(zone) == region)


def allowed_zones(zones: Iterable[str], location: str) -> str:
    """The list after "allowed" in a message: those of `zones` in the region. If there are none, the text says so."""
    zones = tuple(zones)
    inside = ", ".join(zone for zone in zones if is_inside(zone, location))
    return inside or f"none in {region_of(location)}" + (f"; zones with it: {', '.join(zones)}" if zones else "")


def zone_required(at: Path, location: str, name: str, zones: Iterable[str]) -> Mistake:
    """A zonal cluster is in a zone that does not offer hosts of this name, but others of its region do."""
    return Mistake(at, f"required: {location} is not known to offer {name}; allowed: {', '.join(zones)}")


def check_named_zone(
    at: Path, zone: str, location: str, name: str, zones: Sequence[str], *, offers: bool
) -> Iterator[Mistake]:
    """Reject a zone that the user names for hosts of this name, unless it is in the region and `offers` them.

    `zones` are all that are known to offer them.
    """
    region = region_of(location)
    if not is_inside(zone, location):
        known = [other for other in zones if is_inside(other, location)]
        known = known or [f"a zone of {region}, though none is known to offer {name}"]
        yield Mistake(at, choice(zone, f"in the cluster's region {region}", known))
    elif not offers:
        yield Mistake(at, f"{shown(zone)} is not known to offer {name}; allowed: {allowed_zones(zones, location)}")


def check_location(at: Path, location: str) -> Iterator[Mistake]:
    """Reject a text that is neither a region nor a zone of Google Cloud."""
    region = region_of(location)
    if region not in locations().regions:
        close = nearest_names(location, locations().regions)
        hint = f"; nearest: {', '.join(close)}" if close else ""
        cause = f"{shown(location)}{lookalike(location)} is not a Google Cloud region or zone"
        yield Mistake(at, f"{cause}; regions with TPUs: {', '.join(tpu_regions())}{hint}")
    elif is_zone(location) and region in locations().zones and location not in known_zones(region):
        yield Mistake(at, choice(location, f"a zone of {region}", known_zones(region)))
