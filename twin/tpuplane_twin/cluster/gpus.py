"""The GPUs of a pool's nodes: GKE's labels and taint for them, and what pods can ask for. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tpuplane.gpu import GpuError, GpuMachine, gpu_catalogue
from tpuplane.labels import GPU

TAINT = {"key": GPU, "value": "present", "effect": "NoSchedule"}

# As GKE's cluster autoscaler reads them back (GoogleCloudPlatform/cluster-autoscaler, pkg/cloudprovider/gke/labels).
_DRIVERS = {"DEFAULT": "default", "LATEST": "latest"}
_STRATEGIES = {"TIME_SHARING": "time-sharing", "MPS": "mps"}


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
        partitions = self.machine.accelerator.partitions.get(self.accelerator.get("gpuPartitionSize", ""), 1)
        clients = int(self.accelerator.get("gpuSharingConfig", {}).get("maxSharedClientsPerGpu", 1))
        return self.machine.gpus * partitions * clients
