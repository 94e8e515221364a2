"""The checks of the machines of a compute class: GPUs, disks, confidential computing, Autopilot, groups.

GKE has more GPUs than the catalogue, such as those for N1 machines. They are not checked.
"""

import re
from collections.abc import Iterator

from tpuplane.gpu import GpuError, GpuMachine, gpu_catalogue
from tpuplane.spec.classes.compute_class import ComputeClassSpec
from tpuplane.spec.classes.nodes import ClassMinimumCapacitySpec
from tpuplane.spec.classes.priorities import ClassGpuSpec, ClassPrioritySpec
from tpuplane.spec.cluster.cluster import ClusterPlaceSpec
from tpuplane.spec.core.errors import Mistake, Path, choice, shown
from tpuplane.spec.core.locations import region_of
from tpuplane.spec.core.rules import broken, check_boot_disk, spec_data
from tpuplane.spec.disk_checks import RateFields, check_rates
from tpuplane.spec.pools.gpu_checks import check_gpu_version, check_local_ssds, check_partition, check_parts
from tpuplane.spec.pools.hosts import Capacity
from tpuplane.spec.pools.machine_checks import check_class_machine, gpu_machines, named_gpu_machines
from tpuplane.tpu import catalogue

# The fields of a priority that set a capacity. Without them, it is on-demand.
_FIELDS = {"spot": "spot: true", "flex-start": "flexStart", "reservation": "reservations"}
_BOOT_DISK = RateFields("bootDiskSize", "bootDiskProvisionedIops", "bootDiskProvisionedThroughput")
_BOOT_DISK_GB = 100  # GKE's default


def _check_gpu(at: Path, priority: ClassPrioritySpec) -> Iterator[Mistake]:
    """The machine type has these GPUs and this number of them."""
    gpu = priority.gpu
    if gpu is not None and priority.tpu is not None:
        yield broken("class-tpu-or-gpu", (*at, "gpu"))
    yield from _check_sold(at, priority)
    if gpu is not None and gpu.topology is not None:
        wide = priority.machine_family == "a4x" or gpu.type == "nvidia-gb200"
        if not wide or priority.placement is None:
            yield broken("class-gpu-topology", (*at, "gpu", "topology"))
    if priority.gpu_direct == "rdma" and priority.accelerator_network_profile is None:
        yield broken("class-rdma", (*at, "acceleratorNetworkProfile"))
    if gpu is not None and gpu.type is not None and gpu.type not in gpu_catalogue().accelerator_names:
        yield Mistake((*at, "gpu", "type"), choice(gpu.type, "a GPU of GKE", gpu_catalogue().accelerator_names))
    yield from _check_whole(at, priority)
    yield from _check_disks((*at, "storage"), priority)
    machine = next((machine for machine in gpu_catalogue().machines if machine.name == priority.machine_type), None)
    accelerator = next((known for known in gpu_catalogue().accelerators if gpu and known.name == gpu.type), None)
    if gpu is None or accelerator is None:
        return
    size = gpu.gpu_sharing.gpu_partition_size if gpu.gpu_sharing else None
    yield from check_partition((*at, "gpu", "gpuSharing", "gpuPartitionSize"), size, accelerator)
    wanted = f"{gpu.count or 'some'} {gpu.type}"
    named = priority.machine_type or priority.machine_family
    if machine is None and named is not None and not gpu_machines(priority):
        having = (known.name for known in gpu_catalogue().machines if known.accelerator.name == gpu.type)
        yield broken("class-gpu", (*at, "gpu"), value=wanted, machine=named, has=", ".join(having))
    elif machine is None:
        try:
            gpu_catalogue().machine_with(accelerator.name, gpu.count)
        except GpuError as error:
            yield Mistake((*at, "gpu", "count"), str(error))
    elif gpu.type != machine.accelerator.name or gpu.count not in (None, machine.gpus):
        yield broken("class-gpu", (*at, "gpu"), value=wanted, machine=machine.name, has=str(machine))


def _check_fields(at: Path, priority: ClassPrioritySpec, gpu: ClassGpuSpec) -> Iterator[Mistake]:
    """GKE's autoscaler knows the GPUs that a new node offers. Machines of other families are not in the catalogue."""
    if priority.nodepools or priority.machine_type in gpu_catalogue().names:
        return
    known = named_gpu_machines(priority)
    if gpu.type is None:
        fitting = tuple(one for one in known if gpu.count == one.gpus) or known
        types = dict.fromkeys(one.accelerator.name for one in fitting) if priority.machine_family else {}
        yield broken("class-gpu-fields", (*at, "type"), allowed=", ".join(types or gpu_catalogue().accelerator_names))
    if not gpu.count:
        counts = {one.gpus for one in known if gpu.type in (None, one.accelerator.name)}
        # Of a family without these GPUs, another check reports the family.
        counts = counts or {one.gpus for one in gpu_catalogue().machines if one.accelerator.name == gpu.type}
        yield broken("class-gpu-fields", (*at, "count"), allowed=", ".join(map(str, sorted(counts))) or "1 or more")


def _check_whole(at: Path, priority: ClassPrioritySpec) -> Iterator[Mistake]:
    """GKE's autoscaler knows the number of GPUs that a node offers, and the node takes a pod for each part of them."""
    gpu = priority.gpu
    if gpu is None:
        return
    at = (*at, "gpu")
    yield from _check_fields(at, priority, gpu)
    sharing = gpu.gpu_sharing
    if sharing is None:
        return
    clients = sharing.max_shared_clients_per_gpu if sharing.sharing_strategy else None
    if sharing.max_shared_clients_per_gpu and not sharing.sharing_strategy:
        yield broken("class-gpu-strategy", (*at, "gpuSharing", "maxSharedClientsPerGpu"))
    if clients == 1:
        yield broken("class-gpu-clients", (*at, "gpuSharing", "maxSharedClientsPerGpu"), value=clients)
    machine = min(gpu_machines(priority), key=lambda known: known.gpus, default=None)
    if machine is not None and priority.max_pods_per_node is not None:
        offered = machine.offers(sharing.gpu_partition_size, clients)
        yield from check_parts(at[:-1], priority.max_pods_per_node, offered, machine)


def _check_disks(at: Path, priority: ClassPrioritySpec) -> Iterator[Mistake]:
    """At least one machine type that matches the priority has the disks."""
    if (disks := priority.storage) is None:
        return

    def mistakes(owner: str, *possible: GpuMachine) -> list[Mistake]:
        kinds = tuple(dict.fromkeys(kind for machine in possible for kind in machine.boot_disks))
        return [
            *check_boot_disk((*at, "bootDiskType"), disks.boot_disk_type, owner, kinds),
            *check_local_ssds((*at, "localSsdCount"), disks.local_ssd_count, owner, *possible),
        ]

    machines = gpu_machines(priority)
    found = [mistakes(machine.name, machine) for machine in machines]
    if found and all(found):
        owner = priority.machine_type or priority.machine_family or machines[0].accelerator.name
        # Otherwise, some machine types have one of the disks, but none has both.
        yield from mistakes(owner, *machines) or found[0]


def _check_sold(at: Path, priority: ClassPrioritySpec) -> Iterator[Mistake]:
    """At least one machine type that matches the priority is available with its capacity."""
    machines = gpu_machines(priority)
    way, field = capacity_of(priority)
    if machines and not any(way in machine.capacities for machine in machines):
        allowed = ", ".join(_FIELDS[capacity] for capacity in machines[0].capacities if capacity in _FIELDS)
        yield broken("class-gpu-capacity", (*at, field), value=shown(way), machine=machines[0].name, allowed=allowed)


def capacity_of(priority: ClassPrioritySpec) -> tuple[Capacity, str]:
    """The capacity of a priority, and the field that sets it."""
    if priority.flex_start is not None and priority.flex_start.enabled:
        return "flex-start", "flexStart"
    if priority.reservations is not None and priority.reservations.affinity != "None":
        return "reservation", "reservations"
    return "spot" if priority.spot else "on-demand", "spot"


def check_gpu_places(
    at: Path, key: str, cluster: ClusterPlaceSpec, priority: ClassPrioritySpec, named: tuple[str, ...]
) -> Iterator[Mistake]:
    """At least one possible zone offers the machine type. `named`: the zones that the class names."""
    if not (machines := gpu_machines(priority)):
        return
    rdma = priority.gpu_direct == "rdma"
    found = [[*check_gpu_version(at, cluster, machine, rdma=rdma, named=f"cluster {key}")] for machine in machines]
    if all(found):
        yield from found[0]
    offering = {zone for machine in machines for zone in machine.zones}
    where = named or (cluster.location,)
    if not any(place in where for zone in offering for place in (zone, region_of(zone))):
        value = priority.machine_type or priority.machine_family or machines[0].accelerator.name
        near = ", ".join(sorted(zone for zone in offering if region_of(zone) == region_of(cluster.location)))
        regions = ", ".join(sorted({region_of(zone) for zone in offering}))
        allowed = near or f"none in {cluster.location}; regions with it: {regions}"
        yield broken("class-gpu-zone", at, value=shown(value), where=", ".join(where), cluster=key, allowed=allowed)


def check_machines(at: Path, spec: ComputeClassSpec) -> Iterator[Mistake]:
    """Every mistake of the machines of a class."""
    for index, priority in enumerate(spec.priorities or ()):
        path = (*at, "priorities", index)
        yield from _check_gpu(path, priority)
        yield from check_class_machine(path, priority)
        yield from _check_storage((*path, "storage"), priority)
        yield from _check_minimum(path, priority.minimum_capacity, (priority,), "this priority")
    yield from _check_minimum(at, spec.minimum_capacity, spec.priorities or (), "every priority")
    yield from _check_confidential(at, spec)
    yield from _check_autopilot(at, spec)
    yield from _check_group(at, spec)


def _check_storage(at: Path, priority: ClassPrioritySpec) -> Iterator[Mistake]:
    if (storage := priority.storage) is None:
        return
    rates = (storage.boot_disk_provisioned_iops, storage.boot_disk_provisioned_throughput)
    if any(rates) and not (all(rates) and storage.boot_disk_type == "hyperdisk-balanced"):
        field = _BOOT_DISK.iops if rates[0] else _BOOT_DISK.throughput
        yield broken("class-disk-rates", (*at, field))
    else:
        yield from check_rates(at, _BOOT_DISK, storage.boot_disk_size or _BOOT_DISK_GB, *rates)
    kind = storage.boot_disk_type
    if storage.boot_disk_storage_pools and kind not in (None, "hyperdisk-balanced"):
        yield broken("class-disk-pools", (*at, "bootDiskStoragePools"), value=shown(kind))
    if priority.tpu is not None and (generation := catalogue().known(priority.tpu.type)) is not None:
        hosts = f"{generation.name} hosts"
        yield from check_boot_disk((*at, "bootDiskType"), kind, hosts, generation.boot_disk_types)


def _check_minimum(
    at: Path, minimum: ClassMinimumCapacitySpec | None, priorities: tuple[ClassPrioritySpec, ...], where: str
) -> Iterator[Mistake]:
    def known(priority: ClassPrioritySpec) -> bool:
        reserved = priority.reservations is not None and priority.reservations.affinity == "Specific"
        return reserved or any((priority.machine_type, priority.gpu, priority.tpu))

    if minimum is not None and not all(map(known, priorities)):
        yield broken("class-minimum-capacity", (*at, "minimumCapacity"), where=where)


def _check_confidential(at: Path, spec: ComputeClassSpec) -> Iterator[Mistake]:
    kind = spec.node_pool_config.confidential_node_type if spec.node_pool_config else None
    if kind is None:
        return
    defaults = spec.priority_defaults.location if spec.priority_defaults else None
    with_gpu = any(priority.gpu is not None for priority in spec.priorities or ())
    machines = spec_data("confidential")["kinds"].get(kind, {"machines": {".*": ".*"}, "allowed": "a machine"})
    for index, priority in enumerate(spec.priorities or ()):
        path: Path = (*at, "priorities", index)
        machine = priority.machine_type or priority.machine_family
        gpu = priority.gpu.type if priority.gpu else None
        fits = (
            re.fullmatch(gpus, gpu or gpus)
            for pattern, gpus in machines["machines"].items()
            if re.fullmatch(pattern, machine or "-")
        )
        if machine is None or not any(fits):
            field = "machineType" if priority.machine_type else "machineFamily"
            value = f"{shown(machine)} with {gpu}" if gpu else shown(machine)
            problem = "required with" if machine is None else f"{value} does not support"
            yield broken("class-confidential", (*path, field), problem=problem, kind=kind, allowed=machines["allowed"])
        zones = priority.location or defaults
        if with_gpu and not (zones and zones.zones):
            yield broken("class-confidential-zones", (*path, "location", "zones"))


def _check_autopilot(at: Path, spec: ComputeClassSpec) -> Iterator[Mistake]:
    on = spec.autopilot is not None and spec.autopilot.enabled
    for index, priority in enumerate(spec.priorities or ()):
        path = (*at, "priorities", index)
        if priority.pod_family is not None and not on:
            yield broken("class-pod-family", (*path, "podFamily"))
        if on and priority.nodepools is not None:
            yield broken("class-autopilot", (*path, "nodepools"), why="creates its own node pools")
    if not on:
        return
    config = spec.node_pool_config
    if spec.node_pool_auto_creation is not None and not spec.node_pool_auto_creation.enabled:
        yield broken("class-autopilot", (*at, "nodePoolAutoCreation", "enabled"), why="creates its own node pools")
    if config is not None and config.image_type != "cos_containerd":
        yield broken("class-autopilot", (*at, "nodePoolConfig", "imageType"), why="has cos_containerd only")
    if config is not None and config.logging_config is not None:
        path = (*at, "nodePoolConfig", "loggingConfig", "loggingVariantConfig", "variant")
        if config.logging_config.logging_variant_config.variant != "DEFAULT":
            yield broken("class-autopilot", path, why="has the DEFAULT logging agent only")


def _check_group(at: Path, spec: ComputeClassSpec) -> Iterator[Mistake]:
    config = spec.node_pool_config
    if spec.node_pool_group is None:
        if config is not None and config.workload_type == "HIGH_THROUGHPUT":
            yield broken("class-workload-type", (*at, "nodePoolConfig", "workloadType"))
        return
    for priority in spec.priorities or ():
        generation = catalogue().known(priority.tpu.type) if priority.tpu is not None else None
        # Another check reports an unknown generation. The pools of a priority have their own machines.
        value = generation.name if generation else "" if priority.tpu or priority.nodepools else "no TPU"
        if value not in ("", "v6e"):
            yield broken("class-group", (*at, "nodePoolGroup"), value=value)
            return
