"""Pods on slices: one for each host, with all of its chips."""

from __future__ import annotations

from tpuplane.labels import TPU
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
