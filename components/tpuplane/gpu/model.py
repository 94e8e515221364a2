"""The objects of the GPU catalogue: accelerators, machine types, prices."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tpuplane.labels import COUNT_LABEL, GPU_LABEL
from tpuplane.tpu import PriceModel
from tpuplane.tpu.errors import CatalogueError

GpuField = Literal["accelerator", "machine_type", "gpus", "zone"]
GpuDirect = Literal["TCPX", "TCPXO", "RDMA"]
PARTITION_LABEL = "cloud.google.com/gke-gpu-partition-size"
SHARING_LABEL = "cloud.google.com/gke-gpu-sharing-strategy"
CLIENTS_LABEL = "cloud.google.com/gke-max-shared-clients-per-gpu"


class GpuError(CatalogueError[GpuField]):
    """A combination that no machine type with GPUs supports."""


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One model of GPU."""

    name: str
    """Value of the node label `cloud.google.com/gke-accelerator`, and Compute Engine's accelerator type."""
    product: str
    memory_gb: int
    partitions: Mapping[str, int] = field(default_factory=dict)
    """Sizes of multi-instance GPU partitions with their number in one GPU. Empty: not supported."""
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
    """Supported boot disks, preferred first."""
    zones: tuple[str, ...]
    """Zones that list it. Capacity is not guaranteed."""
    compact_nodes: int
    """Most nodes of a compact placement."""
    compact_flex: bool = False
    """Whether compact placement is allowed with flex-start."""
    local_ssds: int = 0
    """Number of bundled local SSDs."""
    local_ssd_choices: tuple[int, ...] = ()
    """Allowed numbers of local SSDs if none are bundled."""
    gpudirect: GpuDirect | None = None
    """Direct communication between GPUs of different hosts."""
    networks: int = 0
    """Additional network interfaces for GPUDirect."""
    min_version: str | None = None
    """The oldest GKE version of its nodes, if known."""
    rdma_version: str | None = None
    """The oldest GKE version for GPUDirect RDMA, if known."""
    capacities: tuple[str, ...] = ("on-demand", "reservation", "spot", "flex-start")
    """Available capacities."""
    default: bool = False
    """Whether it is the default for its accelerator and number of GPUs."""
    sources: tuple[str, ...] = ()
    """Keys of `GpuCatalogue.sources`."""

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return f"{self.gpus} {self.accelerator.name}"

    @property
    def flex_start(self) -> bool:
        """Whether flex-start (Dynamic Workload Scheduler) offers it."""
        return "flex-start" in self.capacities

    @property
    def node_labels(self) -> dict[str, str]:
        """GKE's labels of its nodes."""
        return {GPU_LABEL: self.accelerator.name, COUNT_LABEL: str(self.gpus)}

    def offers(self, partition_size: str | None = None, max_clients: int | None = None) -> int:
        """The capacity `nvidia.com/gpu` of a node: GPUs times partitions times containers that share one."""
        return self.gpus * self.accelerator.partitions.get(partition_size or "", 1) * (max_clients or 1)


@dataclass(frozen=True, slots=True)
class GpuPrice:
    """Google's list price of a series on a day. Bills can differ."""

    series: str
    region: str
    model: PriceModel
    usd_per_vcpu_hour: float
    """One vCPU with its memory."""
    usd_per_gpu_hour: float
    as_of: str | None
    """ISO date with the known precision; None: no date."""
    source: str
    """Key of `GpuCatalogue.sources`."""

    def usd_per_node_hour(self, machine: GpuMachine) -> float:
        """The price of a node without local SSDs and boot disk."""
        return machine.vcpus * self.usd_per_vcpu_hour + machine.gpus * self.usd_per_gpu_hour


def division_labels(partition_size: str | None, strategy: str | None, max_clients: int | None) -> dict[str, str]:
    """The labels that GKE gives nodes with divided or shared GPUs; none if pods get whole GPUs."""
    labels = {} if partition_size is None else {PARTITION_LABEL: partition_size}
    if strategy is not None:
        labels |= {SHARING_LABEL: strategy.lower().replace("_", "-"), CLIENTS_LABEL: str(max_clients)}
    return labels
