"""The memory of a node for its pods. The twin uses it too."""

from tpuplane.spec.core.rules import spec_data


def allocatable_gb(memory_gb: float) -> float:
    """The part of a machine's memory that GKE does not reserve, in GB (2^30 bytes)."""
    data = spec_data("node_memory")
    free, below = float(memory_gb - data["eviction_mib"] / 1024), 0.0
    for limit, share in data["reserved"]:
        upper = memory_gb if limit is None else min(limit, memory_gb)
        free -= share * (upper - below)
        below = upper
    return free
