"""Regions, zones and their machine types, from `data/` and the catalogues."""

from dataclasses import dataclass
from functools import cache

from tpuplane.cpu import CpuError, CpuMachine, cpu_catalogue
from tpuplane.gpu import GpuMachine, gpu_catalogue
from tpuplane.tpu import Generation, MachineType, SliceError, catalogue

from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.errors import ApiError, invalid


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine type as the API checks it. `tpu` and `gpu` are None for CPU machines."""

    name: str
    family: str
    vcpus: int
    memory_gb: float
    disk_types: tuple[str, ...]
    tpu: tuple[Generation, MachineType] | None = None
    gpu: GpuMachine | None = None
    shared: bool = False

    @property
    def hyperdisk_only(self) -> bool:
        """Whether the machine supports only Hyperdisk."""
        return bool(self.disk_types) and not any(disk.startswith("pd-") for disk in self.disk_types)

    @property
    def accelerator(self) -> tuple[str, int] | None:
        """Compute Engine's accelerator type, and how many a machine has."""
        if self.gpu is not None:
            return self.gpu.accelerator.name, self.gpu.gpus
        # A TPU's type is the prefix of its machine types:
        # https://github.com/AI-Hypercomputer/xpk/blob/v1.16.0/src/xpk/core/reservation.py#L425
        return None if self.tpu is None else (self.name.partition("-")[0], self.tpu[1].chips)


@cache
def regions() -> dict[str, tuple[str, ...]]:
    """Zones of every region."""
    return {
        region: tuple(f"{region}-{letter}" for letter in letters)
        for region, letters in data("locations")["regions"].items()
    }


def is_zone(location: str) -> bool:
    """Whether the location is a zone that exists."""
    return location in regions().get(location.rpartition("-")[0], ())


def region_of(location: str) -> str:
    """The region of a zone, or the region itself."""
    return location.rpartition("-")[0] if is_zone(location) else location


def check_location(location: str) -> None:
    """Reject a location that is neither a region nor a zone."""
    if location not in regions() and not is_zone(location):
        raise ApiError("PERMISSION_DENIED", f"Permission denied on 'locations/{location}' (or it may not exist).")


def default_zones(location: str) -> list[str]:
    """GKE's default node locations: the zone itself, or the region's first three zones (never AI zones)."""
    return [location] if is_zone(location) else list(regions()[location][:3])


@cache
def machines() -> dict[str, Machine]:
    """Every machine type by name."""
    found: dict[str, Machine] = {}
    for family in cpu_catalogue().families.values():
        found |= {it.name: _cpu_machine(it) for it in family.machines.values()}
    for generation in catalogue().generations:
        for tpu in generation.machines:
            found[tpu.name] = Machine(
                tpu.name, generation.name, tpu.vcpus, tpu.memory_gb, generation.boot_disk_types, (generation, tpu)
            )
    for gpu in gpu_catalogue().machines:
        found[gpu.name] = Machine(gpu.name, gpu.series, gpu.vcpus, gpu.memory_gb, gpu.boot_disks, gpu=gpu)
    return found


def machine_named(name: str) -> Machine | None:
    """The machine type, also a custom one; None if it does not exist."""
    try:
        return machines().get(name) or _cpu_machine(cpu_catalogue().machine(name))
    except CpuError:
        return None


def _cpu_machine(it: CpuMachine) -> Machine:
    disks = cpu_catalogue().families[it.family].boot_disks
    return Machine(it.name, it.family, it.vcpus, it.memory_gb, disks, shared=it.shared)


def machine_in(name: str, zone: str) -> Machine:
    """The machine type, if the zone offers it; else GKE's error (keras-team/kinetic#305)."""
    machine = machine_named(name)
    if machine is None or not _offers(zone, machine):
        raise invalid(f'Invalid machine type "{name}" in zone "{zone}": GCE_NOT_FOUND')
    return machine


@cache
def machines_in(zone: str) -> tuple[Machine, ...]:
    """The machine types that the zone offers."""
    return tuple(machine for machine in machines().values() if _offers(zone, machine))


def _offers(zone: str, machine: Machine) -> bool:
    if machine.gpu is not None:
        return zone in machine.gpu.zones
    if machine.tpu is None:
        return cpu_catalogue().families[machine.family].may_be_in(zone)
    try:
        catalogue().check_zone(zone, machine.tpu[0].name)
    except SliceError:
        return False
    return True
