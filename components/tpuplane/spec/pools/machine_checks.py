"""Machine types without accelerators: do they exist, are they in the region, and do they take the boot disk."""

from collections.abc import Iterator, Sequence

from tpuplane.cpu import CpuError, CpuFamily, CpuMachine, cpu_catalogue
from tpuplane.gpu import GpuMachine, gpu_catalogue
from tpuplane.spec.classes.priorities import ClassPrioritySpec
from tpuplane.spec.cluster.cluster import ClusterPlaceSpec, SystemPoolSpec
from tpuplane.spec.core.errors import Mistake, Path, choice, shown
from tpuplane.spec.core.locations import locations, region_of
from tpuplane.spec.core.rules import broken
from tpuplane.spec.pools.disk_checks import check_boot_disk
from tpuplane.tpu import MachineType, catalogue


def check_system_pool(at: Path, location: str, pool: SystemPoolSpec) -> Iterator[Mistake]:
    """Every mistake of a CPU pool in a cluster at `location`."""
    if pool.min_nodes > pool.max_nodes:
        yield Mistake((*at, "minNodes"), f"{pool.min_nodes} is more than maxNodes; allowed: at most {pool.max_nodes}")
    region = region_of(location)
    name = pool.machine_type or cpu_catalogue().system_machine(region)
    kind = "TPU" if name in _tpu_machines() else "GPU" if name in gpu_catalogue().names else None
    if kind is not None:
        yield broken("system-machine", (*at, "machineType"), value=shown(name), kind=kind)
        return
    if pool.adopted is None:  # Google has accepted what exists
        yield from _check_cpu_offer(at, location, pool, name)


def _check_cpu_offer(at: Path, location: str, pool: SystemPoolSpec, name: str) -> Iterator[Mistake]:
    try:
        family = cpu_catalogue().family_of(name)
    except CpuError as error:
        yield Mistake((*at, "machineType"), str(error))
        return
    if family.name == "ek":
        yield broken("class-machine-ek", (*at, "machineType"), value=shown(name))
    elif not family.may_be_in(location):
        yield _elsewhere((*at, "machineType"), name, family, location)
    yield from check_boot_disk((*at, "diskType"), pool.disk_type, name, family.boot_disks)


def check_class_machine(at: Path, priority: ClassPrioritySpec) -> Iterator[Mistake]:
    """The machine or family of a priority exists, is as large as it should be, and takes the boot disk."""
    name, family_name = priority.machine_type, priority.machine_family
    if priority.machine_type is None:
        yield from _check_size(at, priority)
    others = gpu_catalogue().names | _tpu_machines()
    families = {it.partition("-")[0] for it in others}
    if name in others or family_name in families or (name is None and family_name is None):
        return  # judged with its TPUs or GPUs
    alike = sorted(it for it in others if name is not None and it.partition("-")[0] == name.partition("-")[0])
    if alike:
        yield Mistake((*at, "machineType"), choice(name, "a machine type", alike))
        return
    try:
        family = cpu_catalogue().family_of(name) if name else cpu_catalogue().family(family_name or "")
    except CpuError as error:
        yield Mistake((*at, "machineType" if name else "machineFamily"), str(error))
        return
    disk = priority.storage.boot_disk_type if priority.storage else None
    yield from check_boot_disk((*at, "storage", "bootDiskType"), disk, name or family.name, family.boot_disks)


def _check_size(at: Path, priority: ClassPrioritySpec) -> Iterator[Mistake]:
    """A machine that the priority may become is as large as it should be."""
    cores, memory = priority.min_cores or 0, priority.min_memory_gb or 0
    name, machines = _machines(priority)
    if priority.machine_family in cpu_catalogue().families and cpu_catalogue().family(priority.machine_family).custom:
        memory = 0  # custom machines have more memory than those of the catalogue
    if machines and not any(it.vcpus >= cores and it.memory_gb >= memory for it in machines):
        cpus, most = max(it.vcpus for it in machines), max(it.memory_gb for it in machines)
        field = "minCores" if cores > cpus or memory <= most else "minMemoryGb"
        largest = max(machines, key=lambda it: (it.vcpus, it.memory_gb))
        has = f"{largest.name} with {largest.vcpus} vCPUs and {largest.memory_gb:g} GB"
        wanted = " and ".join(f"{value} {unit}" for value, unit in ((cores, "vCPUs"), (memory, "GB")) if value)
        remedy = "name another " + ("machineFamily" if priority.tpu is None else "TPU")
        yield broken("class-machine-large", (*at, field), value=wanted, family=name, largest=has, remedy=remedy)


def _machines(priority: ClassPrioritySpec) -> tuple[str, Sequence[CpuMachine | GpuMachine | MachineType]]:
    """What the priority asks for, and the machines that it may become, as far as the catalogues know."""
    tpu, gpu, family = priority.tpu, priority.gpu, priority.machine_family
    if tpu is not None:
        generation = catalogue().known(tpu.type)
        return tpu.type, [it for it in generation.machines if tpu.count in (None, it.chips)] if generation else []
    if family is not None and family in cpu_catalogue().families:
        # GKE adds GPUs to machines of N1 only, which have no more vCPUs with them.
        return family, tuple(cpu_catalogue().family(family).machines.values())
    if family is None and gpu is None:
        return "any family", [it for of in cpu_catalogue().families.values() for it in of.machines.values()]
    known = [it for it in gpu_catalogue().machines if family in (None, it.name.partition("-")[0])]
    if gpu is not None:
        known = [it for it in known if it.accelerator.name == gpu.type and gpu.count in (None, it.gpus)]
    return family or (gpu.type if gpu and gpu.type else "any GPU"), known


def check_class_places(
    at: Path, key: str, cluster: ClusterPlaceSpec, priority: ClassPrioritySpec, named: tuple[str, ...]
) -> Iterator[Mistake]:
    """The cluster's region has the family, and so has a zone in which the class may be. `named`: the zones it names."""
    name = priority.machine_type or priority.machine_family
    if name is None:
        return
    try:
        family = cpu_catalogue().family_of(name) if priority.machine_type else cpu_catalogue().family(name)
    except CpuError:
        return  # another check reports it
    field = "machineType" if priority.machine_type else "machineFamily"
    where = named or (cluster.location,)
    if not family.may_be_in(region_of(cluster.location)):
        allowed = ", ".join(families_in(cluster.location))
        yield broken(
            "class-machine-region",
            (*at, field),
            value=shown(name),
            region=cluster.location,
            cluster=key,
            allowed=allowed,
        )
    elif not any(map(family.may_be_in, where)):
        allowed = _zones_with(family, region_of(cluster.location))
        yield broken("class-machine-zone", (*at, field), value=shown(name), where=", ".join(where), allowed=allowed)


def families_in(location: str) -> tuple[str, ...]:
    """Families that the region or zone is known to list."""
    return tuple(it.name for it in cpu_catalogue().families.values() if it.is_in(location))


def _zones_with(family: CpuFamily, region: str) -> str:
    """The zones of the region that offer the family, as far as they are known."""
    known = filter(family.is_in, locations().zones.get(region, ()))
    return ", ".join(known) or f"another zone of {region}"


def _elsewhere(at: Path, name: str, family: CpuFamily, location: str) -> Mistake:
    region = region_of(location)
    if family.may_be_in(region):
        zones = _zones_with(family, region)
        return Mistake(at, f"{shown(name)} is not known to be in {location}; allowed zones: {zones}")
    here, size = families_in(location), name.removeprefix(family.name)
    known = cpu_catalogue().families
    near = next((f"{it}{size}" for it in ("n2", *here) if it in here and f"{it}{size}" in known[it].machines), None)
    hint = f"; nearest: {near}" if near else ""
    message = f"{shown(name)} is not known to be in {location}; allowed families: {', '.join(here)}{hint}"
    return Mistake(at, message)


def _tpu_machines() -> frozenset[str]:
    generations = catalogue().generations
    named = (machine.name for generation in generations for machine in generation.machines)
    return frozenset((*named, *(name for generation in generations for name, _ in generation.not_on_gke)))
