"""Whether Google has the reservations and the quota that a stack file declares."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any

import yaml

from tpuplane.preflight.google import Compute, Json
from tpuplane.spec import PlatformSpec, ReservationSpec
from tpuplane.spec.errors import Mistake, Path, dotted, shown
from tpuplane.spec.locations import region_of
from tpuplane.tpu import SliceError, catalogue


@dataclass(frozen=True, slots=True)
class Findings:
    """What differs, and what Compute Engine's API cannot answer."""

    mistakes: tuple[Mistake, ...]
    unasked: tuple[str, ...]
    """Paths of declared quota that no metric of Compute Engine stands for."""


@functools.cache
def _names() -> Any:
    text = resources.files("tpuplane.preflight").joinpath("data/compute.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


def check_online(spec: PlatformSpec, compute: Compute) -> Findings:
    """Compare a checked description with what Google has.

    Raises:
        Unreachable: if Google cannot be asked.

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
        yield Mistake(
            at,
            f"Google shows no such reservation in project {owner}, zone {declared.zone}; correct name, project or zone",
        )
        return
    status = found.get("status", "")
    if declared.active and status != "READY":
        yield Mistake((*at, "active"), f"true, but Compute Engine says {status}; set it to false until it is READY")
    share: Json = found.get("shareSettings", {})
    shared = share.get("shareType") == "ORGANIZATION" or project in share.get("projectMap", {})
    if owner != project and not shared:
        yield Mistake(
            (*at, "project"), f"{shown(owner)} does not share it with {project}; ask its owner to add the project"
        )
    held = _held(found)
    if held is None:
        yield Mistake((*at, "generation"), f"{shown(declared.generation)}, but Compute Engine has no TPUs in it")
        return
    generation, machine, chips = held
    if generation != catalogue().generation(declared.generation).name:
        yield Mistake((*at, "generation"), f"{shown(declared.generation)}, but Compute Engine has {generation}")
    elif declared.machine_type is not None and machine not in (None, declared.machine_type):
        yield Mistake((*at, "machineType"), f"{shown(declared.machine_type)}, but Compute Engine has {machine}")
    if chips < declared.chips:
        yield Mistake((*at, "chips"), f"{declared.chips}, but Compute Engine has {chips}; allowed: at most {chips}")


def _held(found: Json) -> tuple[str, str | None, int] | None:
    """Generation, machine type and chips of a reservation: of single VMs, or of a TPU family as a whole."""
    if specific := found.get("specificReservation"):
        try:
            generation, machine = catalogue().machine(specific["instanceProperties"]["machineType"])
        except SliceError:
            return None
        return generation.name, machine.name, int(specific["count"]) * machine.chips
    whole: Json = found.get("aggregateReservation", {})
    families = {entry["vm_family"]: name for name, entry in _names()["generations"].items()}
    if whole.get("vmFamily") not in families:
        return None
    held = (item.get("accelerator", {}).get("acceleratorCount", 0) for item in whole.get("reservedResources", []))
    return families[whole["vmFamily"]], None, sum(map(int, held))


def _check_quotas(spec: PlatformSpec, compute: Compute) -> tuple[list[Mistake], list[str]]:
    """Declared quota above what Google grants, and what it cannot be asked for."""
    mistakes: list[Mistake] = []
    unasked: list[str] = []
    for location, generations in spec.quotas.items():
        limits = None
        for name, quota in generations.items():
            metric = _names()["generations"][catalogue().generation(name).name].get("quota")
            for field, declared, prefix in (
                ("onDemand", quota.on_demand, ""),
                ("preemptible", quota.preemptible, _names()["preemptible_prefix"]),
            ):
                path: Path = ("quotas", location, name, field)
                if declared is None:
                    continue
                if metric is None:
                    unasked.append(dotted(path))
                    continue
                limits = limits or compute.quotas(spec.project, region_of(location))
                granted = int(limits.get(prefix + metric, 0))
                if declared > granted:
                    message = (
                        f"{declared} chips, but Google grants {granted} in {region_of(location)} ({prefix}{metric})"
                    )
                    mistakes.append(Mistake(path, f"{message}; ask for more on the quota page"))
    return mistakes, unasked
