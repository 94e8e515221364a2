"""Reservations: is each known, does it hold what its pools are, and is it large enough."""

from __future__ import annotations

from collections.abc import Iterator

from tpuplane.spec.capacity import ReservationSpec
from tpuplane.spec.errors import Mistake, Path, choice, dotted, shown
from tpuplane.spec.locations import pool_zone
from tpuplane.spec.platform import PlatformSpec
from tpuplane.spec.rules import broken
from tpuplane.tpu import Slice, SliceError, catalogue


def check_reservations(spec: PlatformSpec) -> Iterator[Mistake]:
    """Every mistake of the platform's reservations, and of the pools that draw on them."""
    for name, declared in spec.reservations.items():
        yield from _check_reservation(("reservations", name), declared)
    drawn: dict[str, dict[str, int]] = {}
    for key, cluster in spec.clusters.items():
        for pool_key, pool in cluster.pools.items():
            use, at = pool.reservation, ("clusters", key, "pools", pool_key)
            if use is None or pool.capacity != "reservation":
                continue
            path: Path = (*at, "reservation", "name")
            reservation = spec.reservations.get(use.name)
            if reservation is None:
                allowed = ", ".join(spec.reservations) or "none is described"
                yield broken("reservation-declared", path, value=shown(use.name), allowed=allowed)
                continue
            try:
                shape = pool.slice
            except SliceError:
                continue  # reported where it stands
            yield from _check_fit(path, use.name, reservation, shape, pool_zone(cluster, pool), pool.host_maintenance)
            if not reservation.active and pool.min_slices:
                yield broken("reservation-active", path, value=shown(use.name))
            drawn.setdefault(use.name, {})[dotted(at)] = pool.min_slices * shape.chips
    for name, pools in drawn.items():
        chips, needed = spec.reservations[name].chips, sum(pools.values())
        if needed > chips:
            users = ", ".join(f"{path} {own}" for path, own in pools.items() if own)
            yield broken("reservation-size", ("reservations", name, "chips"), value=chips, needed=needed, pools=users)


def _check_reservation(at: Path, reservation: ReservationSpec) -> Iterator[Mistake]:
    try:
        generation = catalogue().generation(reservation.generation)
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


def _check_fit(
    path: Path, name: str, reservation: ReservationSpec, shape: Slice, zone: str | None, maintenance: str | None
) -> Iterator[Mistake]:
    """The reservation holds what the pool is: Compute Engine gives nothing where one of them differs."""
    compared = (
        ("generation", reservation.generation, shape.generation.name),
        ("zone", reservation.zone, zone),
        ("machine type", reservation.machine_type, shape.machine.name),
        ("host maintenance", reservation.maintenance_interval, maintenance),
    )
    for what, held, wanted in compared:
        if held is not None and wanted is not None and held != wanted:
            yield broken("reservation-fits", path, value=shown(name), holds=f"{what} {held}", wants=wanted)
            return  # another generation is in another zone and of another machine
