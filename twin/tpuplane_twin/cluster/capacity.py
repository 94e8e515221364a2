"""GKE's labels and resources of nodes for GPUs, spot, flex-start, queueing and reservations. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tpuplane.gpu import GpuError, GpuMachine, gpu_catalogue
from tpuplane.labels import (
    BLOCK_LABEL,
    MODE_LABEL,
    PROVISIONING_LABEL,
    QUEUED_LABEL,
    RESERVATION_LABEL,
    partition_label,
)
from tpuplane.tpu import Slice, catalogue

from tpuplane_twin.gcp.views import ClusterView, PoolView

# As GKE's cluster autoscaler reads them back (GoogleCloudPlatform/cluster-autoscaler, pkg/cloudprovider/gke/labels).
_DRIVERS = {"DEFAULT": "default", "LATEST": "latest"}
_STRATEGIES = {"TIME_SHARING": "time-sharing", "MPS": "mps"}
_PATH = re.compile(
    r"(?:projects/(?P<project>[^/]+)/reservations/)?(?P<name>[^/]+)"
    r"(?:/reservationBlocks/(?P<block>[^/]+))?(?:/reservationSubBlocks/(?P<subblock>[^/]+))?"
)
_LABELS = {
    "name": RESERVATION_LABEL,
    "project": "cloud.google.com/reservation-project",
    "block": "cloud.google.com/reservation-blocks",
    "subblock": "cloud.google.com/reservation-subblocks",
}


@dataclass(frozen=True, slots=True)
class Gpus:
    """The GPUs of one node, from the machine type and Google's JSON of the node config."""

    machine: GpuMachine
    accelerator: dict[str, Any]

    @classmethod
    def of(cls, config: dict[str, Any]) -> Gpus | None:
        """Those of a node config; None where its machine type has none."""
        try:
            machine = gpu_catalogue().machine(str(config.get("machineType")))
        except GpuError:
            return None
        return cls(machine, next(iter(config.get("accelerators", [])), {}))

    @property
    def labels(self) -> dict[str, str]:
        """GKE's labels."""
        labels = dict(self.machine.node_labels)
        driver = self.accelerator.get("gpuDriverInstallationConfig", {}).get("gpuDriverVersion", "")
        labels["cloud.google.com/gke-gpu-driver-version"] = _DRIVERS.get(driver, "disabled")
        if size := self.accelerator.get("gpuPartitionSize"):
            labels["cloud.google.com/gke-gpu-partition-size"] = size
        sharing = self.accelerator.get("gpuSharingConfig", {})
        if strategy := _STRATEGIES.get(sharing.get("gpuSharingStrategy", "")):
            labels["cloud.google.com/gke-gpu-sharing-strategy"] = strategy
            labels["cloud.google.com/gke-max-shared-clients-per-gpu"] = str(sharing["maxSharedClientsPerGpu"])
        return labels

    @property
    def offered(self) -> int:
        """What a node offers as `nvidia.com/gpu`: its GPUs, times partitions, times containers that share one."""
        clients = int(self.accelerator.get("gpuSharingConfig", {}).get("maxSharedClientsPerGpu", 1))
        return self.machine.offers(self.accelerator.get("gpuPartitionSize"), clients)


def capacity_labels(pool: PoolView, cluster: dict[str, Any], host: int) -> dict[str, str]:
    """GKE's labels for the provisioning model of a pool, of the host with this number."""
    alone = pool.capacity in ("spot", "flex-start")
    labels = {PROVISIONING_LABEL: pool.capacity if alone else "standard"}
    if alone:
        labels[f"cloud.google.com/gke-{pool.capacity}"] = "true"
    if pool.max_run_seconds:
        labels["cloud.google.com/gke-max-run-duration-seconds"] = str(pool.max_run_seconds)
    if pool.queued:
        labels[QUEUED_LABEL] = "true"
    if not pool.reservation_names:
        return labels
    found = _PATH.fullmatch(pool.reservation_names[0])
    parts = found.groupdict() if found else {}
    named = {label: parts[part] for part, label in _LABELS.items() if parts.get(part)}
    cube = _cube_labels(pool, cluster, parts, host) if pool.cube else {}
    return {**labels, "cloud.google.com/reservation-affinity": "specific", **named, **cube}


def _cube_labels(
    pool: PoolView, cluster: dict[str, Any], reserved: Mapping[str, str | None], host: int
) -> dict[str, str]:
    """GKE's labels of a host of a cube for dynamic slicing: its block, and its partition of each topology."""
    generation, machine = catalogue().machine(pool.machine_type)
    link = ClusterView(cluster).link or None
    hosts = {shape: Slice.of(generation.name, shape, machine.name).hosts for shape in generation.partitions}
    return {
        MODE_LABEL: "PROVISION_ONLY",
        BLOCK_LABEL: _id(reserved.get("block") or reserved.get("name")),
        **{partition_label(shape): _id(link, pool.name, shape, str(host // count)) for shape, count in hosts.items()},
    }


def _id(*parts: str | None) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]
