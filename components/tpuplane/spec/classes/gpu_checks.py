"""The GPUs of a compute class: what the catalogue knows of them.

GKE knows more GPUs than the catalogue (those that are added to N1 machines, say); of others nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator

from tpuplane.gpu import GpuError, GpuMachine, gpu_catalogue
from tpuplane.spec.classes.compute_class import ComputeClassSpec
from tpuplane.spec.classes.priorities import ClassPrioritySpec
from tpuplane.spec.cluster.cluster import ClusterPlaceSpec
from tpuplane.spec.core.errors import Mistake, Path, choice, shown
from tpuplane.spec.core.locations import region_of
from tpuplane.spec.core.rules import broken

# How a priority says in which way it buys; what says nothing is bought on demand.
_FIELDS = {"spot": "spot: true", "flex-start": "flexStart", "reservation": "reservations"}


def gpu_machines(priority: ClassPrioritySpec) -> tuple[GpuMachine, ...]:
    """Machine types of the catalogue that a priority may become; none where it wants no GPU that is known."""
    gpu = priority.gpu
    known = (it for it in gpu_catalogue().machines if priority.machine_type in (None, it.name))
    if gpu is None:
        return tuple(known) if priority.machine_type is not None else ()
    return tuple(it for it in known if it.accelerator.name == gpu.type and gpu.count in (None, it.gpus))


def check_gpu(at: Path, priority: ClassPrioritySpec) -> Iterator[Mistake]:
    """The machine has these GPUs, and so many of them."""
    gpu = priority.gpu
    if gpu is not None and priority.tpu is not None:
        yield broken("class-tpu-or-gpu", (*at, "gpu"))
    yield from _check_sold(at, priority)
    if gpu is not None and gpu.type is not None and gpu.type not in gpu_catalogue().accelerator_names:
        yield Mistake((*at, "gpu", "type"), choice(gpu.type, "a GPU of GKE", gpu_catalogue().accelerator_names))
    if gpu is None or gpu.type not in {it.name for it in gpu_catalogue().accelerators}:
        return
    machine = next((it for it in gpu_catalogue().machines if it.name == priority.machine_type), None)
    if machine is None:
        try:
            gpu_catalogue().machine_with(gpu.type, gpu.count)
        except GpuError as error:
            yield Mistake((*at, "gpu", "count"), str(error))
    elif gpu.type != machine.accelerator.name or gpu.count not in (None, machine.gpus):
        wanted = f"{gpu.count or 'some'} {gpu.type}"
        yield broken("class-gpu", (*at, "gpu"), value=wanted, machine=machine.name, has=str(machine))


def _check_sold(at: Path, priority: ClassPrioritySpec) -> Iterator[Mistake]:
    """Some machine that the priority may become is sold the way it buys."""
    machines = gpu_machines(priority)
    way, field = _way(priority)
    if machines and not any(way in machine.capacities for machine in machines):
        allowed = ", ".join(_FIELDS[it] for it in machines[0].capacities if it in _FIELDS)
        yield broken("class-gpu-capacity", (*at, field), value=shown(way), machine=machines[0].name, allowed=allowed)


def _way(priority: ClassPrioritySpec) -> tuple[str, str]:
    """How a priority buys its nodes, and the field that says so."""
    if priority.flex_start is not None and priority.flex_start.enabled:
        return "flex-start", "flexStart"
    if priority.reservations is not None and priority.reservations.affinity != "None":
        return "reservation", "reservations"
    return "spot" if priority.spot else "on-demand", "spot"


def check_gpu_places(
    at: Path, key: str, cluster: ClusterPlaceSpec, it: ComputeClassSpec, priority: ClassPrioritySpec
) -> Iterator[Mistake]:
    """A zone in which the class may be offers the machine."""
    machines = gpu_machines(priority)
    if not machines:
        return
    location = priority.location or (it.priority_defaults.location if it.priority_defaults else None)
    named = location.zones if location is not None else None
    offering = {zone for machine in machines for zone in machine.zones}
    inside = {zone for zone in offering if cluster.location in (zone, region_of(zone))}
    if named is not None:
        inside &= set(named)
    if not inside:
        where = ", ".join(named) if named is not None else cluster.location
        near = sorted(zone for zone in offering if region_of(zone) == region_of(cluster.location))
        value = machines[0].name if priority.machine_type else machines[0].accelerator.name
        allowed = ", ".join(near or sorted({region_of(zone) for zone in offering}))
        yield broken("class-gpu-zone", at, value=shown(value), where=where, cluster=key, allowed=allowed)
