"""Reservations: is each known, does it hold what its pools are, and is it large enough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tpuplane.gpu import GpuError, gpu_catalogue
from tpuplane.spec.capacity import ReservationSpec, ReservationUseSpec
from tpuplane.spec.errors import Mistake, Path, choice, dotted, shown
from tpuplane.spec.locations import gpu_zones, pool_zone
from tpuplane.spec.platform import PlatformSpec
from tpuplane.spec.rules import broken
from tpuplane.tpu import SliceError, catalogue

# What a pool is counted in, how it is fixed and how autoscaled, in the words of its kind.
_WORDS: dict[str, dict[str, Any]] = {
    "chips": {"unit": "chips", "fixed": "slices", "least": "minSlices"},
    "gpus": {"unit": "GPUs", "fixed": "nodes", "least": "minNodes"},
}


@dataclass(frozen=True, slots=True)
class _Draw:
    """A pool that draws on a reservation, and what its hosts are."""

    at: Path
    use: ReservationUseSpec
    counted: str  # "chips" or "gpus"
    hardware: str
    zone: str | None
    machine_type: str
    maintenance: str | None
    always: int  # chips or GPUs that are always up


def check_reservations(spec: PlatformSpec) -> Iterator[Mistake]:
    """Every mistake of the platform's reservations, and of the pools that draw on them."""
    for name, declared in spec.reservations.items():
        yield from _check_reservation(("reservations", name), declared)
    drawn: dict[tuple[str, str], dict[str, int]] = {}
    for draw in _draws(spec):
        path: Path = (*draw.at, "reservation", "name")
        name = draw.use.name
        reservation = spec.reservations.get(name)
        if reservation is None:
            allowed = ", ".join(spec.reservations) or "none is described"
            yield broken("reservation-declared", path, value=shown(name), allowed=allowed)
            continue
        yield from _check_fit(path, reservation, draw)
        if not reservation.active and draw.always:
            yield broken("reservation-active", path, value=shown(name), **_WORDS[draw.counted])
        drawn.setdefault((name, draw.counted), {})[dotted(draw.at)] = draw.always
    for (name, counted), pools in drawn.items():
        held: int | None = getattr(spec.reservations[name], counted)
        needed = sum(pools.values())
        if held is not None and needed > held:
            users = ", ".join(f"{path} {own}" for path, own in pools.items() if own)
            at = ("reservations", name, counted)
            yield broken("reservation-size", at, value=held, needed=needed, pools=users, **_WORDS[counted])


def _draws(spec: PlatformSpec) -> Iterator[_Draw]:
    """Every pool that comes from a reservation; those whose shape is wrong are reported where it stands."""
    for key, cluster in spec.clusters.items():
        for pool_key, pool in cluster.pools.items():
            if pool.reservation is None or pool.capacity != "reservation":
                continue
            try:
                shape = pool.slice
            except SliceError:
                continue
            yield _Draw(
                at=("clusters", key, "pools", pool_key),
                use=pool.reservation,
                counted="chips",
                hardware=shape.generation.name,
                zone=pool_zone(cluster, pool),
                machine_type=shape.machine.name,
                maintenance=pool.host_maintenance,
                always=pool.min_slices * shape.chips,
            )
        for pool_key, gpu_pool in cluster.gpu_pools.items():
            if gpu_pool.reservation is None or gpu_pool.capacity != "reservation":
                continue
            try:
                machine, zones = gpu_pool.machine, gpu_zones(cluster, gpu_pool)
            except GpuError:
                continue
            yield _Draw(
                at=("clusters", key, "gpuPools", pool_key),
                use=gpu_pool.reservation,
                counted="gpus",
                hardware=machine.accelerator.name,
                zone=", ".join(zones) or None,
                machine_type=machine.name,
                maintenance=gpu_pool.host_maintenance,
                always=gpu_pool.min_nodes * len(zones) * machine.gpus,
            )


def _check_reservation(at: Path, reservation: ReservationSpec) -> Iterator[Mistake]:
    tpus = None not in (reservation.generation, reservation.chips)
    gpus = None not in (reservation.accelerator, reservation.gpus)
    given = [it for it in ("generation", "chips", "accelerator", "gpus") if getattr(reservation, it) is not None]
    if tpus == gpus or len(given) != 2:
        yield broken("reservation-holds", at, value=", ".join(given) or "neither")
    elif tpus:
        yield from _check_tpus(at, reservation, str(reservation.generation))
    else:
        yield from _check_gpus(at, reservation, str(reservation.accelerator))


def _check_tpus(at: Path, reservation: ReservationSpec, name: str) -> Iterator[Mistake]:
    try:
        generation = catalogue().generation(name)
    except SliceError as error:
        yield Mistake((*at, "generation"), str(error))
        return
    try:
        catalogue().check_zone(reservation.zone, generation.name)
    except SliceError as error:
        yield Mistake((*at, "zone"), str(error))
    machines = [machine.name for machine in generation.machines]
    if reservation.machine_type is not None and reservation.machine_type not in machines:
        message = choice(reservation.machine_type, f"a machine type of {generation.name}", machines)
        yield Mistake((*at, "machineType"), message)


def _check_gpus(at: Path, reservation: ReservationSpec, name: str) -> Iterator[Mistake]:
    try:
        accelerator = gpu_catalogue().accelerator(name)
    except GpuError as error:
        yield Mistake((*at, "accelerator"), str(error))
        return
    machines = [it for it in gpu_catalogue().machines if it.accelerator == accelerator]
    names = [it.name for it in machines]
    if reservation.machine_type is not None and reservation.machine_type not in names:
        message = choice(reservation.machine_type, f"a machine type with {accelerator.name}", names)
        yield Mistake((*at, "machineType"), message)
    zones = dict.fromkeys(zone for machine in machines for zone in machine.zones)
    if reservation.zone not in zones:
        yield Mistake((*at, "zone"), choice(reservation.zone, f"known to offer {accelerator.name}", zones))


def _check_fit(path: Path, reservation: ReservationSpec, draw: _Draw) -> Iterator[Mistake]:
    """The reservation holds what the pool is: Compute Engine gives nothing where one of them differs."""
    hardware = reservation.generation or reservation.accelerator
    compared = (
        ("generation" if reservation.generation else "accelerator", hardware, draw.hardware),
        ("zone", reservation.zone, draw.zone),
        ("machine type", reservation.machine_type, draw.machine_type),
        ("host maintenance", reservation.maintenance_interval, draw.maintenance),
    )
    for what, held, wanted in compared:
        if held is not None and wanted is not None and held != wanted:
            yield broken("reservation-fits", path, value=shown(draw.use.name), holds=f"{what} {held}", wants=wanted)
            return  # another generation is in another zone and of another machine
