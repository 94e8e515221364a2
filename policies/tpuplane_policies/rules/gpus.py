"""What the rules must know of a pool of GPU nodes. The tables are tpuplane's."""

from __future__ import annotations

from collections.abc import Iterator

from tpuplane.gpu import GpuError, GpuMachine, gpu_catalogue

from tpuplane_policies.core.resources import POOL, Resource, Stack
from tpuplane_policies.rules.pools import auto_provisioned, node_range

ACCELERATOR = "cloud.google.com/gke-accelerator"


def gpu_machine(pool: Resource) -> GpuMachine | None:
    """The machine of a GPU pool; None for a pool of others, and for GPUs attached to a machine that comes without.

    Raises:
        UndecidedError: if the machine type is not known yet.

    """
    try:
        return gpu_catalogue().machine(str(pool["nodeConfig.machineType"].get("")))
    except GpuError:
        return None


def gpus_per_node(pool: Resource) -> int:
    """GPUs of one node, those that are attached to it among them; 0 for a node without."""
    machine = gpu_machine(pool)
    if machine is not None:
        return machine.gpus
    return sum(int(it["count"].get(0)) for it in pool["nodeConfig.guestAccelerators"].each())


def offered_per_node(pool: Resource) -> int:
    """What a node offers as `nvidia.com/gpu`: its GPUs, times partitions of each, times containers that share one."""
    machine = gpu_machine(pool)
    if machine is None:
        return gpus_per_node(pool)
    config = next(iter(pool["nodeConfig.guestAccelerators"].each()), None)
    if config is None:
        return machine.gpus
    clients = config["gpuSharingConfig.maxSharedClientsPerGpu"].get(0)
    return machine.offers(config["gpuPartitionSize"].get(""), int(clients))


def gpu_pools(stack: Stack) -> Iterator[tuple[Resource, int, int]]:
    """Pools with GPUs, and how many at least and at most."""
    for pool in stack.of(POOL):
        per_node = gpus_per_node(pool)
        if per_node:
            smallest, largest = node_range(pool)
            yield pool, smallest * per_node, largest * per_node


def provisioned_gpus(stack: Stack) -> Iterator[tuple[Resource, GpuMachine, int]]:
    """GPUs that node auto-provisioning may add in each cluster; on which machine is a guess."""
    pools = (
        (pool, machine.accelerator.name, most) for pool, _, most in gpu_pools(stack) if (machine := gpu_machine(pool))
    )
    known = {it.name: gpu_catalogue().machine_with(it.name) for it in gpu_catalogue().accelerators}
    return auto_provisioned(stack, known, pools)
