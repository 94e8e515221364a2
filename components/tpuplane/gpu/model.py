"""What the GPU catalogue knows, as frozen values: accelerators, machine types, prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tpuplane.tpu import PriceModel
from tpuplane.tpu.errors import CatalogueError

GpuField = Literal["accelerator", "machine_type", "gpus", "zone"]
GpuDirect = Literal["TCPX", "TCPXO", "RDMA"]
PARTITION_LABEL = "cloud.google.com/gke-gpu-partition-size"
SHARING_LABEL = "cloud.google.com/gke-gpu-sharing-strategy"
CLIENTS_LABEL = "cloud.google.com/gke-max-shared-clients-per-gpu"


class GpuError(CatalogueError[GpuField]):
    """A combination that no machine with GPUs has."""


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One model of GPU."""

    name: str
    """Value of the node label `cloud.google.com/gke-accelerator`; also Compute Engine's accelerator type."""
    product: str
    memory_gb: int
    partitions: Mapping[str, int] = field(default_factory=dict)
    """Sizes of multi-instance GPU partitions, and how many of each one GPU makes. Empty: not offered."""
    sources: tuple[str, ...] = ()
    """Keys of `GpuCatalogue.sources`."""

    def __hash__(self) -> int:
        return hash(self.name)


@dataclass(frozen=True, slots=True)
class GpuMachine:
    """A Compute Engine machine type with GPUs: one VM, one Kubernetes node."""

    name: str
    series: str
    """The name without its size: `a3-highgpu`."""
    accelerator: Accelerator
    gpus: int
    vcpus: int
    memory_gb: int
    boot_disks: tuple[str, ...]
    """Boot disks that it takes, preferred first."""
    zones: tuple[str, ...]
    """Zones that list it. Never a promise of capacity."""
    compact_nodes: int
    """Most nodes of one compact placement."""
    compact_flex: bool = False
    """Whether compact placement goes together with flex-start."""
    local_ssds: int = 0
    """Local SSDs that always come with it."""
    local_ssd_choices: tuple[int, ...] = ()
    """Numbers of local SSDs that may be asked for where none comes with it."""
    gpudirect: GpuDirect | None = None
    """How GPUs of several hosts talk to each other past the CPU."""
    networks: int = 0
    """Further network interfaces that this wants, beside the first."""
    capacities: tuple[str, ...] = ("on-demand", "reservation", "spot", "flex-start")
    """Ways in which Google sells it."""
    default: bool = False
    """Whether it is taken where only the accelerator and the number of GPUs are named."""
    sources: tuple[str, ...] = ()
    """Keys of `GpuCatalogue.sources`."""

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return f"{self.gpus} {self.accelerator.name}"

    @property
    def flex_start(self) -> bool:
        """Whether flex-start (Dynamic Workload Scheduler) offers it, with queued provisioning or without."""
        return "flex-start" in self.capacities

    @property
    def node_labels(self) -> dict[str, str]:
        """The labels that GKE puts on its nodes."""
        return {
            "cloud.google.com/gke-accelerator": self.accelerator.name,
            "cloud.google.com/gke-accelerator-count": str(self.gpus),
        }

    def offers(self, partition_size: str | None = None, max_clients: int | None = None) -> int:
        """What a node offers as `nvidia.com/gpu`: its GPUs, times partitions, times containers that share one."""
        return self.gpus * self.accelerator.partitions.get(partition_size or "", 1) * (max_clients or 1)


@dataclass(frozen=True, slots=True)
class GpuPrice:
    """A list price of one series: what Google asked on a day, not what a bill will say."""

    series: str
    region: str
    model: PriceModel
    usd_per_vcpu_hour: float
    """One vCPU with its memory."""
    usd_per_gpu_hour: float
    as_of: str | None
    """ISO date as precise as the reading; None: undated."""
    source: str
    """Key of `GpuCatalogue.sources`."""

    def usd_per_node_hour(self, machine: GpuMachine) -> float:
        """What a node costs, without local SSDs and boot disk."""
        return machine.vcpus * self.usd_per_vcpu_hour + machine.gpus * self.usd_per_gpu_hour


def division_labels(partition_size: str | None, strategy: str | None, max_clients: int | None) -> dict[str, str]:
    """The labels that GKE puts on nodes whose GPUs are divided or shared; none where pods get whole GPUs."""
    labels = {} if partition_size is None else {PARTITION_LABEL: partition_size}
    if strategy is not None:
        labels |= {SHARING_LABEL: strategy.lower().replace("_", "-"), CLIENTS_LABEL: str(max_clients)}
    return labels
