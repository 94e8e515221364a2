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
    """A machine type. `generation` and `tpu` are None without TPUs, `gpu` without GPUs."""

    name: str
    family: str
    vcpus: int
    memory_gb: float
    disk_types: tuple[str, ...]
    generation: Generation | None = None
    tpu: MachineType | None = None
    gpu: GpuMachine | None = None
    shared: bool = False

    @property
    def memory(self) -> int:
        """Its memory in bytes."""
        return int(self.memory_gb * 1024**3)

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
        return None if self.tpu is None else (self.name.partition("-")[0], self.tpu.chips)


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
    for cpus in cpu_catalogue().families.values():
        found |= {machine.name: _cpu_machine(machine) for machine in cpus.machines.values()}
    for generation in catalogue().generations:
        for tpu in generation.machines:
            family, disks = tpu.name.partition("-")[0], generation.boot_disk_types
            found[tpu.name] = Machine(tpu.name, family, tpu.vcpus, tpu.memory_gb, disks, generation, tpu)
    for gpu in gpu_catalogue().machines:
        found[gpu.name] = Machine(
            gpu.name, gpu.name.partition("-")[0], gpu.vcpus, gpu.memory_gb, gpu.boot_disks, gpu=gpu
        )
    return found


def machine(name: str) -> Machine:
    """The machine type, also a custom one. Raises `CpuError` if it does not exist."""
    return machines().get(name) or _cpu_machine(cpu_catalogue().machine(name))


def machine_named(name: str) -> Machine | None:
    """The machine type, also a custom one; None if it does not exist."""
    try:
        return machine(name)
    except CpuError:
        return None


def _cpu_machine(machine: CpuMachine) -> Machine:
    disks = cpu_catalogue().families[machine.family].boot_disks
    return Machine(machine.name, machine.family, machine.vcpus, machine.memory_gb, disks, shared=machine.shared)


def machine_in(name: str, zone: str) -> Machine:
    """The machine type, if the zone offers it; else GKE's error (keras-team/kinetic#305)."""
    found = machine_named(name)
    if found is None or not _offers(zone, found):
        raise invalid(f'Invalid machine type "{name}" in zone "{zone}": GCE_NOT_FOUND')
    return found


@cache
def machines_in(zone: str) -> tuple[Machine, ...]:
    """The machine types that the zone offers."""
    return tuple(machine for machine in machines().values() if _offers(zone, machine))


def _offers(zone: str, machine: Machine) -> bool:
    if machine.gpu is not None:
        return zone in machine.gpu.zones
    if machine.generation is None:
        return cpu_catalogue().families[machine.family].may_be_in(zone)
    try:
        catalogue().check_zone(zone, machine.generation.name)
    except SliceError:
        return False
    return True
