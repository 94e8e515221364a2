"""The checks of machine types without accelerators: existence, region, disks and CPU platform."""

from collections.abc import Iterator, Sequence

from tpuplane.cpu import CpuError, CpuFamily, CpuMachine, cpu_catalogue
from tpuplane.gpu import GpuMachine, gpu_catalogue
from tpuplane.spec.classes.priorities import ClassPrioritySpec
from tpuplane.spec.cluster.cluster import ClusterPlaceSpec, SystemPoolSpec
from tpuplane.spec.core.errors import Mistake, Path, choice, shown
from tpuplane.spec.core.locations import known_zones, locations, region_of
from tpuplane.spec.core.rules import broken, check_boot_disk, spec_data
from tpuplane.tpu import MachineType, catalogue


def check_system_pool(at: Path, location: str, pool: SystemPoolSpec) -> Iterator[Mistake]:
    """Every mistake of a system pool in a cluster at `location`."""
    if pool.min_nodes > pool.max_nodes:
        yield Mistake((*at, "minNodes"), f"{pool.min_nodes} is more than maxNodes; allowed: at most {pool.max_nodes}")
    region = region_of(location)
    name = pool.machine_type or cpu_catalogue().system_machine(region)
    kind = "TPU" if name in _tpu_machines() else "GPU" if name in gpu_catalogue().names else None
    if kind is not None:
        yield broken("system-machine", (*at, "machineType"), value=shown(name), kind=kind)
        return
    if pool.adopted is None:
        yield from _check_cpu_offer(at, location, pool, name)
        return
    for index, zone in enumerate(pool.adopted.zones):  # Google has accepted the machines of an existing pool
        path, zones = (*at, "adopted", "zones", index), known_zones(region)
        if region_of(zone) != region or (zones and zone not in zones):
            yield Mistake(path, choice(zone, f"a zone of {region}", zones))


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
    """The machine type or family of a priority exists, is large enough, and supports disks and CPU platform."""
    yield from _check_local_ssds((*at, "storage", "localSsdCount"), priority)
    if priority.min_cpu_platform is not None:
        yield from _check_cpu_platform((*at, "minCpuPlatform"), priority.min_cpu_platform, priority)
    name, family_name = priority.machine_type, priority.machine_family
    if priority.machine_type is None:
        yield from _check_size(at, priority)
    others = gpu_catalogue().names | _tpu_machines()
    families = {other.partition("-")[0] for other in others}
    if name in others or family_name in families or (name is None and family_name is None):
        return  # judged with its TPUs or GPUs
    alike = sorted(other for other in others if name is not None and other.partition("-")[0] == name.partition("-")[0])
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
    """At least one machine type that matches the priority is large enough."""
    cores, memory = priority.min_cores or 0, priority.min_memory_gb or 0
    name, machines = _machines(priority)
    if priority.machine_family in cpu_catalogue().families and cpu_catalogue().family(priority.machine_family).custom:
        memory = 0  # custom machines have more memory than those of the catalogue
    if machines and not any(machine.vcpus >= cores and machine.memory_gb >= memory for machine in machines):
        cpus, most = max(machine.vcpus for machine in machines), max(machine.memory_gb for machine in machines)
        field = "minCores" if cores > cpus or memory <= most else "minMemoryGb"
        largest = max(machines, key=lambda machine: (machine.vcpus, machine.memory_gb))
        has = f"{largest.name} with {largest.vcpus} vCPUs and {largest.memory_gb:g} GB"
        wanted = " and ".join(f"{value} {unit}" for value, unit in ((cores, "vCPUs"), (memory, "GB")) if value)
        remedy = "name another " + ("machineFamily" if priority.tpu is None else "TPU")
        yield broken("class-machine-large", (*at, field), value=wanted, family=name, largest=has, remedy=remedy)


def _machines(priority: ClassPrioritySpec) -> tuple[str, Sequence[CpuMachine | GpuMachine | MachineType]]:
    """The hardware that the priority names, and the machine types of the catalogues that match it."""
    tpu, gpu, family = priority.tpu, priority.gpu, priority.machine_family
    if tpu is not None:
        generation = catalogue().known(tpu.type)
        machines = generation.machines if generation else ()
        return tpu.type, [machine for machine in machines if tpu.count in (None, machine.chips)]
    if family is not None and family in cpu_catalogue().families:
        # GKE adds GPUs to machines of N1 only, which have no more vCPUs with them.
        return family, _chosen(cpu_catalogue().family(family))
    if family is None and gpu is None:
        return "any family", [machine for own in cpu_catalogue().families.values() for machine in _chosen(own)]
    return family or (gpu.type if gpu and gpu.type else "any GPU"), gpu_machines(priority)


def gpu_machines(priority: ClassPrioritySpec) -> tuple[GpuMachine, ...]:
    """The machine types of the catalogue that match a priority; none if it has no GPU of the catalogue."""
    gpu, known = priority.gpu, named_gpu_machines(priority)
    if gpu is None:
        return known if priority.machine_type is not None or priority.machine_family is not None else ()
    return tuple(one for one in known if one.accelerator.name == gpu.type and gpu.count in (None, one.gpus))


def named_gpu_machines(priority: ClassPrioritySpec) -> tuple[GpuMachine, ...]:
    """The machine types of the catalogue with the name and of the family of a priority, or all."""
    name, family = priority.machine_type, priority.machine_family
    known = [machine for machine in gpu_catalogue().machines if family in (None, machine.name.partition("-")[0])]
    return tuple(machine for machine in known if name in (None, machine.name))


def _chosen(family: CpuFamily) -> tuple[CpuMachine, ...]:
    """The machine types that the autoscaler chooses itself. Bare metal it takes only by its name (source: ca)."""
    return tuple(machine for machine in family.machines.values() if not machine.name.endswith("-metal"))


def check_class_places(
    at: Path, key: str, cluster: ClusterPlaceSpec, priority: ClassPrioritySpec, named: tuple[str, ...]
) -> Iterator[Mistake]:
    """The cluster's region and a possible zone of the class offer the family. `named`: the zones of the class."""
    if (name := priority.machine_type or priority.machine_family) is None:
        return
    try:
        family = cpu_catalogue().family_of(name) if priority.machine_type else cpu_catalogue().family(name)
    except CpuError:
        return  # another check reports it
    field = "machineType" if priority.machine_type else "machineFamily"
    where = named or (cluster.location,)
    if not family.may_be_in(region_of(cluster.location)):
        allowed = ", ".join(cpu_catalogue().families_in(cluster.location))
        value, region = shown(name), cluster.location
        yield broken("class-machine-region", (*at, field), value=value, region=region, cluster=key, allowed=allowed)
    elif not any(map(family.may_be_in, where)):
        allowed = _zones_with(family, region_of(cluster.location))
        yield broken("class-machine-zone", (*at, field), value=shown(name), where=", ".join(where), allowed=allowed)


def _zones_with(family: CpuFamily, region: str) -> str:
    """The zones of the region that offer the family, as far as they are known."""
    known = filter(family.is_in, locations().zones.get(region, ()))
    return ", ".join(known) or f"another zone of {region}"


def _elsewhere(at: Path, name: str, family: CpuFamily, location: str) -> Mistake:
    region = region_of(location)
    if family.may_be_in(region):
        zones = _zones_with(family, region)
        return Mistake(at, f"{shown(name)} is not known to be in {location}; allowed zones: {zones}")
    here, size = cpu_catalogue().families_in(location), name.removeprefix(family.name)
    known = cpu_catalogue().families
    near = next((key + size for key in ("n2", *here) if key in here and key + size in known[key].machines), None)
    hint = f"; nearest: {near}" if near else ""
    return Mistake(at, f"{shown(name)} is not known to be in {location}; allowed families: {', '.join(here)}{hint}")


def _tpu_machines() -> frozenset[str]:
    generations = catalogue().generations
    named = (machine.name for generation in generations for machine in generation.machines)
    return frozenset((*named, *(name for generation in generations for name, _ in generation.not_on_gke)))


def _check_cpu_platform(at: Path, platform: str, priority: ClassPrioritySpec) -> Iterator[Mistake]:
    name, data = (priority.machine_type or priority.machine_family or "").partition("-")[0], spec_data("class_rules")
    vendor = next((vendor for vendor, families in data["cpuVendors"].items() if name in families), None)
    if name in data["noCpuPlatforms"]:
        yield broken("class-no-cpu-platform", at, family=name)
    elif vendor is not None and platform.partition(" ")[0] != vendor:
        yield broken("class-cpu-platform", at, value=shown(platform), family=name, vendor=vendor)


def _check_local_ssds(at: Path, priority: ClassPrioritySpec) -> Iterator[Mistake]:
    """GPU machines have a check of their own."""
    if priority.storage is None or priority.storage.local_ssd_count is None:
        return
    if priority.tpu is not None:
        yield broken("class-local-ssds", at, value=priority.tpu.type, remedy="remove it")
        return
    named = priority.machine_type or priority.machine_family or ""
    family = cpu_catalogue().families.get(named.partition("-")[0])
    if family is None:
        return
    with_ssds = [machine for machine in family.machines if _has_local_ssds(machine)]
    if not (with_ssds if priority.machine_type is None else _has_local_ssds(named)):
        remedy = f"remove it, or name another machineType, such as {with_ssds[0]}" if with_ssds else "remove it"
        yield broken("class-local-ssds", at, value=named, remedy=remedy)


def _has_local_ssds(machine: str) -> bool:
    series = tuple(f"{name}-" for name in spec_data("class_rules")["localSsds"])
    return "lssd" in machine or machine.startswith(series)
