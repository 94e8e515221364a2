"""Properties of GPU node pools that several groups of rules need."""

from __future__ import annotations

from collections.abc import Iterator

from tpuplane.gpu import GpuError, GpuMachine, gpu_catalogue

from tpuplane_policies.core.resources import POOL, Resource, Stack
from tpuplane_policies.rules.pools import auto_provisioned, node_range

ACCELERATOR = "cloud.google.com/gke-accelerator"


def gpu_machine(pool: Resource) -> GpuMachine | None:
    """The machine type of a GPU pool; None for other pools and for GPUs attached to a general-purpose machine type.

    Raises:
        UndecidedError: if the machine type is unknown.

    """
    try:
        return gpu_catalogue().machine(str(pool["nodeConfig.machineType"].get("")))
    except GpuError:
        return None


def gpus_per_node(pool: Resource) -> int:
    """GPUs of one node, also attached ones."""
    machine = gpu_machine(pool)
    if machine is not None:
        return machine.gpus
    return sum(int(it["count"].get(0)) for it in pool["nodeConfig.guestAccelerators"].each())


def offered_per_node(pool: Resource) -> int:
    """The `nvidia.com/gpu` capacity of a node: GPUs times partitions times containers that share one."""
    machine = gpu_machine(pool)
    if machine is None:
        return gpus_per_node(pool)
    config = next(iter(pool["nodeConfig.guestAccelerators"].each()), None)
    if config is None:
        return machine.gpus
    clients = config["gpuSharingConfig.maxSharedClientsPerGpu"].get(0)
    return machine.offers(config["gpuPartitionSize"].get(""), int(clients))


def gpu_pools(stack: Stack) -> Iterator[tuple[Resource, int, int]]:
    """Pools with GPUs, and their minimum and maximum number."""
    for pool in stack.of(POOL):
        per_node = gpus_per_node(pool)
        if per_node:
            smallest, largest = node_range(pool)
            yield pool, smallest * per_node, largest * per_node


def provisioned_gpus(stack: Stack) -> Iterator[tuple[Resource, GpuMachine, int]]:
    """GPUs that node auto-provisioning can add in each cluster, with the default machine type of the GPU."""
    pools = (
        (pool, machine.accelerator.name, most) for pool, _, most in gpu_pools(stack) if (machine := gpu_machine(pool))
    )
    known = {it.name: gpu_catalogue().machine_with(it.name) for it in gpu_catalogue().accelerators}
    return auto_provisioned(stack, known, pools)
