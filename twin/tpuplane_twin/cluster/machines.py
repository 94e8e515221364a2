"""What a machine type offers to pods, as GKE works it out."""

from functools import cache, partial

from tpuplane.cpu import CpuError, cpu_catalogue
from tpuplane.data_files import read_data
from tpuplane.spec.pools.node_room import allocatable_gb, allocatable_millicores

from tpuplane_twin.cluster.api import ClusterError
from tpuplane_twin.gcp import locations
from tpuplane_twin.gcp.locations import Machine

_GIB = 1024**3
_table = cache(partial(read_data, "tpuplane_twin.cluster", "reservations"))


def machine(name: str | None) -> Machine:
    """The machine type called `name`, GKE's default when None. Raises `ClusterError`."""
    try:
        return locations.machine(name or str(_table()["default_machine_type"]))
    except CpuError as error:
        raise ClusterError(f"machineType: {error}") from None


def architecture(machine: Machine) -> str:
    """As the label `kubernetes.io/arch` has it."""
    family = cpu_catalogue().families.get(machine.family)
    return "arm64" if family is not None and family.arm else "amd64"


def allocatable_cpu(machine: Machine, most_pods: int = 0) -> int:
    """Millicores that pods can have on a node with at most so many pods."""
    return allocatable_millicores(machine.vcpus, machine.family, shared=machine.shared, most_pods=most_pods)


def allocatable_memory(machine: Machine) -> int:
    """Bytes that pods can have."""
    return int(allocatable_gb(machine.memory / _GIB) * _GIB)


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
