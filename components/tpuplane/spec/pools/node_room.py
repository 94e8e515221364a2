"""The memory and CPU of a node for its pods. The twin uses them too."""

from tpuplane.spec.core.rules import spec_data


def allocatable_gb(memory_gb: float) -> float:
    """The part of a machine's memory that GKE does not reserve, in GB (2^30 bytes)."""
    data = spec_data("node_room")
    return float(memory_gb - data["eviction_mib"] / 1024 - _reserved(data["reserved"], memory_gb))


def allocatable_millicores(vcpus: int, family: str, *, shared: bool = False, most_pods: int = 0) -> int:
    """The part of a machine's vCPUs that GKE does not reserve, in thousandths, on a node with at most so many pods."""
    data = spec_data("node_room")
    kept, many = data["reserved_cpu_shared"], data["reserved_cpu_many_pods"]
    on_shared = shared and family in kept["families"]
    reserved = kept["cores"] if on_shared else _reserved(data["reserved_cpu"], vcpus)
    return round(1000 * (vcpus - reserved - (many["cores"] if most_pods > many["above"] else 0)))


def _reserved(steps: list[tuple[float | None, float]], amount: float) -> float:
    total, below = 0.0, 0.0
    for limit, share in steps:
        upper = amount if limit is None else min(limit, amount)
        total += share * (upper - below)
        below = upper
    return total
