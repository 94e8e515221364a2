"""The checks of reservations: each is declared, matches its pools, and is large enough."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tpuplane.gpu import GpuError, gpu_catalogue
from tpuplane.spec.core.errors import Mistake, Path, choice, dotted, shown
from tpuplane.spec.core.rules import broken
from tpuplane.spec.pools.hosts import HostsSpec, ReservationSpec, ReservationUseSpec
from tpuplane.spec.pools.sizes import PoolSize
from tpuplane.tpu import SliceError, catalogue

# Unit, piece and fields of the size of a pool, by the hardware of its reservation.
_WORDS: dict[str, dict[str, Any]] = {
    "chips": {"unit": "chips", "piece": "slice", "fixed": "slices", "least": "minSlices"},
    "gpus": {"unit": "GPUs", "piece": "node", "fixed": "nodes", "least": "minNodes"},
}

# Each field of what is reserved, with the one that it needs.
_PARTNERS = {"generation": "chips", "chips": "generation", "accelerator": "gpus", "gpus": "accelerator"}


def check_reservations(
    reservations: Mapping[str, ReservationSpec], pools: Iterable[tuple[Path, str, HostsSpec]]
) -> Iterator[Mistake]:
    """Every mistake of reservations, and of the pools that draw on them: each with its path and its cluster's place."""
    pools = list(pools)
    # Google has accepted the reservations of existing node pools, so their zones are not compared with the catalogues.
    accepted = {
        pool.reservation.name
        for at, location, pool in pools
        if pool.reservation and pool.known_size(location) and pool.exists(str(at[-1]) if at else "")
    }
    for name, declared in reservations.items():
        where: Path = ("reservations", name)
        mistakes = _check_reservation(where, declared)
        yield from (mistake for mistake in mistakes if name not in accepted or mistake.path != (*where, "zone"))
    yield from _check_sub_blocks(pools)
    drawn: dict[tuple[str, str], dict[str, int]] = {}
    for at, location, pool in pools:
        use, size = pool.reservation, pool.known_size(location)
        if use is None or pool.capacity != "reservation" or size is None:
            continue
        path: Path = (*at, "reservation", "name")
        if (reservation := reservations.get(use.name)) is None:
            allowed = ", ".join(reservations) or "none is declared"
            yield broken("reservation-declared", path, value=shown(use.name), allowed=allowed)
            continue
        yield from _check_fit(path, use, reservation, pool, size)
        if not reservation.active and size.always:
            yield broken("reservation-active", path, value=shown(use.name), **_WORDS[size.counted])
        available: int | None = getattr(reservation, size.counted)
        if available is not None and size.piece > available:
            where, words = ("reservations", use.name, size.counted), _WORDS[size.counted]
            owner = dotted(at) or "the pool"
            yield broken("reservation-slice", where, value=available, pool=owner, needed=size.piece, **words)
            continue
        drawn.setdefault((use.name, size.counted), {})[dotted(at) or "this"] = size.always
    for (name, counted), users in drawn.items():
        held: int | None = getattr(reservations[name], counted)
        needed = sum(users.values())
        if held is not None and needed > held:
            named = ", ".join(f"{path} {own}" for path, own in users.items() if own)
            at = ("reservations", name, counted)
            yield broken("reservation-size", at, value=held, needed=needed, pools=named, **_WORDS[counted])


def _check_sub_blocks(pools: Iterable[tuple[Path, str, HostsSpec]]) -> Iterator[Mistake]:
    """The pools of a sub-block fit into it together, if it is a cube."""
    drawn: dict[tuple[str, str, str], dict[str, int]] = {}
    for at, location, pool in pools:
        use, size = pool.reservation, pool.known_size(location)
        generation = catalogue().known(size.hardware) if size is not None else None
        if use is None or not use.block or not use.sub_block or size is None or generation is None:
            continue
        if not generation.partitions or generation.rule is None:
            continue
        users = drawn.setdefault((use.name, use.block, use.sub_block), {})
        users[dotted(at) or "this"] = size.always
        held, needed = generation.rule.cube**3, sum(users.values())
        if needed > held:
            named = ", ".join(f"{path} {own}" for path, own in users.items())
            path = (*at, "reservation", "subBlock")
            yield broken("cube-sub-block", path, value=shown(use.sub_block), held=held, needed=needed, pools=named)


def _check_reservation(at: Path, reservation: ReservationSpec) -> Iterator[Mistake]:
    tpus = None not in (reservation.generation, reservation.chips)
    gpus = None not in (reservation.accelerator, reservation.gpus)
    given = [field for field in _PARTNERS if getattr(reservation, field) is not None]
    if len(given) == 1:
        yield broken("reservation-partner", (*at, _PARTNERS[given[0]]), value=given[0])
    elif tpus == gpus or len(given) != 2:
        yield broken("reservation-holds", at, value=", ".join(given) or "none of these fields")
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
    machines = {machine.name: machine.chips for machine in generation.machines}
    yield from _check_hosts(at, "chips", reservation, machines, f"a machine type of {generation.name}")


def _check_gpus(at: Path, reservation: ReservationSpec, name: str) -> Iterator[Mistake]:
    try:
        accelerator = gpu_catalogue().accelerator(name)
    except GpuError as error:
        yield Mistake((*at, "accelerator"), str(error))
        return
    sold = (machine for machine in gpu_catalogue().machines if "reservation" in machine.capacities)
    machines = [machine for machine in sold if machine.accelerator == accelerator]
    sizes = {machine.name: machine.gpus for machine in machines}
    what = f"a machine type with {accelerator.name} that Google reserves"
    yield from _check_hosts(at, "gpus", reservation, sizes, what)
    zones = dict.fromkeys(zone for machine in machines for zone in machine.zones)
    if reservation.zone not in zones:
        yield Mistake((*at, "zone"), choice(reservation.zone, f"known to offer {accelerator.name}", zones))


def _check_hosts(
    at: Path, counted: str, reservation: ReservationSpec, sizes: dict[str, int], what: str
) -> Iterator[Mistake]:
    """The machine type exists, and there are whole hosts; `sizes`: chips or GPUs of the possible machine types."""
    if (machine := reservation.machine_type) is not None and machine not in sizes:
        yield Mistake((*at, "machineType"), choice(machine, what, sizes))
        return
    # Every size is a multiple of the smallest.
    held, whole = getattr(reservation, counted), sizes[machine] if machine else min(sizes.values())
    if held % whole:
        below = held - held % whole
        near = ", ".join(str(chips) for chips in (below, below + whole) if chips)
        unit = _WORDS[counted]["unit"]
        yield broken("reservation-hosts", (*at, counted), value=held, unit=unit, whole=whole, near=near)


def _check_fit(
    path: Path, use: ReservationUseSpec, reservation: ReservationSpec, pool: HostsSpec, size: PoolSize
) -> Iterator[Mistake]:
    """The reservation matches the pool in everything that Compute Engine compares."""
    known = catalogue().known(reservation.generation or "")
    hardware = known.name if known else reservation.generation or reservation.accelerator
    compared = (
        ("generation" if reservation.generation else "accelerator", hardware, size.hardware),
        ("zone", reservation.zone, ", ".join(size.zones) or None),
        ("machine type", reservation.machine_type, size.machine_type),
        ("host maintenance", reservation.maintenance_interval, pool.host_maintenance),
    )
    for what, held, wanted in compared:
        if held is not None and wanted is not None and held != wanted:
            yield broken("reservation-fits", path, value=shown(use.name), holds=f"{what} {held}", wants=wanted)
            return  # another generation is in another zone and of another machine
