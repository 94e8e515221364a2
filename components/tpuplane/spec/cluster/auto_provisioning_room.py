"""What node auto-provisioning may add to a cluster: the room that its limits leave after the declared pools."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tpuplane.spec.cluster.cluster import ClusterSpec
from tpuplane.spec.core.locations import is_zone, offering_zones
from tpuplane.tpu import Generation, MachineType, SliceError, catalogue


@dataclass(frozen=True, slots=True)
class TpuRoom:
    """One generation's limit: chips in all, chips of the declared pools at full scale."""

    key: str
    """The generation as the user wrote it."""
    generation: Generation
    maximum: int
    declared: int

    @property
    def chips(self) -> int:
        """Chips that auto-provisioned pools may have once the declared ones are at full scale."""
        return max(0, self.maximum - self.declared)

    @property
    def machine(self) -> MachineType:
        """The machine that slices of the generation are usually made of."""
        return min(self.generation.machines, key=lambda machine: (machine.single_host_only, machine.chips))

    @property
    def hosts(self) -> int:
        """Hosts of that machine with so many chips."""
        return -(-self.chips // self.machine.chips)


def tpu_rooms(cluster: ClusterSpec) -> Iterator[TpuRoom]:
    """The limits of a cluster that name a generation, in the order of the file."""
    if cluster.auto_provisioning is None:
        return
    for key, maximum in cluster.auto_provisioning.limits.tpu.items():
        try:
            generation = catalogue().generation(key)
        except SliceError:
            continue  # another check reports it
        yield TpuRoom(key, generation, maximum, declared_chips(cluster, generation))


def declared_chips(cluster: ClusterSpec, generation: Generation) -> int:
    """Chips of the cluster's declared pools of a generation, at full scale."""
    sizes = (pool.known_size(cluster.location) for pool in cluster.pools.values())
    return sum(it.max_nodes * it.per_node for it in sizes if it is not None and it.hardware == generation.name)


def provisioning_zones(cluster: ClusterSpec) -> tuple[str, ...]:
    """Where pools may be made: the user's zones, else those of the cluster's place that offer a limited generation."""
    spec = cluster.auto_provisioning
    if spec is None:
        return ()
    if spec.zones or is_zone(cluster.location):
        return spec.zones or (cluster.location,)
    offering = (zone for room in tpu_rooms(cluster) for zone in offering_zones(room.generation.name, cluster.location))
    return tuple(sorted(set(offering)))
