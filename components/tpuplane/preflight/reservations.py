"""Whether Google has the reservations that a stack file declares."""

from collections.abc import Iterator
from typing import NamedTuple

from tpuplane.gpu import gpu_catalogue
from tpuplane.preflight.findings import Finding, asked
from tpuplane.preflight.google import Google, Json, reading
from tpuplane.spec import PlatformSpec, ReservationSpec
from tpuplane.spec.core.errors import Path, shown
from tpuplane.tpu import SliceError, catalogue


def check_reservations(spec: PlatformSpec, google: Google, rejected: str) -> Iterator[Finding]:
    """Every difference between the declared reservations and Google's."""
    for name, declared in spec.reservations.items():
        at: Path = ("reservations", name)
        yield from asked("reservation", at, rejected, _compare(at, declared, google, spec.project))


def _compare(at: Path, declared: ReservationSpec, google: Google, project: str) -> Iterator[Finding]:
    owner, name = declared.project or project, str(at[-1])
    found = google.ask("compute.v1.reservations.get", project=owner, zone=declared.zone, reservation=name)
    gcloud = "gcloud compute reservations"

    def differs(field: str, message: str, remedy: str = f"correct it: {gcloud} list --project={owner}") -> Finding:
        return Finding("reservation", (*at, field) if field else at, message, remedy)

    if found is None:
        yield differs("", f"not found in project {owner}, zone {declared.zone}")
        return
    with reading():
        status, shared, held = found["status"], _shared(found.get("shareSettings", {}), project), _held(found)
    if declared.active and status != "READY":
        yield differs("active", f"true, but Compute Engine reports {status}", "set it to false until it is READY")
    if owner != project and not shared:
        share = f"{gcloud} update {name} --project={owner} --zone={declared.zone} --add-share-with={project}"
        message = f"{shown(owner)} does not share it with {project}"
        yield differs("project", message, f"ask the owner to run: {share}")
    field, unit, kind = "accelerator", "gpus", "GPUs"
    hardware, amount = declared.accelerator or "", declared.gpus or 0
    if declared.generation is not None:
        field, unit, kind = "generation", "chips", "TPUs"
        hardware, amount = catalogue().generation(declared.generation).name, declared.chips or 0
    if held is None:
        yield differs(field, f"{shown(hardware)}, but Compute Engine has no {kind} in it")
        return
    if held.hardware != hardware:
        yield differs(field, f"{shown(hardware)}, but Compute Engine has {held.hardware}")
    elif declared.machine_type is not None and held.machine_type not in (None, declared.machine_type):
        yield differs("machineType", f"{shown(declared.machine_type)}, but Compute Engine has {held.machine_type}")
    if held.amount < amount:
        yield differs(unit, f"{amount}, but Compute Engine has {held.amount}", f"allowed: at most {held.amount}")


def _shared(share: Json, project: str) -> bool:
    kind = share.get("shareType", "LOCAL")
    if kind not in ("LOCAL", "SPECIFIC_PROJECTS", "ORGANIZATION"):
        raise ValueError(f"shared by {kind}")
    return kind == "ORGANIZATION" or project in share.get("projectMap", {})


class _Holding(NamedTuple):
    hardware: str  # generation or accelerator
    amount: int  # chips or GPUs
    machine_type: str | None = None


def _held(found: Json) -> _Holding | None:
    """The reserved hardware: single VMs with TPUs or GPUs, or a TPU family as a whole. None if it is unknown."""
    if specific := found.get("specificReservation"):
        name, count = specific["instanceProperties"]["machineType"], int(specific["count"])
        for gpu_machine in gpu_catalogue().machines:
            if gpu_machine.name == name:
                return _Holding(gpu_machine.accelerator.name, count * gpu_machine.gpus, name)
        try:
            generation, machine = catalogue().machine(name)
        except SliceError:
            return None
        return _Holding(generation.name, count * machine.chips, name)
    whole: Json = found.get("aggregateReservation", {})
    # Compute Engine's family ends with that of the machine type: VM_FAMILY_CLOUD_TPU_POD_SLICE_CT5P, ct5p-hightpu-4t.
    family = whole.get("vmFamily", "").rpartition("_")[2].lower()
    for generation in catalogue().generations:
        if generation.machines[0].name.partition("-")[0] == family:
            accelerators = (resource.get("accelerator", {}) for resource in whole.get("reservedResources", []))
            return _Holding(generation.name, sum(int(part.get("acceleratorCount", 0)) for part in accelerators))
    return None
