"""The checks of the platform at full scale, against declared quota and GKE's limits."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pydantic.alias_generators import to_snake

from tpuplane.gpu import GpuError, gpu_catalogue
from tpuplane.spec.classes.checks import known_slice_of
from tpuplane.spec.classes.compute_class import ComputeClassSpec
from tpuplane.spec.classes.machine_checks import capacity_of
from tpuplane.spec.classes.of_cluster import candidate_zones, classes_of, pool_classes
from tpuplane.spec.classes.priorities import ClassPrioritySpec
from tpuplane.spec.cluster.auto_provisioning_checks import provisioning_zones, tpu_rooms
from tpuplane.spec.cluster.cluster import ClusterSpec
from tpuplane.spec.cluster.network_checks import MAX_CLUSTER_NODES, address_needs
from tpuplane.spec.core.errors import Mistake, Path, dotted, shown
from tpuplane.spec.core.locations import check_location, region_of
from tpuplane.spec.core.rules import broken
from tpuplane.spec.platform import PlatformSpec, QuotaSpec
from tpuplane.spec.pools.hosts import Capacity, HostsSpec
from tpuplane.tpu import SliceError, catalogue

# The quota that each provisioning model counts against. A reservation needs none of its own.
COUNTS: dict[str, tuple[Capacity, ...]] = {"onDemand": ("on-demand",), "preemptible": ("spot", "flex-start")}

# Nodes of a pool in one zone (google/gke-policy-automation, scalability).
_MAX_POOL_NODES = 1000


class Use(NamedTuple):
    """The chips or GPUs of a pool at full scale, of slices that GKE keeps for a class, or of auto-provisioning."""

    path: Path
    zones: tuple[str, ...]
    hardware: str  # generation or accelerator
    capacity: Capacity
    amount: int


def check_quotas(spec: PlatformSpec) -> Iterator[Mistake]:
    """Reject quotas for unknown hardware, and a platform that exceeds a quota."""
    uses = list(quota_uses(spec))
    for location, generations in spec.quotas.items():
        at: Path = ("quotas", location)
        if any(check_location(at, location)):
            yield broken("quota-location", at, value=shown(location))
            continue
        for name, quota in generations.items():
            try:
                hardware, words = _hardware(name)
            except (SliceError, GpuError) as error:
                yield Mistake((*at, name), str(error))
                continue
            for field, granted in (("onDemand", quota.on_demand), ("preemptible", quota.preemptible)):
                counted = [
                    use
                    for use in uses
                    if use.hardware == hardware
                    and use.capacity in COUNTS[field]
                    and location in (*use.zones, *map(region_of, use.zones))
                ]
                needed = sum(use.amount for use in counted)
                if granted is not None and needed > granted:
                    amounts = Counter[Path]()
                    for use in counted:  # one for each zone of a pool
                        amounts[use.path] += use.amount
                    pools = ", ".join(f"{dotted(path)} {amount}" for path, amount in amounts.items())
                    if any(path[0] == "classes" for path in amounts):
                        words["most"] = f"{words['most']}, or minimumCapacity"
                    yield broken("quota", (*at, name, field), value=granted, needed=needed, pools=pools, **words)


def check_class_quotas(spec: PlatformSpec) -> Iterator[Mistake]:
    """Reject a class of which no priority could ever get a slice, because the declared quotas are smaller than one."""
    declared: dict[tuple[str, str], tuple[Path, QuotaSpec]] = {}
    for location, generations in spec.quotas.items():
        for name, quota in generations.items():
            if generation := catalogue().known(name):
                declared[location, generation.name] = (("quotas", location, name), quota)
    for key, cluster in spec.clusters.items():
        classes = classes_of(spec, key)
        with_pools = pool_classes(cluster, classes).values()
        for name, own in classes.items():
            small = [_too_small(declared, cluster, own, priority) for priority in own.priorities or ()]
            if small and all(small) and name not in with_pools:
                parts = {"cluster": key, "quotas": " and ".join(dict.fromkeys(small))}
                yield broken("class-quota", ("classes", name), **parts)


def _too_small(
    declared: Mapping[tuple[str, str], tuple[Path, QuotaSpec]],
    cluster: ClusterSpec,
    spec: ComputeClassSpec,
    priority: ClassPrioritySpec,
) -> str:
    """The quotas that are too small for one slice, one for each possible zone; empty if one of the zones may do."""
    shape, capacity = known_slice_of(priority), capacity_of(priority)[0]
    field = next((field for field, counted in COUNTS.items() if capacity in counted), None)
    if shape is None or field is None:
        return ""
    found = dict[str, None]()
    for zone in candidate_zones(cluster, spec, priority, shape.generation):
        for location in (zone, region_of(zone)):
            at, quota = declared.get((location, shape.generation.name), ((), None))
            granted: int | None = getattr(quota, to_snake(field), None)
            if granted is not None and granted < shape.chips:
                found[f"{dotted((*at, field))} is {granted}, but a slice has {shape.chips} chips"] = None
                break
        else:
            return ""
    return " and ".join(found)


def check_limits(spec: PlatformSpec) -> Iterator[Mistake]:
    """Reject node pools and clusters above GKE's limits."""
    for key, cluster in spec.clusters.items():
        at: Path = ("clusters", key)
        for path, pool in cluster.all_pools.items():
            yield from check_pool_nodes((*at, *path), cluster.location, pool)
        yield from check_cluster_nodes((*at, "pools"), address_needs(cluster).nodes)


def check_pool_nodes(at: Path, location: str, pool: HostsSpec) -> Iterator[Mistake]:
    """Reject a node pool above GKE's limit of nodes in a zone. A single slice has the hosts of its topology."""
    size = pool.known_size(location)
    if size is None or size.spans_pools or size.max_nodes <= _MAX_POOL_NODES:
        return
    scale, nodes = size.scale, size.max_nodes
    cause = f"{nodes} nodes in a zone"
    if scale.unit == "slices":
        cause = f"{nodes} single-host slices need {nodes} nodes in one node pool"
    yield broken("pool-nodes", (*at, *scale.largest), cause=cause, allowed=_MAX_POOL_NODES)


def check_cluster_nodes(at: Path, nodes: int) -> Iterator[Mistake]:
    """Reject pools above GKE's limit of nodes in a cluster."""
    if nodes > MAX_CLUSTER_NODES:
        yield broken("cluster-nodes", at, value=nodes, allowed=MAX_CLUSTER_NODES)


def quota_uses(spec: PlatformSpec) -> Iterator[Use]:
    """The TPUs and GPUs of every pool at full scale by zone, those that auto-provisioning can add, and the slices that
    GKE keeps for a priority of a class."""
    for key, cluster in spec.clusters.items():
        for path, pool in cluster.all_pools.items():
            size = pool.known_size(cluster.location)
            if size is not None and size.max_nodes:
                amount = size.max_nodes * size.per_node
                for zone in size.zones:
                    yield Use(("clusters", key, *path), (zone,), size.hardware, pool.capacity, amount)
        for room in tpu_rooms(cluster):
            if room.chips:
                # Pods that select no provisioning model get on-demand hosts.
                at: Path = ("clusters", key, "autoProvisioning")
                yield Use(at, provisioning_zones(cluster), room.generation.name, "on-demand", room.chips)
        for name, own in classes_of(spec, key).items():
            for index, priority in enumerate(own.priorities or ()):
                yield from _minimum(("classes", name, "priorities", index), cluster, own, priority)


def _minimum(at: Path, cluster: ClusterSpec, spec: ComputeClassSpec, priority: ClassPrioritySpec) -> Iterator[Use]:
    """The slices that GKE's autoscaler creates before pods request them. For a minimum of the whole class, it selects
    the priority."""
    shape = known_slice_of(priority)
    if priority.minimum_capacity is not None and shape is not None:
        zones = candidate_zones(cluster, spec, priority, shape.generation)
        places = zones if len(zones) == 1 else (region_of(cluster.location),)  # GKE selects the zone
        slices = -(-priority.minimum_capacity.target_node_count // shape.hosts)
        yield Use(at, places, shape.generation.name, capacity_of(priority)[0], slices * shape.chips)


def _hardware(name: str) -> tuple[str, dict[str, Any]]:
    """The generation or accelerator `name`, and its word in messages. Raises `SliceError` or `GpuError`."""
    if name.startswith("nvidia-"):
        return gpu_catalogue().accelerator(name).name, {"unit": "GPUs", "fixed": "nodes", "most": "maxNodes"}
    return catalogue().generation(name).name, {"unit": "chips", "fixed": "slices", "most": "maxSlices"}
