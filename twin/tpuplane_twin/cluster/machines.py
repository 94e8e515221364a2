"""What a machine type offers to pods, as GKE works it out. TPU and GPU machine types come from the catalogues."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from tpuplane.cpu import CpuError, cpu_catalogue
from tpuplane.data_files import read_data
from tpuplane.gpu import gpu_catalogue
from tpuplane.tpu import MachineType, SliceError, catalogue

from tpuplane_twin.cluster.api import ClusterError

_GIB = 1024**3


class UnknownMachine(ClusterError):
    """A machine type of which nothing is known."""


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine type. Memory in bytes, CPU in millicores, both whole and as left to pods."""

    name: str
    vcpus: int
    memory: int
    architecture: str
    tpu: MachineType | None = None
    accelerator: str = ""
    """The label of a TPU's generation."""

    @property
    def family(self) -> str:
        """The machine family (`ct6e`, `e2`)."""
        return self.name.partition("-")[0]

    @property
    def allocatable_cpu(self) -> int:
        """Millicores that pods can have."""
        return round(1000 * (self.vcpus - _stepped(_table()["reserved_cpu"], self.vcpus)))

    @property
    def allocatable_memory(self) -> int:
        """Bytes that pods can have."""
        table = _table()
        reserved = _stepped(table["reserved_memory_gib"], self.memory / _GIB) * _GIB
        return int(self.memory - reserved - table["eviction_memory_mib"] * 1024**2)


def machine(name: str | None) -> Machine:
    """The machine type called `name`, GKE's default when None. Raises `UnknownMachine`."""
    table = _table()
    name = name or str(table["default_machine_type"])
    try:
        generation, tpu = catalogue().machine(name)
    except SliceError:
        gpu = next((it for it in gpu_catalogue().machines if it.name == name), None)
        try:
            host = gpu or cpu_catalogue().machine(name)
        except CpuError as error:
            raise UnknownMachine(f"machineType: {error}") from None
        architecture = "arm64" if name.partition("-")[0] in table["arm_families"] else "amd64"
        return Machine(name, host.vcpus, int(host.memory_gb * _GIB), architecture)
    return Machine(name, tpu.vcpus, int(tpu.memory_gb * _GIB), "amd64", tpu, generation.label)


def ephemeral_storage(boot_gib: int | None, local_ssds: int = 0) -> tuple[int, int]:
    """Bytes for pods' files: whole, and left to pods. On local SSDs where there are some, else on the boot disk."""
    return _on_ssds(local_ssds) if local_ssds else _on_boot_disk(boot_gib)


def _on_ssds(count: int) -> tuple[int, int]:
    rule = _table()["local_ssd"]
    size = count * rule["size_gib"]
    reserved = rule["reserved_gib"][min(count, len(rule["reserved_gib"])) - 1]
    return size * _GIB, int((size * (1 - rule["eviction_share"]) - reserved) * _GIB)


def _on_boot_disk(size_gib: int | None) -> tuple[int, int]:
    """GKE's default size when None."""
    table = _table()
    size = size_gib or table["default_disk_gib"]
    rule = table["boot_disk"]
    reserved = min(
        rule["reserved_share"] * size,
        rule["reserved_gib"] + rule["reserved_further_share"] * size,
        rule["reserved_at_most_gib"],
    )
    return size * _GIB, int((size * (1 - rule["eviction_share"]) - reserved) * _GIB)


def _stepped(steps: list[tuple[float | None, float]], amount: float) -> float:
    total, below = 0.0, 0.0
    for limit, share in steps:
        upper = amount if limit is None else min(limit, amount)
        total += max(upper - below, 0.0) * share
        below = upper
    return total


@cache
def _table() -> dict[str, Any]:
    return dict(read_data("tpuplane_twin.cluster", "reservations"))
