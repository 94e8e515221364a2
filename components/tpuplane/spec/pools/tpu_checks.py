"""The checks of a pool of slices, and of its settings with its cluster."""

from collections.abc import Iterator

from pydantic.alias_generators import to_camel

from tpuplane.spec.cluster.cluster import ClusterPlaceSpec
from tpuplane.spec.core.errors import Mistake, Path, shown
from tpuplane.spec.core.locations import check_named_zone, is_zone, locations, offering_zones, region_of, zone_required
from tpuplane.spec.core.rules import check_boot_disk
from tpuplane.spec.pools.capacity_checks import check_tpu_capacity
from tpuplane.spec.pools.tpu import PoolSpec
from tpuplane.tpu import Generation, GkeVersion, SliceError, catalogue


def check_tpu_pool(at: Path, pool: PoolSpec) -> Iterator[Mistake]:
    """The slices of a pool exist."""
    try:
        _ = pool.slice
    except SliceError as error:
        yield Mistake((*at, to_camel(error.field)), str(error))


def check_tpu_offer(at: Path, cluster: ClusterPlaceSpec, pool: PoolSpec) -> Iterator[Mistake]:
    """Google offers the generation with this zone, disk, version and capacity."""
    try:
        generation = catalogue().generation(pool.generation)
    except SliceError:
        return
    yield from _check_zone(at, cluster, pool, generation)
    hosts = f"{generation.name} hosts"
    yield from check_boot_disk((*at, "diskType"), pool.disk_type, hosts, generation.boot_disk_types)
    yield from _check_version(at, cluster, generation)
    yield from check_tpu_capacity(at, cluster, pool, generation)


def _check_zone(at: Path, cluster: ClusterPlaceSpec, pool: PoolSpec, generation: Generation) -> Iterator[Mistake]:
    location = cluster.location
    if region_of(location) not in locations().regions:
        return  # `check_location` reports it
    if (zone := next(iter(pool.zones_in(location)), None)) is None:
        if offering := offering_zones(generation.name, location):
            several, allowed = f"several zones of {location} offer {generation.name}", ", ".join(offering)
            yield Mistake((*at, "zone"), f"required: {several}; allowed: {allowed}")
        else:
            elsewhere, remedy = ", ".join(catalogue().zones(generation.name)), "; name the zone that Google gave you"
            rest = f" of {location}; zones with it: {elsewhere}" if elsewhere else remedy
            yield Mistake((*at, "generation"), f"{shown(pool.generation)} is not known to be in a zone{rest}")
        return
    zones, offers = catalogue().zones(generation.name), bool(catalogue().zone_offers(zone, generation.name))
    if pool.zone is not None:
        yield from check_named_zone((*at, "zone"), zone, location, generation.name, zones, offers=offers)
        return
    offering = offering_zones(generation.name, region_of(location)) if is_zone(location) else ()
    if offering and not offers:
        yield zone_required((*at, "zone"), location, generation.name, offering)
        return
    try:
        catalogue().check_zone(zone, generation.name)
    except SliceError as error:
        # The zone is the cluster's own: the generation is what the user wrote in the pool.
        yield Mistake((*at, "generation"), f"{shown(pool.generation)} is not possible in the cluster's zone: {error}")


def _check_version(at: Path, cluster: ClusterPlaceSpec, generation: Generation) -> Iterator[Mistake]:
    needed = generation.min_gke_version
    if needed is not None and cluster.is_older(GkeVersion.minimum(needed)):
        cause = f"{shown(generation.name)} needs GKE {needed} or newer, but the cluster's version is"
        yield Mistake((*at, "generation"), f"{cause} {shown(cluster.version)}; raise or remove that version")
