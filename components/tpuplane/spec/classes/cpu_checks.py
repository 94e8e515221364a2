"""The checks of local SSDs and CPU platforms, which depend on the machine family of a priority."""

from collections.abc import Iterator

from tpuplane.cpu import cpu_catalogue
from tpuplane.spec.classes.priorities import ClassPrioritySpec
from tpuplane.spec.core.errors import Mistake, Path, shown
from tpuplane.spec.core.rules import broken, spec_data


def check_cpu_machine(at: Path, priority: ClassPrioritySpec) -> Iterator[Mistake]:
    """The machines of a priority can have local SSDs, and the CPU platform."""
    yield from _check_local_ssds((*at, "storage", "localSsdCount"), priority)
    if priority.min_cpu_platform is not None:
        yield from _check_cpu_platform((*at, "minCpuPlatform"), priority.min_cpu_platform, priority)


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
