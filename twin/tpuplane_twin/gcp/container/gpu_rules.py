"""Rules of pools with GPUs. Each returns GKE's error message, literally where it is known, or None."""

from __future__ import annotations

from tpuplane_twin.gcp.container.pool_context import PoolContext

_CLIENTS = range(2, 49)


def accelerator(context: PoolContext) -> str | None:
    """The requested GPUs are those of the machine type."""
    machine, gpu = context.config["machineType"], context.gpu
    for asked in context.accelerators:
        name, count = asked.get("acceleratorType", ""), int(asked.get("acceleratorCount", 0))
        if machine == "e2-medium":
            return "Cannot use default machine type (e2-medium) with GPUs; choose a different machine type."
        if gpu is None and machine.startswith("n1-"):
            return f'The twin has no GPUs that are attached to N1 machines; GKE attaches "{name}" to "{machine}".'
        if gpu is None:
            return f'Accelerator type "{name}" cannot be attached to machine type "{machine}".'
        if (name, count) != (gpu.accelerator.name, gpu.gpus):
            return f'Machine type "{machine}" has {gpu.gpus} "{gpu.accelerator.name}", not {count} "{name}".'
    return "A node pool has one type of accelerator." if len(context.accelerators) > 1 else None


def partition(context: PoolContext) -> str | None:
    """The GPU supports the partition size."""
    sizes = context.gpu.accelerator.partitions if context.gpu else {}
    for asked in context.accelerators:
        size = asked.get("gpuPartitionSize")
        if size and size not in sizes:
            return f"GPU {asked['acceleratorType']} does not support {size} partition size"
    return None


def sharing(context: PoolContext) -> str | None:
    """2 to 48 containers on one GPU."""
    for asked in context.accelerators:
        config = asked.get("gpuSharingConfig")
        if config is not None and int(config.get("maxSharedClientsPerGpu", 0)) not in _CLIENTS:
            return "GPU max shared clients should be integer between 2 and 48."
    return None


def local_ssds(context: PoolContext) -> str | None:
    """The machine type supports the number of local SSDs."""
    count = int(context.config.get("ephemeralStorageLocalSsdConfig", {}).get("localSsdCount", 0))
    if context.gpu is None or not count:
        return None
    choices = (context.gpu.local_ssds,) if context.gpu.local_ssds else context.gpu.local_ssd_choices
    if count in choices:
        return None
    return f'Machine type "{context.gpu.name}" takes {", ".join(map(str, choices))} local SSDs, not {count}.'


def flex_machine(context: PoolContext) -> str | None:
    """Flex-start does not support every machine type."""
    if not context.flex_start or context.gpu is None or context.gpu.flex_start:
        return None
    return f"Flex-start is not supported for machine type {context.gpu.name}."


def compact_zone(context: PoolContext) -> str | None:
    """A compact placement has one zone."""
    if not _compact(context) or len(context.zones) == 1:
        return None
    return "Compact placement is only available for node pools operating in a single zone."


def compact_nodes(context: PoolContext) -> str | None:
    """A compact placement has a maximum number of nodes."""
    most = context.gpu.compact_nodes if context.gpu else 0
    nodes = max(context.nodes_per_zone, context.limit("maxNodeCount"))
    if not _compact(context) or nodes <= most:
        return None
    return (
        f"Compact placement of {context.config['machineType']} is limited to {most} nodes; the node pool has {nodes}."
    )


def compact_queued(context: PoolContext) -> str | None:
    """Queued provisioning excludes compact placement."""
    if not _compact(context) or not context.queued:
        return None
    return "Compact placement is not supported with queued provisioning."


def compact_flex(context: PoolContext) -> str | None:
    """Flex-start supports compact placement for some machine types."""
    if not _compact(context) or not context.flex_start or (context.gpu and context.gpu.compact_flex):
        return None
    return f"Compact placement with flex-start is not supported for machine type {context.config['machineType']}."


def _compact(context: PoolContext) -> bool:
    return context.gpu is not None and context.placement.get("type") == "COMPACT"
