"""The catalogue of machine types without accelerators: look-ups by name over `data/machines.yaml`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal

from tpuplane.data_files import read_data, with_tuples
from tpuplane.tpu.errors import CatalogueError, look_up
from tpuplane.tpu.nearest import nearest_names

_CUSTOM = re.compile(
    r"(?:(?P<family>[a-z0-9]+)-)?custom-(?P<vcpus>[0-9]+|micro|small|medium)-(?P<mb>[0-9]+)(?P<ext>-ext)?"
)
_STEP_MB = 256
_AS_THEY_ARE = ("boot_disks", "custom", "regions", "not_in", "arm")  # fields of a family


class CpuError(CatalogueError[Literal["machine_type", "machine_family"]]):
    """A machine type or family that does not exist."""


@dataclass(frozen=True, slots=True)
class CpuMachine:
    """A Compute Engine machine type without accelerators: one VM, one Kubernetes node."""

    name: str
    family: str
    vcpus: int
    memory_gb: float
    shared: bool = False
    """Whether its vCPUs are shared with other machines."""


@dataclass(frozen=True, slots=True)
class CpuFamily:
    """Machine types of one kind."""

    name: str
    machines: Mapping[str, CpuMachine]
    boot_disks: tuple[str, ...]
    """Supported boot disks, preferred first; empty if none is on record."""
    custom: Mapping[str, Any] | None = None
    regions: tuple[str, ...] | None = None
    """Regions that list it; None: see `not_in`."""
    not_in: tuple[str, ...] | None = None
    """Regions that are known not to list it. If this and `regions` are None, nothing is known."""
    not_in_zones: frozenset[str] = frozenset()
    """Zones of its regions that are known not to offer it."""
    arm: bool = False
    """Whether its machines have Arm processors."""

    @property
    def boot_disk(self) -> str:
        """The default boot disk: pd-balanced, which is GKE's default, if the family supports it."""
        return next(iter(self.boot_disks), "hyperdisk-balanced")

    def may_be_in(self, location: str) -> bool:
        """Whether the region or zone offers the family, or nothing is known about it."""
        return self.is_in(location) or self.regions is self.not_in is None

    def is_in(self, location: str) -> bool:
        """Whether the region, or the region of the zone, is known to list the family. Some zones lack it."""
        region = "-".join(location.split("-")[:2])
        if location in self.not_in_zones:
            return False
        if self.regions is not None:
            return region in self.regions
        return self.not_in is not None and region not in self.not_in


class CpuCatalogue:
    """The known facts about CPU machine types. Use `cpu_catalogue()` to get the instance."""

    @cached_property
    def _data(self) -> dict[str, Any]:
        return dict(read_data("tpuplane.cpu", "machines"))

    @cached_property
    def families(self) -> dict[str, CpuFamily]:
        """Every family by its name."""
        return {
            name: CpuFamily(
                name=name,
                machines={machine.name: machine for machine in _machines(name, raw)},
                not_in_zones=frozenset(
                    f"{at}-{zone}" for at, zones in raw.get("not_in_zones", {}).items() for zone in zones
                ),
                **with_tuples({field: raw[field] for field in _AS_THEY_ARE if field in raw}),
            )
            for name, raw in self._data["families"].items()
        }

    def families_in(self, location: str) -> tuple[str, ...]:
        """The names of the families that the region or zone is known to list."""
        return tuple(family.name for family in self.families.values() if family.is_in(location))

    def system_machine(self, region: str) -> str:
        """The default machine type of a system pool."""
        usual: list[str] = self._data["system_machines"]
        return next((name for name in usual if self.family_of(name).may_be_in(region)), usual[0])

    def family(self, name: str) -> CpuFamily:
        """The family with this name. Raises `CpuError`."""
        return look_up(self.families, name, CpuError, "machine_family", "is not a machine family")

    def family_of(self, machine_type: str) -> CpuFamily:
        """The family of a machine type. Raises `CpuError` as `machine` does."""
        return self.families[self.machine(machine_type).family]

    def machine(self, name: str) -> CpuMachine:
        """The machine type with this name, which can be a custom one. Raises `CpuError`."""
        custom = _CUSTOM.fullmatch(name)
        family = self.families.get((custom["family"] or "n1") if custom else name.partition("-")[0])
        if custom and family and family.custom:
            return _custom_machine(custom, family)
        if family is None:
            names = tuple(name for family in self.families.values() for name in family.machines)
            text = f"a machine type of {', '.join(self.families)}, such as e2-standard-4"
            nearest = nearest_names(name, names)
            raise CpuError("machine_type", name, "is not a machine type", allowed_text=text, nearest=nearest)
        if name not in family.machines:
            raise _no_such_size(name, family)
        return family.machines[name]


def _machines(family: str, raw: Mapping[str, Any]) -> list[CpuMachine]:
    found = [CpuMachine(name, family, vcpus, gb, shared=True) for name, (vcpus, gb) in raw.get("named", {}).items()]
    for series, shape in raw.get("series", {}).items():
        pattern = series if "*" in series else f"{series}-*"
        for size in shape["vcpus"]:
            vcpus, _, gb = str(size).partition("=")
            name = f"{family}-{pattern.replace('*', vcpus)}"
            found.append(CpuMachine(name, family, int(vcpus), float(gb or int(vcpus) * shape["gb"])))
    return found


def _no_such_size(name: str, family: CpuFamily) -> CpuError:
    """The error for a size that its series lacks, or for a series that its family lacks."""
    series, _, size = name.rpartition("-")
    alike = [machine for machine in family.machines.values() if machine.name.rpartition("-")[0] == series]
    if not alike or not size.isdecimal():
        forms = ", ".join(dict.fromkeys(re.sub(r"-[0-9]+(?=-|$)", "-N", machine) for machine in family.machines))
        nearest = nearest_names(name, tuple(family.machines))
        return CpuError("machine_type", name, "is not a machine type", allowed_text=forms, nearest=nearest)
    below = [machine.name for machine in alike if machine.vcpus < int(size)][-1:]
    above = [machine.name for machine in alike if machine.vcpus > int(size)][:1]
    allowed = tuple(machine.name for machine in alike)
    return CpuError("machine_type", name, "is not a machine type", allowed=allowed, nearest=(*below, *above))


def _custom_machine(match: re.Match[str], family: CpuFamily) -> CpuMachine:
    rule, name, mb = family.custom or {}, match[0], int(match["mb"])
    shared = not match["vcpus"].isdecimal()
    vcpus = 2 if shared else int(match["vcpus"])
    least, most = rule.get("gb", (0, 10**6))
    if not shared and (vcpus > rule["most"] or (vcpus % 2 and vcpus > 1) or vcpus < 1):
        cause, allowed = "has no valid number of vCPUs", f"an even number up to {rule['most']}"
    elif mb % _STEP_MB or not mb:
        cause, allowed = "has no valid amount of memory", f"a multiple of {_STEP_MB} MB"
    elif not shared and (mb < int(vcpus * least * 1024) or (mb > vcpus * most * 1024 and not match["ext"])):
        cause, allowed = "has no valid amount of memory", f"{least} to {most} GB for each vCPU"
    else:
        return CpuMachine(name, family.name, vcpus, mb / 1024, shared)
    raise CpuError("machine_type", name, cause, allowed_text=allowed)


@cache
def cpu_catalogue() -> CpuCatalogue:
    """The catalogue. Its file is read on first use."""
    return CpuCatalogue()
