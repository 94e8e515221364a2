"""Whether Google has the reservations and the quota that a stack file declares."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tpuplane.data_files import read_data
from tpuplane.gpu import gpu_catalogue
from tpuplane.preflight.google import ComputeEngine, Json
from tpuplane.spec import PlatformSpec, ReservationSpec
from tpuplane.spec.core.errors import Mistake, Path, dotted, shown
from tpuplane.spec.core.locations import region_of
from tpuplane.tpu import SliceError, catalogue


@dataclass(frozen=True, slots=True)
class Findings:
    """Differences, and declared quota that Compute Engine's API does not have."""

    mistakes: tuple[Mistake, ...]
    unasked: tuple[str, ...]
    """Paths of declared quota without a metric of Compute Engine."""


@functools.cache
def _names() -> Any:
    return read_data("tpuplane.preflight", "compute")


def check_online(spec: PlatformSpec, compute: ComputeEngine) -> Findings:
    """Compare a checked description with Google's reservations and quota.

    Raises:
        Unreachable: if Google cannot be reached.

    """
    mistakes: list[Mistake] = []
    for name, declared in spec.reservations.items():
        found = compute.reservation(declared.project or spec.project, declared.zone, name)
        mistakes += _compare(("reservations", name), declared, found, spec.project)
    quotas, unasked = _check_quotas(spec, compute)
    return Findings((*mistakes, *quotas), tuple(unasked))


def _compare(at: Path, declared: ReservationSpec, found: Json | None, project: str) -> Iterator[Mistake]:
    """Every difference between a reservation and its description."""
    owner = declared.project or project
    if found is None:
        yield Mistake(at, f"not found in project {owner}, zone {declared.zone}; correct name, project or zone")
        return
    status = found.get("status", "")
    if declared.active and status != "READY":
        yield Mistake((*at, "active"), f"true, but Compute Engine reports {status}; set it to false until it is READY")
    share: Json = found.get("shareSettings", {})
    shared = share.get("shareType") == "ORGANIZATION" or project in share.get("projectMap", {})
    if owner != project and not shared:
        yield Mistake(
            (*at, "project"), f"{shown(owner)} does not share it with {project}; ask the owner to add the project"
        )
    held, wanted = _held(found), _declared(declared)
    if held is None:
        kind = "TPUs" if wanted.counted == "chips" else "GPUs"
        yield Mistake((*at, wanted.field), f"{shown(wanted.hardware)}, but Compute Engine has no {kind} in it")
        return
    if held.hardware != wanted.hardware:
        yield Mistake((*at, wanted.field), f"{shown(wanted.hardware)}, but Compute Engine has {held.hardware}")
    elif declared.machine_type is not None and held.machine_type not in (None, declared.machine_type):
        yield Mistake(
            (*at, "machineType"), f"{shown(declared.machine_type)}, but Compute Engine has {held.machine_type}"
        )
    if held.amount < wanted.amount:
        message = f"{wanted.amount}, but Compute Engine has {held.amount}; allowed: at most {held.amount}"
        yield Mistake((*at, wanted.counted), message)


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
    families = {entry["vm_family"]: name for name, entry in _names()["generations"].items()}
    if whole.get("vmFamily") not in families:
        return None
    held = (item.get("accelerator", {}).get("acceleratorCount", 0) for item in whole.get("reservedResources", []))
    return _Holding(families[whole["vmFamily"]], sum(map(int, held)), None)


def _machines(name: str, count: int) -> _Holding | None:
    try:
        generation, tpu = catalogue().machine(name)
    except SliceError:
        gpu = next((it for it in gpu_catalogue().machines if it.name == name), None)
        return _Holding(gpu.accelerator.name, count * gpu.gpus, gpu.name) if gpu else None
    return _Holding(generation.name, count * tpu.chips, tpu.name)


def _check_quotas(spec: PlatformSpec, compute: ComputeEngine) -> tuple[list[Mistake], list[str]]:
    """Declared quota above Google's limit, and paths without a metric."""
    mistakes: list[Mistake] = []
    unasked: list[str] = []
    for location, hardware in spec.quotas.items():
        limits = None
        for name, quota in hardware.items():
            for field, declared in (("onDemand", quota.on_demand), ("preemptible", quota.preemptible)):
                path: Path = ("quotas", location, name, field)
                if declared is None:
                    continue
                metric, unit = _metric(name, field)
                if metric is None:
                    unasked.append(dotted(path))
                    continue
                limits = limits or compute.quotas(spec.project, region_of(location))
                granted = int(limits.get(metric, 0))
                if declared > granted:
                    message = f"{declared} {unit}, but Google grants {granted} in {region_of(location)} ({metric})"
                    mistakes.append(Mistake(path, f"{message}; request more on the quota page"))
    return mistakes, unasked


def _metric(name: str, field: str) -> tuple[str | None, str]:
    """Compute Engine's metric for a quota, None if it has none for regions; and its unit."""
    if name.startswith("nvidia-"):
        return _names()["accelerators"].get(name, {}).get(field), "GPUs"
    metric = _names()["generations"][catalogue().generation(name).name].get("quota")
    prefix = _names()["preemptible_prefix"] if field == "preemptible" else ""
    return (f"{prefix}{metric}" if metric else None), "chips"
