"""A pool of TPU slices in the description."""

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.core.adopted import kept
from tpuplane.spec.core.changes import Change, InPlace, ReplacesPool, T
from tpuplane.spec.core.fields import Spec
from tpuplane.spec.core.locations import is_zone, offering_zones
from tpuplane.spec.pools.hosts import ExtraNetworkSpec, HostsSpec
from tpuplane.spec.pools.names import NodePoolNames
from tpuplane.spec.pools.sizes import PoolSize, Scale
from tpuplane.tpu import Slice

# A slice has one host or more, and a GKE cluster 15,000 nodes at most (`quota_checks` counts them exactly). A larger
# number is rejected here, before that many node pools are listed.
_MAX_SLICES = 15000
# Boot disk where the generation names none.
_DISK = "pd-balanced"


_Slices = Annotated[T, Change(judge="slices", source="resize")]


class PoolAutoscalingSpec(Spec):
    """Minimum and maximum number of slices. GKE adds and removes a multi-host slice as a whole."""

    min_slices: InPlace[Annotated[int, Field(ge=0)]] = 0
    """Minimum number of slices. GKE keeps them when they are idle. Default 0."""

    max_slices: _Slices[Annotated[int, Field(ge=1, le=_MAX_SLICES)]]
    """Maximum number of slices."""


class SliceSpec(Spec):
    """The shape and the number of a pool's slices."""

    generation: ReplacesPool[str]
    """TPU generation, such as v5e or v6e."""

    topology: ReplacesPool[str]
    """Chips of one slice in each dimension, such as 4x4 or 2x2x2."""

    machine_type: ReplacesPool[str | None] = None
    """Machine type of the hosts. For example, v6e 2x4 is two hosts with four chips each, or one ct6e-standard-8t.
    Default: the generation's multi-host machine type, or the one that supports the topology."""

    zone: Annotated[str | None, Change(judge="zone", source="node_pool")] = None
    """Zone of the hosts. Required if several zones of the cluster's region offer the generation. Default: the cluster's
    zone, or the only zone that offers the generation."""

    slices: _Slices[Annotated[int, Field(ge=0, le=_MAX_SLICES)] | None] = None
    """Fixed number of slices. 0 keeps the pool in the file and creates nothing. Not together with `autoscaling`.
    Default 1."""

    autoscaling: _Slices[PoolAutoscalingSpec | None] = None
    """Scale the number of slices with the work. Not together with `slices`."""

    @property
    def slice(self) -> Slice:
        """The shape of one slice. Raises `SliceError` if generation, topology and machine type do not match."""
        return Slice.of(self.generation, self.topology, self.machine_type)


class PoolSpec(HostsSpec, SliceSpec):
    """Slices of one shape. Each multi-host slice is a GKE node pool. Single-host slices are the nodes of one node
    pool."""

    accelerator_topology_mode: ReplacesPool[Literal["AUTO_CONNECT", "PROVISION_ONLY"] | None] = None
    """Connection of the chips of a tpu7x slice: AUTO_CONNECT when its hosts start, or PROVISION_ONLY for dynamic
    slicing later (only for cubes of a block of a reservation). Default: that of Compute Engine."""

    sub_slices: InPlace[tuple[str, ...]] = ()
    """Topologies of parts of a v5e or v6e slice that jobs can have, such as 4x4 and 2x4 of 8x8. Kueue ignores
    hosts that lack GKE's label for one of these topologies. A change renames the flavor of the pool. Default: whole
    slices only."""

    extra_networks: ReplacesPool[Annotated[tuple[ExtraNetworkSpec, ...], Field(max_length=7)]] = ()
    """Additional network interfaces of each host, at most 7. They enable multi-networking in the cluster. Default:
    none."""

    @property
    def provision_only(self) -> bool:
        """Whether its slices are cubes for dynamic slicing."""
        return self.accelerator_topology_mode == "PROVISION_ONLY"

    @property
    def scale(self) -> Scale:
        """The requested number of slices."""
        scaling = self.autoscaling
        return Scale("slices", self.slices, (scaling.min_slices, scaling.max_slices) if scaling else None)

    def zones_in(self, location: str) -> tuple[str, ...]:
        """The zone of the hosts in a cluster at `location`; none if the user must choose one."""
        if self.zone is not None:
            return (self.zone,)
        if is_zone(location):
            return (location,)
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

    def names(self, key: str) -> NodePoolNames:
        """One GKE node pool for each multi-host slice, or one for all single-host slices. Raises `SliceError`."""
        if not self.slice.multi_host:
            return super().names(key)
        slices = self.scale.maximum
        given = self.adopted.names[:slices] if self.adopted else ()
        return NodePoolNames(self.formerly or key, given, range(len(given), slices))

    def workload_policy(self, cluster: str | None, key: str) -> str | None:
        """Name of the workload policy of the slices; None if the generation needs none. Raises `SliceError`.

        It begins with the cluster's name in Google Cloud; None: that is known only while the engine runs. A policy
        cannot be changed, so topology and mode are part of its name: another one is another policy.
        """
        if self.slice.placement != "workload-policy" or "placementPolicy" in kept(self.adopted):
            return None
        mode, key = self.accelerator_topology_mode, self.formerly or key
        return "-".join(filter(None, (cluster, key, self.slice.topology, mode and mode.lower().replace("_", "-"))))
