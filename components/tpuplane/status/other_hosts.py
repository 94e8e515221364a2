"""A case with other hosts: ready, free or new ones. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from tpuplane.labels import GKE_POOL_LABEL, HOSTNAME, MACHINE_LABEL, TPU
from tpuplane.status.case import Case
from tpuplane.status.fitting import Host, Hosts
from tpuplane.tpu import Slice


def with_hosts(case: Case, hosts: Sequence[Host], *, free: bool = False) -> Case:
    """The case with these hosts ready and schedulable, or also free of other jobs."""
    good = {
        host.name: replace(host, ready=True, cordoned=False, free=host.room if free else host.free) for host in hosts
    }
    return replace(case, hosts=Hosts(good.get(host.name, host) for host in case.hosts.all))


def grown(case: Case, like: Host, number: int, per_slice: int) -> Case:
    """The case with new hosts. A new slice is a new node pool, and its hosts share the label of a domain."""
    new = [
        replace(
            like,
            name=f"new-{index}",
            labels={**like.labels, HOSTNAME: f"new-{index}", GKE_POOL_LABEL: f"new-{index // per_slice}"},
            free=like.capacity,
            own={},
            ready=True,
            cordoned=False,
        )
        for index in range(number)
    ]
    return replace(case, hosts=Hosts([*case.hosts.all, *new]))


def host_of(shape: Slice) -> Host:
    """A new host of a slice, without a name and other labels than those of its shape."""
    machine = shape.machine
    room = {TPU: machine.chips, "cpu": machine.vcpus, "memory": machine.memory_gb * 2**30, "pods": 100}
    capacity = {key: 1000 * quantity for key, quantity in room.items()}
    return Host("", {**shape.node_labels, MACHINE_LABEL: machine.name}, (), capacity, capacity)
