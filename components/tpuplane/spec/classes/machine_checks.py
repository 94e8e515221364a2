"""What must hold for the machines of a compute class: GPUs, disks, confidential computing, Autopilot, groups."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from importlib import resources
from typing import Any

import yaml

from tpuplane.spec.classes.common import ClassMinimumCapacitySpec
from tpuplane.spec.classes.compute_class import ComputeClassSpec
from tpuplane.spec.classes.gpu_checks import check_gpu
from tpuplane.spec.classes.priorities import ClassPrioritySpec, ClassStorageSpec
from tpuplane.spec.core.errors import Mistake, Path, choice, shown
from tpuplane.spec.core.rules import broken
from tpuplane.spec.pools.machine_checks import check_class_machine
from tpuplane.tpu import SliceError, catalogue


def check_machines(at: Path, spec: ComputeClassSpec) -> Iterator[Mistake]:
    """Every such mistake."""
    for index, priority in enumerate(spec.priorities or ()):
        path = (*at, "priorities", index)
        yield from _check_gpu(path, priority)
        yield from check_class_machine(path, priority)
        yield from _check_storage((*path, "storage"), priority.storage)
        yield from _check_tpu_disk((*path, "storage", "bootDiskType"), priority)
        yield from _check_minimum(path, priority.minimum_capacity, (priority,), "this priority")
    yield from _check_minimum(at, spec.minimum_capacity, spec.priorities or (), "every priority")
    yield from _check_confidential(at, spec)
    yield from _check_autopilot(at, spec)
    yield from _check_group(at, spec)


def _check_gpu(at: Path, priority: ClassPrioritySpec) -> Iterator[Mistake]:
    yield from check_gpu(at, priority)
    gpu = priority.gpu
    if gpu is not None and gpu.topology is not None:
        wide = priority.machine_family == "a4x" or gpu.type == "nvidia-gb200"
        if not wide or priority.placement is None:
            yield broken("class-gpu-topology", (*at, "gpu", "topology"))
    if priority.gpu_direct == "rdma" and priority.accelerator_network_profile is None:
        yield broken("class-rdma", (*at, "acceleratorNetworkProfile"))


def _check_storage(at: Path, storage: ClassStorageSpec | None) -> Iterator[Mistake]:
    if storage is None:
        return
    rates = (storage.boot_disk_provisioned_iops, storage.boot_disk_provisioned_throughput)
    if any(rates) and not (all(rates) and storage.boot_disk_type == "hyperdisk-balanced"):
        field = "bootDiskProvisionedIops" if rates[0] else "bootDiskProvisionedThroughput"
        yield broken("class-disk-rates", (*at, field))
    kind = storage.boot_disk_type
    if storage.boot_disk_storage_pools and kind not in (None, "hyperdisk-balanced"):
        yield broken("class-disk-pools", (*at, "bootDiskStoragePools"), value=shown(kind))


def _check_tpu_disk(at: Path, priority: ClassPrioritySpec) -> Iterator[Mistake]:
    kind = priority.storage.boot_disk_type if priority.storage else None
    if kind is None or priority.tpu is None:
        return
    try:
        generation = catalogue().generation(priority.tpu.type)
    except SliceError:
        return  # reported where it stands
    if generation.boot_disk_types and kind not in generation.boot_disk_types:
        yield Mistake(at, choice(kind, f"a boot disk of {generation.name} hosts", generation.boot_disk_types))


def _check_minimum(
    at: Path, minimum: ClassMinimumCapacitySpec | None, priorities: tuple[ClassPrioritySpec, ...], where: str
) -> Iterator[Mistake]:
    def known(it: ClassPrioritySpec) -> bool:
        reserved = it.reservations is not None and it.reservations.affinity == "Specific"
        return reserved or any((it.machine_type, it.gpu, it.tpu))

    if minimum is not None and not all(map(known, priorities)):
        yield broken("class-minimum-capacity", (*at, "minimumCapacity"), where=where)


@functools.cache
def _confidential() -> dict[str, Any]:
    text = resources.files("tpuplane.spec").joinpath("data/confidential.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)["kinds"]
    return found


def _check_confidential(at: Path, spec: ComputeClassSpec) -> Iterator[Mistake]:
    kind = spec.node_pool_config.confidential_node_type if spec.node_pool_config else None
    if kind is None:
        return
    defaults = spec.priority_defaults.location if spec.priority_defaults else None
    with_gpu = any(priority.gpu is not None for priority in spec.priorities or ())
    machines = _confidential().get(kind, {"machines": {".*": ".*"}, "allowed": "a machine"})
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
            value = shown(machine) + (f" with {gpu}" if gpu else "")
            yield broken("class-confidential", (*path, field), value=value, kind=kind, allowed=machines["allowed"])
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
            yield broken("class-autopilot", (*path, "nodepools"), why="makes its own node pools")
    if not on:
        return
    config = spec.node_pool_config
    if spec.node_pool_auto_creation is not None and not spec.node_pool_auto_creation.enabled:
        yield broken("class-autopilot", (*at, "nodePoolAutoCreation", "enabled"), why="makes its own node pools")
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
        if priority.tpu is None:
            continue
        try:
            generation = catalogue().generation(priority.tpu.type).name
        except SliceError:
            continue  # reported where it stands
        if generation != "v6e":
            yield broken("class-group", (*at, "nodePoolGroup"), value=generation)
            return
