"""The checks of node auto-provisioning, and the chips that it can add to the declared pools."""

from collections.abc import Iterator
from dataclasses import dataclass

from tpuplane.spec.cluster.cluster import ClusterSpec
from tpuplane.spec.cluster.options import AutoProvisioningLimitsSpec, AutoProvisioningSpec
from tpuplane.spec.core.errors import Mistake, Path, choice, shown
from tpuplane.spec.core.locations import is_inside, is_zone, known_zones, offering_zones, region_of
from tpuplane.spec.core.rules import broken
from tpuplane.tpu import Generation, GkeVersion, MachineType, SliceError, catalogue


@dataclass(frozen=True, slots=True)
class TpuRoom:
    """One generation's limit: all chips, and chips of the declared pools at full scale."""

    key: str
    """The generation as the user wrote it."""
    generation: Generation
    maximum: int
    declared: int

    @property
    def chips(self) -> int:
        """Chips for auto-provisioned pools when the declared pools are at full scale."""
        return max(0, self.maximum - self.declared)

    @property
    def machine(self) -> MachineType:
        """The default machine type of the generation."""
        return min(self.generation.machines, key=lambda machine: (machine.single_host_only, machine.chips))

    @property
    def hosts(self) -> int:
        """The number of such hosts with this number of chips."""
        return -(-self.chips // self.machine.chips)


def tpu_rooms(cluster: ClusterSpec) -> Iterator[TpuRoom]:
    """The limits of a cluster that name a generation, in the order of the file."""
    if cluster.auto_provisioning is None:
        return
    for key, maximum in cluster.auto_provisioning.limits.tpu.items():
        if (generation := catalogue().known(key)) is not None:
            sizes = (pool.known_size(cluster.location) for pool in cluster.pools.values())
            own = (size for size in sizes if size is not None and size.hardware == generation.name)
            yield TpuRoom(key, generation, maximum, sum(size.max_nodes * size.per_node for size in own))


def provisioning_zones(cluster: ClusterSpec) -> tuple[str, ...]:
    """Zones of new pools: the user's, else those of the cluster's location that offer a limited generation."""
    if (spec := cluster.auto_provisioning) is None:
        return ()
    if spec.zones or is_zone(cluster.location):
        return spec.zones or (cluster.location,)
    offering = (zone for room in tpu_rooms(cluster) for zone in offering_zones(room.generation.name, cluster.location))
    return tuple(sorted(set(offering)))


def check_auto_provisioning(at: Path, cluster: ClusterSpec) -> Iterator[Mistake]:
    """Every mistake of a cluster's auto-provisioning."""
    spec, at = cluster.auto_provisioning, (*at, "autoProvisioning")
    if spec is None:
        return
    limits: Path = (*at, "limits")
    yield from _check_zones(at, cluster, spec)
    yield from _check_generations(limits, spec)
    rooms = list(tpu_rooms(cluster))
    for room in rooms:
        yield from _check_limit((*limits, "tpu", room.key), cluster, room)
    yield from _check_size(limits, spec.limits, rooms)
    if not spec.auto_upgrade and cluster.release_channel != "UNSPECIFIED":
        yield broken("nap-auto-upgrade", (*at, "autoUpgrade"), channel=cluster.release_channel)


def _check_generations(at: Path, spec: AutoProvisioningSpec) -> Iterator[Mistake]:
    names: dict[str, str] = {}
    for key in spec.limits.tpu:
        path: Path = (*at, "tpu", key)
        try:
            generation = catalogue().generation(key)
        except SliceError as error:
            yield Mistake(path, str(error))
            continue
        if generation.name in names:
            yield broken("nap-limit-once", path, value=shown(key), other=names[generation.name])
        names.setdefault(generation.name, key)


def _check_zones(at: Path, cluster: ClusterSpec, spec: AutoProvisioningSpec) -> Iterator[Mistake]:
    region = region_of(cluster.location)
    known = known_zones(region)
    for index, zone in enumerate(spec.zones):
        if not is_inside(zone, region) or (known and zone not in known):
            yield Mistake((*at, "zones", index), choice(zone, f"in the cluster's region {region}", known))


def _check_limit(at: Path, cluster: ClusterSpec, room: TpuRoom) -> Iterator[Mistake]:
    name, needed = room.generation.name, room.generation.nap_min_version
    whole = min(machine.chips for machine in room.generation.machines)
    if room.maximum % whole:
        near = room.maximum + whole - room.maximum % whole
        yield broken("nap-whole-hosts", at, value=room.maximum, generation=name, chips=whole, near=near)
    elif room.maximum < room.declared:
        yield broken("nap-limit-pools", at, value=room.maximum, generation=name, declared=room.declared)
    zones = provisioning_zones(cluster)
    if not any(catalogue().zone_offers(zone, name) for zone in zones):
        where = ", ".join(zones) or f"no zone of {cluster.location}"
        remedy = "remove the limit"
        if inside := offering_zones(name, region_of(cluster.location)):
            remedy = f"add one of these to zones: {', '.join(inside)}; or {remedy}"
        elif elsewhere := catalogue().zones(name):
            remedy += f", or move the cluster to one of {', '.join(elsewhere)}"
        yield broken("nap-zones", at, generation=name, zones=where, remedy=remedy)
    if needed is not None and cluster.is_older(GkeVersion.minimum(needed)):
        yield broken("nap-versions", at, generation=name, needed=needed, value=shown(cluster.version))


def _check_size(at: Path, limits: AutoProvisioningLimitsSpec, rooms: list[TpuRoom]) -> Iterator[Mistake]:
    """The hosts of the TPU limits also need vCPUs and memory. With lower limits, GKE could never add all chips."""
    cpu = memory = 0.0
    for room in rooms:
        machines = room.generation.machines
        cpu += room.maximum * min(machine.vcpus / machine.chips for machine in machines)
        memory += room.maximum * min(machine.memory_gb / machine.chips for machine in machines)
    for field, value, needed in (("cpu", limits.cpu, cpu), ("memoryGb", limits.memory_gb, memory)):
        if value < needed:
            yield broken("nap-host-room", (*at, field), value=value, needed=int(needed))
