"""The catalogue of CPU machines: its data hold together, and its look-ups name what is allowed."""

from __future__ import annotations

import pytest
from tpuplane.cpu import CpuError, CpuFamily, cpu_catalogue
from tpuplane.spec.core.locations import locations

pytestmark = pytest.mark.unit

FAMILIES = tuple(cpu_catalogue().families.values())


@pytest.mark.parametrize("family", FAMILIES, ids=lambda it: it.name)
def test_a_family_holds_together(family: CpuFamily) -> None:
    assert family.machines
    assert (family.regions or frozenset()) | (family.not_in or frozenset()) <= set(locations().regions)
    assert family.regions is None or family.not_in is None
    for machine in family.machines.values():
        assert cpu_catalogue().machine(machine.name) == machine
        assert machine.vcpus >= 1
        assert machine.memory_gb > 0


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
    "name", ["banana", "e2", "e2-standard", "e2-standard-5", "E2-standard-4", "c3-custom-4-8192", "n2-custom-4-100", ""]
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
        ("x4", "hyperdisk-balanced"),
    ],
)
def test_the_boot_disk_is_one_that_the_family_takes(family: str, disk: str) -> None:
    assert cpu_catalogue().family(family).boot_disk == disk
