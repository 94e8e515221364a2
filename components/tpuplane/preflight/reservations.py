"""Whether Google has the reservations that a stack file declares."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tpuplane.data_files import read_data
from tpuplane.gpu import gpu_catalogue
from tpuplane.preflight.findings import Finding, asked
from tpuplane.preflight.google import Google, Json
from tpuplane.spec import PlatformSpec, ReservationSpec
from tpuplane.spec.core.errors import Path, shown
from tpuplane.tpu import SliceError, catalogue


@cache
def _families() -> dict[str, str]:
    """Generations by Compute Engine's name of their family."""
    return {family: name for name, family in read_data("tpuplane.preflight", "compute")["generations"].items()}


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
    if declared.active and found["status"] != "READY":
        message = f"true, but Compute Engine reports {found['status']}"
        yield differs("active", message, "set it to false until it is READY")
    if owner != project and not _shared(found.get("shareSettings", {}), project):
        share = f"{gcloud} update {name} --project={owner} --zone={declared.zone} --add-share-with={project}"
        message = f"{shown(owner)} does not share it with {project}"
        yield differs("project", message, f"ask the owner to run: {share}")
    held, wanted = _held(found), _declared(declared)
    if held is None:
        kind = "TPUs" if wanted.counted == "chips" else "GPUs"
        yield differs(wanted.field, f"{shown(wanted.hardware)}, but Compute Engine has no {kind} in it")
        return
    if held.hardware != wanted.hardware:
        yield differs(wanted.field, f"{shown(wanted.hardware)}, but Compute Engine has {held.hardware}")
    elif declared.machine_type is not None and held.machine_type not in (None, declared.machine_type):
        yield differs("machineType", f"{shown(declared.machine_type)}, but Compute Engine has {held.machine_type}")
    if held.amount < wanted.amount:
        message = f"{wanted.amount}, but Compute Engine has {held.amount}"
        yield differs(wanted.counted, message, f"allowed: at most {held.amount}")


def _shared(share: Json, project: str) -> bool:
    kind = share.get("shareType", "LOCAL")
    if kind not in ("LOCAL", "SPECIFIC_PROJECTS", "ORGANIZATION"):
        raise ValueError(f"shared by {kind}")
    return kind == "ORGANIZATION" or project in share.get("projectMap", {})


@dataclass(frozen=True, slots=True)
class _Holding:
    """The hardware of a reservation, and the fields that describe it."""

    hardware: str  # generation or accelerator
    amount: int  # chips or GPUs
    machine_type: str | None
    field: str = "generation"
    counted: str = "chips"


def _declared(reservation: ReservationSpec) -> _Holding:
    """The declared hardware."""
    if reservation.generation is not None:
        generation = catalogue().generation(reservation.generation)
        return _Holding(generation.name, reservation.chips or 0, reservation.machine_type)
    return _Holding(
        reservation.accelerator or "", reservation.gpus or 0, reservation.machine_type, "accelerator", "gpus"
    )


def _held(found: Json) -> _Holding | None:
    """Compute Engine's hardware: single VMs with TPUs or GPUs, or a TPU family as a whole."""
    if specific := found.get("specificReservation"):
        return _machines(specific["instanceProperties"]["machineType"], int(specific["count"]))
    whole: Json = found.get("aggregateReservation", {})
    if whole.get("vmFamily") not in _families():
        return None
    held = (item.get("accelerator", {}).get("acceleratorCount", 0) for item in whole.get("reservedResources", []))
    return _Holding(_families()[whole["vmFamily"]], sum(map(int, held)), None)


def _machines(name: str, count: int) -> _Holding | None:
    try:
        generation, tpu = catalogue().machine(name)
    except SliceError:
        gpu = next((it for it in gpu_catalogue().machines if it.name == name), None)
        return _Holding(gpu.accelerator.name, count * gpu.gpus, gpu.name) if gpu else None
    return _Holding(generation.name, count * tpu.chips, tpu.name)
