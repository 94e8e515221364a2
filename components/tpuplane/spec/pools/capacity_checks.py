"""The checks of a pool's capacity and scale. Every function checks rules of `data/rules.yaml`."""

from collections.abc import Iterator
from typing import Literal

from tpuplane.spec.cluster.cluster import ClusterPlaceSpec
from tpuplane.spec.cluster.option_checks import check_feature
from tpuplane.spec.core.errors import Mistake, Path, choice, shown
from tpuplane.spec.core.locations import allowed_zones
from tpuplane.spec.core.rules import broken
from tpuplane.spec.pools.hosts import FLEX_SECONDS, FlexStartSpec, HostsSpec, ReservationUseSpec
from tpuplane.spec.pools.sizes import Scale
from tpuplane.spec.pools.tpu import PoolSpec
from tpuplane.tpu import Generation, Slice, SliceError, catalogue

# The part of a pod that dynamic slicing joins with others, the smallest one.
_CUBE = "4x4x4"


def check_tpu_capacity(
    at: Path, cluster: ClusterPlaceSpec, pool: PoolSpec, generation: Generation
) -> Iterator[Mistake]:
    """The pool's capacity, and several slices, match the generation, its zone and GKE's version."""
    if pool.capacity == "flex-start":
        yield from _check_flex_offer(at, cluster, pool, generation)
    try:
        shape = pool.slice
    except SliceError:
        return  # `check_tpu_pool` reports it
    yield from _check_multislice(at, cluster, pool, shape)
    yield from _check_topology_mode(at, cluster, pool, shape)
    yield from _check_sub_slices((*at, "subSlices"), pool, shape)


def _check_scale(at: Path, scale: Scale) -> Iterator[Mistake]:
    """A fixed number or limits, and no minimum above the maximum."""
    if scale.bounds is None:
        return
    if scale.fixed is not None:
        yield Mistake((*at, scale.unit), f"{scale.fixed} cannot be combined with autoscaling; keep one of the two")
    least, most = scale.bounds
    if least > most:
        message = f"{least} is more than {scale.maximum_field}; allowed: at most {most}"
        yield Mistake((*at, "autoscaling", scale.minimum_field), message)


def check_capacity(at: Path, pool: HostsSpec) -> Iterator[Mistake]:
    """The number of hosts and their capacity, for TPU and GPU pools alike."""
    yield from _check_scale(at, pool.scale)
    yield from _check_blocks(at, pool)
    if pool.capacity == "flex-start":
        yield from _check_flex_scale(at, pool, pool.scale)
        flex = pool.flex_start or FlexStartSpec()
        if flex.max_run_seconds not in FLEX_SECONDS:
            yield broken("flex-duration", (*at, "flexStart", "maxRunDuration"), value=shown(flex.max_run_duration))


def _check_blocks(at: Path, pool: HostsSpec) -> Iterator[Mistake]:
    """The fields of a capacity are set only with that capacity."""
    reservation, flex = (*at, "reservation"), (*at, "flexStart")
    if pool.reservation is not None and pool.capacity == "on-demand":
        yield broken("one-capacity", reservation, capacity=pool.capacity, wanted="reservation")
    elif pool.reservation is not None and pool.capacity != "reservation":
        yield broken("spot-no-reservation", reservation, capacity=pool.capacity)
    if pool.reservation is None and pool.capacity == "reservation":
        yield broken("reservation-specific", reservation)
    yield from check_use(reservation, pool.reservation)
    if pool.flex_start is not None and pool.capacity != "flex-start":
        yield broken("one-capacity", flex, capacity=pool.capacity, wanted="flex-start")


def check_use(at: Path, use: ReservationUseSpec | None) -> Iterator[Mistake]:
    """A pool can use this part of a reservation."""
    if use is not None and use.sub_block and not use.block:
        yield broken("reservation-path", (*at, "subBlock"), value=shown(use.sub_block))


def _check_flex_scale(at: Path, pool: HostsSpec, scale: Scale) -> Iterator[Mistake]:
    """GKE adds flex-start hosts for pods, does not keep a minimum, and does not repair them."""
    if scale.fixed is not None:
        yield broken("flex-no-static", (*at, scale.unit), value=scale.fixed, most=scale.maximum_field)
    elif scale.bounds is None:
        yield broken("flex-autoscaling", (*at, "autoscaling"), most=scale.maximum_field)
    if scale.bounds and scale.bounds[0]:
        path = (*at, "autoscaling", scale.minimum_field)
        yield broken("autoscale-min-zero-flex", path, value=scale.bounds[0], unit=scale.unit)
    if pool.auto_repair and "auto_repair" in pool.model_fields_set:
        yield broken("flex-auto-repair", (*at, "autoRepair"))


def _check_flex_offer(at: Path, cluster: ClusterPlaceSpec, pool: PoolSpec, generation: Generation) -> Iterator[Mistake]:
    """The generation, its zone and GKE's version support flex-start, and queued provisioning if the pool has it."""
    if not generation.flex_start:
        offered = [generation.name for generation in catalogue().generations if generation.flex_start]
        yield broken("flex-generations", (*at, "capacity"), generation=generation.name, allowed=", ".join(offered))
        return
    zones = catalogue().zones(generation.name, flex_start=True)
    for zone in pool.zones_in(cluster.location):
        # `_check_zone` reports a zone that does not have the generation at all.
        if zone not in zones and catalogue().zone_offers(zone, generation.name):
            path = (*at, "capacity" if pool.zone is None else "zone")
            allowed = allowed_zones(zones, cluster.location)
            yield broken("flex-zones", path, value=shown(zone), generation=generation.name, allowed=allowed)
    yield from check_flex_version(at, cluster, "TPU")
    if pool.queued and not generation.queued_provisioning:
        known = [generation.name for generation in catalogue().generations if generation.queued_provisioning]
        path = (*at, "flexStart", "queued")
        yield broken("queued-generations", path, generation=generation.name, allowed=", ".join(known))


def check_flex_version(at: Path, cluster: ClusterPlaceSpec, kind: Literal["TPU", "GPU"]) -> Iterator[Mistake]:
    """GKE's version supports flex-start."""
    needed = catalogue().min_version(f"flex-start-{kind.lower()}")
    if cluster.is_older(needed):
        yield broken("flex-versions", (*at, "capacity"), kind=kind, needed=needed, value=shown(cluster.version))


def _check_multislice(at: Path, cluster: ClusterPlaceSpec, pool: PoolSpec, shape: Slice) -> Iterator[Mistake]:
    path, slices = (*at, *pool.scale.largest), pool.scale.maximum
    if not shape.multi_host or slices < 2:
        return
    if not shape.generation.multislice:
        yield broken("multislice", path, value=slices, generation=shape.generation.name)
    needed = catalogue().min_version("multislice")
    if cluster.is_older(needed):
        yield broken("multislice-versions", path, value=slices, needed=needed, version=shown(cluster.version))


def _check_topology_mode(at: Path, cluster: ClusterPlaceSpec, pool: PoolSpec, shape: Slice) -> Iterator[Mistake]:
    mode, at, generation = pool.accelerator_topology_mode, (*at, "acceleratorTopologyMode"), shape.generation
    if mode is None:
        return
    if shape.placement != "workload-policy":
        hosts = "" if shape.multi_host or generation.placement != "workload-policy" else "single-host "
        yield broken("topology-mode", at, value=shown(mode), generation=f"{hosts}{generation.name}")
    elif mode == "PROVISION_ONLY":
        use = pool.reservation
        wrong = {  # `check_capacity` reports a reservation without this capacity, and a sub-block without its block
            "capacity: reservation": pool.capacity != "reservation" and use is None,
            f"topology: {_CUBE}": pool.topology != _CUBE,
            "reservation.block": use is not None and use.block is None and use.sub_block is None,
        }
        for wanted, missing in wrong.items():
            if missing:
                yield broken("provision-only", at, value=shown(mode), wanted=wanted)
        if pool.autoscaling is not None:
            yield broken("provision-only-autoscaling", (*at[:-1], "autoscaling"))
        yield from check_feature(at, cluster, "dynamic-slicing")


def _check_sub_slices(at: Path, pool: PoolSpec, shape: Slice) -> Iterator[Mistake]:
    """The shapes are parts of the pool's slices, and the slices exist before jobs do."""
    if not pool.sub_slices:
        return
    if not shape.sub_slices:
        able = [generation.name for generation in catalogue().generations if generation.sub_slices]
        hosts = "have one host" if not shape.multi_host else "cannot be divided"
        yield broken("sub-slice-pools", at, shape=f"{shape}", why=hosts, generations=" or ".join(able))
        return
    for index, topology in enumerate(pool.sub_slices):
        if topology not in shape.sub_slices:
            yield Mistake((*at, index), choice(topology, f"a part of {shape} slices", shape.sub_slices))
    if pool.autoscaling is not None:
        yield broken("sub-slice-autoscaling", at)
