"""The errors of `Slice.of` for a topology and for a machine type."""

from __future__ import annotations

from tpuplane.tpu.catalogue import catalogue
from tpuplane.tpu.errors import SliceError
from tpuplane.tpu.model import Generation
from tpuplane.tpu.nearest import nearest_names, nearest_topologies
from tpuplane.tpu.topology import parse


def topology_error(gen: Generation, topology: str) -> SliceError:
    """The error for a topology that the generation does not have."""
    dims = parse(topology)
    detail = None
    if dims is None:
        form = "AxB" if gen.dimensions == 2 else "AxBxC"
        detail = f"write {form}, for example {gen.topologies[-1]}"
    elif len(dims) != gen.dimensions:
        detail = f"it needs {gen.dimensions} numbers"
    elif gen.rule:
        detail = gen.rule.broken_by(dims)
    listed = gen.topologies
    allowed_text = None
    if gen.rule:
        below_a_cube = [shape for shape in listed if not gen.rule.admits(shape)]
        allowed_text = f"{', '.join(below_a_cube)}, and {gen.rule}"
    return SliceError(
        "topology",
        topology,
        f"is not a {gen.name} topology" + (f" ({detail})" if detail else ""),
        allowed=listed,
        allowed_text=allowed_text,
        nearest=nearest_topologies(gen, topology),
    )


def machine_error(gen: Generation, topology: str, machine_type: str) -> SliceError:
    """The error for a machine type that does not make this topology of the generation."""
    allowed = tuple(machine.name for machine in gen.machines_for(topology))
    return SliceError(
        "machine_type",
        machine_type,
        _machine_cause(gen, topology, machine_type),
        allowed=allowed,
        nearest=nearest_names(machine_type, allowed, count=1) or allowed[:1],
    )


def _machine_cause(gen: Generation, topology: str, machine_type: str) -> str:
    try:
        owner, machine = catalogue().machine(machine_type)
    except SliceError:
        reason = dict(gen.not_on_gke).get(machine_type)
        return f"is not a {gen.name} machine type" + (f" on GKE ({reason})" if reason else "")
    if owner.name != gen.name:
        return f"is a {owner.name} machine type and does not make {gen.name} {topology}"
    if machine.single_host_only:
        return f"makes only {gen.name} {machine.single_host_topology}, not {topology}"
    return f"has {machine.chips} chips per host and does not make {gen.name} {topology}"
