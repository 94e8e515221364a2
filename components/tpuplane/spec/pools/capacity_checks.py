"""What must hold of the way a pool's hosts are bought. Every function checks rules of `data/rules.yaml`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tpuplane.spec.cluster.cluster import ClusterPlaceSpec
from tpuplane.spec.core.errors import Mistake, Path, shown
from tpuplane.spec.core.locations import pool_zone
from tpuplane.spec.core.rules import broken
from tpuplane.spec.pools.capacity import FlexStartSpec
from tpuplane.spec.pools.gpu import GpuPoolSpec
from tpuplane.spec.pools.hosts import HostsSpec
from tpuplane.spec.pools.tpu import PoolSpec
from tpuplane.tpu import Generation, GkeVersion, SliceError, catalogue

_FLEX_SECONDS = range(600, 604801)

# What dynamic slicing joins: the smallest part of a pod.
_CUBE = "4x4x4"


def check_capacity(at: Path, cluster: ClusterPlaceSpec, pool: PoolSpec, generation: Generation) -> Iterator[Mistake]:
    """Exactly one way to buy, and what that way allows."""
    yield from check_way(at, pool, slice_scale(pool))
    if pool.capacity == "flex-start":
        yield from _check_flex_offer(at, cluster, pool, generation)
        yield from _check_queued(at, pool.flex_start or FlexStartSpec(), generation)
    yield from _check_multislice(at, cluster, pool, generation)
    yield from _check_topology_mode(at, cluster, pool, generation)


@dataclass(frozen=True, slots=True)
class Scale:
    """How large a pool is, and the words of its kind."""

    unit: str
    """`slices` or `nodes`: the field of the fixed number."""
    fixed: int | None
    bounds: tuple[int, int] | None
    """Least and most; None where the pool is not autoscaled."""

    @property
    def minimum_field(self) -> str:
        """The field of the least under `autoscaling`."""
        return f"min{self.unit.capitalize()}"

    @property
    def maximum_field(self) -> str:
        """The field of the most under `autoscaling`."""
        return f"max{self.unit.capitalize()}"

    @property
    def largest(self) -> Path:
        """The field that the size at full scale comes from."""
        return ("autoscaling", self.maximum_field) if self.bounds else (self.unit,)


def slice_scale(pool: PoolSpec) -> Scale:
    """The scale of a pool of slices."""
    scaling = pool.autoscaling
    return Scale("slices", pool.slices, (scaling.min_slices, scaling.max_slices) if scaling else None)


def gpu_scale(pool: GpuPoolSpec) -> Scale:
    """The scale of a pool of GPU nodes."""
    scaling = pool.autoscaling
    return Scale("nodes", pool.nodes, (scaling.min_nodes, scaling.max_nodes) if scaling else None)


def check_scale(at: Path, scale: Scale) -> Iterator[Mistake]:
    """A number or bounds, and bounds the right way round."""
    if scale.bounds is None:
        return
    if scale.fixed is not None:
        yield Mistake((*at, scale.unit), f"{scale.fixed} stands beside autoscaling; keep one of the two")
    least, most = scale.bounds
    if least > most:
        message = f"{least} is more than {scale.maximum_field}; allowed: at most {most}"
        yield Mistake((*at, "autoscaling", scale.minimum_field), message)


def check_way(at: Path, pool: HostsSpec, scale: Scale) -> Iterator[Mistake]:
    """What holds of every pool's way of buying, whatever its hosts are."""
    yield from _check_blocks(at, pool)
    if pool.capacity == "flex-start":
        yield from _check_flex_scale(at, pool, scale)
        flex = pool.flex_start or FlexStartSpec()
        if flex.max_run_seconds not in _FLEX_SECONDS:
            yield broken("flex-duration", (*at, "flexStart", "maxRunDuration"), value=shown(flex.max_run_duration))


def _check_blocks(at: Path, pool: HostsSpec) -> Iterator[Mistake]:
    """The block of one way of buying stands with that way alone."""
    reservation, flex = (*at, "reservation"), (*at, "flexStart")
    if pool.reservation is not None and pool.capacity == "on-demand":
        yield broken("one-capacity", reservation, capacity=pool.capacity, wanted="reservation")
    elif pool.reservation is not None and pool.capacity != "reservation":
        yield broken("spot-no-reservation", reservation, capacity=pool.capacity)
    if pool.reservation is None and pool.capacity == "reservation":
        yield broken("reservation-specific", reservation)
    if pool.reservation is not None and pool.reservation.sub_block and not pool.reservation.block:
        yield broken("reservation-path", (*reservation, "subBlock"), value=shown(pool.reservation.sub_block))
    if pool.flex_start is not None and pool.capacity != "flex-start":
        yield broken("one-capacity", flex, capacity=pool.capacity, wanted="flex-start")


def _check_flex_scale(at: Path, pool: HostsSpec, scale: Scale) -> Iterator[Mistake]:
    """Flex-start hosts come when pods ask for them, and none is kept up or repaired."""
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
    """The generation, its zone and GKE's version have flex-start."""
    if not generation.flex_start:
        offered = [it.name for it in catalogue().generations if it.flex_start]
        yield broken("flex-generations", (*at, "capacity"), generation=generation.name, allowed=", ".join(offered))
        return
    zone, zones = pool_zone(cluster.location, pool), catalogue().zones(generation.name, flex_start=True)
    # A zone that does not have the generation at all is reported where it stands.
    if zone is not None and zone not in zones and catalogue().zone_offers(zone, generation.name):
        path = (*at, "zone" if pool.zone else "capacity")
        yield broken("flex-zones", path, value=shown(zone), generation=generation.name, allowed=", ".join(zones))
    needed = catalogue().min_version("flex-start-tpu")
    if _older(cluster, needed):
        yield broken("flex-versions", (*at, "capacity"), needed=needed, value=shown(cluster.version))


def _check_queued(at: Path, flex: FlexStartSpec, generation: Generation) -> Iterator[Mistake]:
    """Whether hosts can be queued for."""
    if flex.queued and generation.flex_start and not generation.queued_provisioning:
        known = [it.name for it in catalogue().generations if it.queued_provisioning]
        path = (*at, "flexStart", "queued")
        yield broken("queued-generations", path, generation=generation.name, allowed=", ".join(known))


def _check_multislice(at: Path, cluster: ClusterPlaceSpec, pool: PoolSpec, generation: Generation) -> Iterator[Mistake]:
    """Several multi-host slices of a pool are one multislice."""
    try:
        multi_host = pool.slice.multi_host
    except SliceError:
        return  # reported where it stands
    if not multi_host or pool.max_slices < 2:
        return
    path = (*at, "autoscaling", "maxSlices") if pool.autoscaling else (*at, "slices")
    if not generation.multislice:
        yield broken("multislice", path, value=pool.max_slices, generation=generation.name)
    needed = catalogue().min_version("multislice")
    if _older(cluster, needed):
        yield broken("multislice-versions", path, value=pool.max_slices, needed=needed, version=shown(cluster.version))


def _older(cluster: ClusterPlaceSpec, needed: GkeVersion) -> bool:
    """Whether the cluster asks for a version below this one; what is not asked for is the channel's."""
    return cluster.version is not None and GkeVersion.parse(cluster.version) < needed


def _check_topology_mode(
    at: Path, cluster: ClusterPlaceSpec, pool: PoolSpec, generation: Generation
) -> Iterator[Mistake]:
    mode, at = pool.accelerator_topology_mode, (*at, "acceleratorTopologyMode")
    if mode is None:
        return
    if generation.placement != "workload-policy":
        yield broken("topology-mode", at, value=shown(mode), generation=generation.name)
    elif mode == "PROVISION_ONLY":
        wrong = {
            "capacity: reservation": pool.capacity != "reservation",
            f"topology: {_CUBE}": pool.topology != _CUBE,
        }
        for wanted, missing in wrong.items():
            if missing:
                yield broken("provision-only", at, value=shown(mode), wanted=wanted)
        needed = catalogue().min_version("super-slicing")
        if cluster.version is not None and GkeVersion.parse(cluster.version) < needed:
            yield broken("option-versions", at, value=shown(cluster.version), needed=needed)
