"""What Compute Engine offers in every project: regions, zones, and their machine, accelerator and disk types."""

from collections.abc import Iterator
from functools import cache, lru_cache

from tpuplane_twin.gcp.compute.resources import BASE, constant_id
from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.locations import Machine, machines_in, region_of, regions
from tpuplane_twin.gcp.schema import Json


def region_items(project: str, *_: str) -> Iterator[Json]:
    """Every region."""
    for name, zones in regions().items():
        yield {
            **_offered(project, f"regions/{name}"),
            "status": "UP",
            "zones": [f"{BASE}projects/{project}/zones/{zone}" for zone in zones],
        }


def zone_items(project: str, *_: str) -> Iterator[Json]:
    """Every zone."""
    for name in _zones():
        region = f"{BASE}projects/{project}/regions/{region_of(name)}"
        yield {**_offered(project, f"zones/{name}"), "status": "UP", "region": region}


def machine_type_items(project: str, scope: str, _: str) -> Iterator[Json]:
    """The machine types of each zone."""
    for zone in _zones(scope):
        yield from _machine_types(project, zone)


@lru_cache(maxsize=150)  # gcloud reads all zones of a project in more than a hundred pages.
def _machine_types(project: str, zone: str) -> tuple[Json, ...]:
    # Of this kind alone `zone` is a name.
    return tuple(
        {**_offered(project, f"zones/{zone}/machineTypes/{machine.name}"), **_shape(machine), "zone": zone}
        for machine in machines_in(zone)
    )


def accelerator_type_items(project: str, scope: str, _: str) -> Iterator[Json]:
    """The TPUs and GPUs of each zone."""
    for zone in _zones(scope):
        most: dict[str, int] = {}
        for machine in machines_in(zone):
            if machine.accelerator is not None:
                name, count = machine.accelerator
                most[name] = max(count, most.get(name, 0))
        for name, count in most.items():
            yield {**_in_zone(project, zone, f"acceleratorTypes/{name}"), "maximumCardsPerInstance": count}


def disk_type_items(project: str, scope: str, _: str) -> Iterator[Json]:
    """The disk types, which every zone has."""
    for zone in _zones(scope):
        for name in data("locations")["disk_types"]:
            yield _in_zone(project, zone, f"diskTypes/{name}")


def _zones(scope: str = "") -> list[str]:
    zones = [zone for found in regions().values() for zone in found]
    return [zone for zone in zones if scope in ("", f"zones/{zone}")]


def _in_zone(project: str, zone: str, key: str) -> Json:
    return {**_offered(project, f"zones/{zone}/{key}"), "zone": f"{BASE}projects/{project}/zones/{zone}"}


def _offered(project: str, key: str) -> Json:
    name = key.rpartition("/")[2]
    return {"id": constant_id(key), "name": name, "description": name, "selfLink": f"{BASE}projects/{project}/{key}"}


@cache
def _shape(machine: Machine) -> Json:
    accelerators = [
        {"guestAcceleratorType": name, "guestAcceleratorCount": count}
        for name, count in ([machine.accelerator] if machine.accelerator else [])
    ]
    return {
        "description": f"{machine.vcpus} vCPUs, {machine.memory_gb:g} GB RAM",
        "guestCpus": machine.vcpus,
        "memoryMb": round(machine.memory_gb * 1024),
        "isSharedCpu": machine.shared,
        **({"accelerators": accelerators} if accelerators else {}),
    }
