"""Pods on slices, one for each host, and on GPU nodes, one for each node or each part of a divided GPU."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from tpuplane.gpu import GpuMachine, division_labels, gpu_catalogue
from tpuplane.gpu.model import PARTITION_LABEL, SHARING_LABEL
from tpuplane.labels import GPU, GPU_LABEL, TPU
from tpuplane.spec.core.fields import Spec, reject
from tpuplane.spec.pools.gpu import GpuSharingStrategy
from tpuplane.tpu import MachineType, Slice
from tpuplane.workloads.pods import PodsSpec


class SliceGroupSpec(PodsSpec):
    """Pods on slices of one shape: one for each host, with all of the host's chips."""

    generation: str
    """TPU generation, such as v6e."""

    topology: str
    """Chips of one slice in each dimension, such as 4x4."""

    @property
    def slice(self) -> Slice:
        """The shape of one slice. Raises `SliceError` if it does not exist."""
        return Slice.of(self.generation, self.topology, self.machine_type)

    @property
    def host(self) -> MachineType:
        """The machine of a host."""
        return self.slice.machine

    @property
    def devices(self) -> tuple[str, int]:
        """All chips of a host."""
        return TPU, self.host.chips

    @property
    def device_labels(self) -> dict[str, str]:
        """Generation and topology, as in Google's samples, and the chips of a host, because two machine types can make
        slices of the same shape. GKE adds this label to pods without it."""
        return self.slice.node_labels


class SharedGpuSpec(Spec):
    """How pods share a GPU. Use the settings of the node pool."""

    strategy: GpuSharingStrategy
    """TIME_SHARING: containers take turns. MPS: they run together, each with a part of the GPU, and share memory with
    processes of the node (hostIPC)."""

    max_clients: Annotated[int, Field(ge=2, le=48)]
    """Containers on one GPU, or on one partition of it, from 2 to 48."""


class GpuGroupSpec(PodsSpec):
    """Pods on nodes with the same kind of GPU: one for each node, with all of its GPUs.

    If GPUs are divided or shared, one pod for each part, because a container can have only one part.
    """

    accelerator: str | None = None
    """GPU, as in GKE's label cloud.google.com/gke-accelerator, such as nvidia-l4. Default: the GPU of `machineType`."""

    gpus: Annotated[int, Field(ge=1)] | None = None
    """GPUs of one node. Default: those of `machineType`, else the smallest machine type with this accelerator."""

    sharing: SharedGpuSpec | None = None
    """Run on GPUs with this sharing. Default: on GPUs without sharing."""

    partition_size: str | None = None
    """Run on partitions of this size (multi-instance GPU), such as 1g.10gb. Default: on whole GPUs."""

    @model_validator(mode="after")
    def _check_gpus(self) -> Self:
        sizes = self.host.accelerator.partitions
        if self.partition_size is not None and self.partition_size not in sizes:
            cause = f"{self.partition_size!r} is not a partition of {self.host.accelerator.name}"
            allowed = ", ".join(sizes) or "none: this GPU cannot be partitioned"
            raise reject(f"partitionSize: {cause}; allowed: {allowed}")
        if self.capacity not in (None, *self.host.capacities):
            allowed = ", ".join(self.host.capacities)
            raise reject(f"capacity: {self.capacity!r} is not offered for {self.host.name}; allowed: {allowed}")
        return self

    @property
    def host(self) -> GpuMachine:
        """The machine type of a node. Raises `GpuError` if accelerator, GPUs and machine type do not match."""
        return gpu_catalogue().machine_for(self.machine_type, self.accelerator, self.gpus)

    @property
    def devices(self) -> tuple[str, int]:
        """All GPUs of a node, or one part of one."""
        return GPU, self.host.gpus if self.per_host == 1 else 1

    @property
    def device_labels(self) -> dict[str, str]:
        """The GPU, and how it is divided."""
        return {GPU_LABEL: self.host.accelerator.name, **self._division}

    @property
    def absent_labels(self) -> tuple[str, ...]:
        """GKE's taint is the same for divided and whole GPUs, so pods for whole GPUs must exclude divided ones."""
        shared = (label for label in (PARTITION_LABEL, SHARING_LABEL) if label not in self._division)
        return (*shared, *super().absent_labels)

    @property
    def host_ipc(self) -> bool:
        """GKE's MPS server runs on the node, and its clients need shared memory with it."""
        return self.sharing is not None and self.sharing.strategy == "MPS"

    @property
    def per_host(self) -> int:
        """One pod, or as many as the node has parts of GPUs."""
        if not self._division:
            return 1
        return self.host.offers(self.partition_size, self.sharing.max_clients if self.sharing else None)

    @property
    def _division(self) -> dict[str, str]:
        sharing = self.sharing
        return division_labels(
            self.partition_size, sharing.strategy if sharing else None, sharing.max_clients if sharing else None
        )
