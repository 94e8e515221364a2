"""The catalogue of CPU machines: its data hold together, and its look-ups name what is allowed."""

from __future__ import annotations

import pytest
from tpuplane.cpu import CpuError, CpuFamily, cpu_catalogue
from tpuplane.spec.core.locations import locations
from tpuplane_twin.gcp.locations import is_zone, region_of, regions

pytestmark = pytest.mark.unit

FAMILIES = tuple(cpu_catalogue().families.values())


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family_: family_.name)
def test_a_family_holds_together(family: CpuFamily) -> None:
    assert family.machines
    assert {*(family.regions or ()), *(family.not_in or ())} <= set(locations().regions)
    assert family.regions is None or family.not_in is None
    for machine in family.machines.values():
        assert cpu_catalogue().machine(machine.name) == machine
        assert machine.vcpus >= 1
        assert machine.memory_gb > 0


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family_: family_.name)
def test_zones_without_a_family_are_in_its_regions(family: CpuFamily) -> None:
    for zone in family.not_in_zones:
        region = region_of(zone)
        assert is_zone(zone)
        assert family.is_in(region)
        assert not family.may_be_in(zone)
        assert any(family.is_in(each_zone) for each_zone in regions()[region])


@pytest.mark.parametrize(
    ("family", "location", "may_be"),
    [
        ("n4", "us-south1", True),
        ("n4", "us-south1-a", True),
        ("n4", "us-south1-ai1b", True),
        ("n4", "us-south1-c", False),
        ("c4d", "us-central1-f", False),
        ("c4d", "us-central1-ai1a", True),  # no source lists the families of this zone
        ("c4a", "europe-west10-a", False),
        ("z3", "us-central1-f", True),
        ("e4", "us-central1-f", True),
    ],
)
def test_a_family_may_be_in_a_zone_unless_it_is_known_not_to_be(family: str, location: str, may_be: bool) -> None:
    assert cpu_catalogue().family(family).may_be_in(location) is may_be


@pytest.mark.parametrize("region", locations().regions)
def test_every_region_has_a_machine_for_system_pools(region: str) -> None:
    catalogue = cpu_catalogue()
    assert catalogue.family_of(catalogue.system_machine(region)).is_in(region)


@pytest.mark.parametrize(
    ("name", "vcpus", "memory_gb"),
    [
        ("e2-standard-4", 4, 16),
        ("e2-medium", 2, 4),
        ("c4-highmem-2", 2, 15),
        ("c3-standard-192-metal", 192, 768),
        ("custom-4-8192", 4, 8),
        ("n2-custom-6-24576", 6, 24),
        ("n2-custom-2-20480-ext", 2, 20),
        ("e2-custom-small-2048", 2, 2),
    ],
)
def test_a_machine_has_its_size(name: str, vcpus: int, memory_gb: float) -> None:
    machine = cpu_catalogue().machine(name)
    assert (machine.vcpus, machine.memory_gb) == (vcpus, memory_gb)


@pytest.mark.parametrize(
    "name",
    [
        *("banana", "e2", "e2-standard", "e2-standard-5", "E2-standard-4", "c3-custom-4-8192", "n2-custom-4-100", ""),
        # Machine types of Compute Engine that GKE rejects.
        *("x4-480-6t-metal", "m4-hypermem-16", "c4n-standard-4-lssd", "c4-standard-288-lssd-metal"),
        *("c4d-highcpu-384-metal", "z3-highmem-192-highlssd-metal"),
    ],
)
def test_what_does_not_exist_is_rejected(name: str) -> None:
    with pytest.raises(CpuError):
        cpu_catalogue().machine(name)


@pytest.mark.parametrize(
    ("family", "disk"),
    [
        ("e2", "pd-balanced"),
        ("n2", "pd-balanced"),
        ("n4", "hyperdisk-balanced"),
        ("c4", "hyperdisk-balanced"),
        ("c4a", "hyperdisk-balanced"),
        ("c4d", "hyperdisk-balanced"),
        ("m4n", "hyperdisk-balanced"),
    ],
)
def test_the_boot_disk_is_one_that_the_family_takes(family: str, disk: str) -> None:
    assert cpu_catalogue().family(family).boot_disk == disk
