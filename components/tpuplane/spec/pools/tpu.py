"""A pool of TPU slices, as the user writes it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.core.fields import Spec
from tpuplane.spec.core.locations import is_zone, offering_zones
from tpuplane.spec.pools.hosts import ExtraNetworkSpec, HostsSpec
from tpuplane.spec.pools.sizes import PoolSize, Scale
from tpuplane.tpu import Slice

# A slice has one host or more, and a GKE cluster 15,000 nodes at most (`quota_checks` counts them exactly). A larger
# number is rejected here, before that many node pools are listed.
_MAX_SLICES = 15000
# Boot disk where the generation names none.
_DISK = "pd-balanced"


class PoolAutoscalingSpec(Spec):
    """How far a pool scales. A multi-host slice is added and removed as a whole: 0 hosts or all of them."""

    min_slices: Annotated[int, Field(ge=0)] = 0
    """Slices that are kept running without work. Default 0. Changed in place."""

    max_slices: Annotated[int, Field(ge=1, le=_MAX_SLICES)]
    """Slices at full scale. Multi-host: each is a node pool of its own, which is added or deleted."""


class SliceSpec(Spec):
    """The shape and the number of a pool's slices."""

    generation: str
    """TPU generation, such as v5e or v6e. A change replaces the pool."""

    topology: str
    """Chips of one slice along each axis, such as 4x4 or 2x2x2. A change replaces the pool."""

    machine_type: str | None = None
    """Machine type of the hosts; v6e 2x4, for one, is two hosts of four chips or one ct6e-standard-8t. Default: the
    generation's multi-host machine, else the one that has the topology. A change replaces the pool."""

    zone: str | None = None
    """Zone of the hosts. Required where several zones of the cluster's region offer the generation. Default: the
    cluster's zone, or the only one that does. A change replaces a multi-host pool."""

    slices: Annotated[int, Field(ge=0, le=_MAX_SLICES)] | None = None
    """Number of slices, fixed; 0 keeps the pool described and makes nothing. Default 1. Not together with
    `autoscaling`. A change adds or removes the last slices only."""

    autoscaling: PoolAutoscalingSpec | None = None
    """Scale with the work instead of a fixed number of slices. Not together with `slices`."""

    @property
    def slice(self) -> Slice:
        """The shape of one slice. Raises `SliceError` when generation, topology and machine type do not fit."""
        return Slice.of(self.generation, self.topology, self.machine_type)


class PoolSpec(HostsSpec, SliceSpec):
    """Slices of one shape. Multi-host: a GKE node pool for each slice; single-host: one pool, a node for each slice."""

    accelerator_topology_mode: Literal["AUTO_CONNECT", "PROVISION_ONLY"] | None = None
    """Whether the chips of a tpu7x slice are joined as its hosts come (AUTO_CONNECT) or later, by dynamic slicing
    (PROVISION_ONLY; cubes of a reservation only). Default: Compute Engine's own. A change replaces the pool."""

    extra_networks: Annotated[tuple[ExtraNetworkSpec, ...], Field(max_length=7)] = ()
    """Further network interfaces of each host, 7 at most; switches multi-networking of the cluster on. Default: none.
    A change replaces the pool."""

    @property
    def scale(self) -> Scale:
        """The number of slices that the user asks for."""
        scaling = self.autoscaling
        return Scale("slices", self.slices, (scaling.min_slices, scaling.max_slices) if scaling else None)

    def zones_in(self, location: str) -> tuple[str, ...]:
        """The zone of the hosts in a cluster at `location`; none where the user has to choose one."""
        if self.zone is not None or is_zone(location):
            return (self.zone or location,)
        offering = offering_zones(self.generation, location)
        return offering if len(offering) == 1 else ()

    def size_in(self, location: str) -> PoolSize:
        """The hosts in a cluster at `location`. Raises `SliceError`."""
        shape = self.slice
        return PoolSize(
            scale=self.scale,
            hardware=shape.generation.name,
            machine_type=shape.machine.name,
            boot_disk=next(iter(shape.generation.boot_disk_types), _DISK),
            counted="chips",
            per_node=shape.machine.chips,
            offered=shape.chips,
            zones=self.zones_in(location),
            nodes_per_piece=shape.hosts,
        )

    def node_pools(self, key: str) -> tuple[str, ...]:
        """One GKE node pool for each multi-host slice, one in all for single-host slices. Raises `SliceError`."""
        if not self.slice.multi_host:
            return (key,)
        return tuple(f"{key}-{index}" for index in range(self.scale.maximum))

    def workload_policy(self, cluster: str | None, key: str) -> str | None:
        """Name of the policy that places the slices; None where the generation needs none. Raises `SliceError`.

        It begins with the cluster's name in Google Cloud; None: that is known only while the engine runs. A policy
        cannot be changed, so topology and mode are part of its name: another one is another policy.
        """
        if self.slice.placement != "workload-policy":
            return None
        mode = self.accelerator_topology_mode
        return "-".join(filter(None, (cluster, key, self.slice.topology, mode and mode.lower().replace("_", "-"))))
