"""The hardware and the number of a pool's nodes, in the same form for TPU slices and GPU nodes."""

from dataclasses import dataclass
from typing import Literal

from tpuplane.spec.core.errors import Path


@dataclass(frozen=True, slots=True)
class Scale:
    """The number of slices or nodes that the user asks for, and the fields that it is in."""

    unit: Literal["slices", "nodes"]
    """The field of the fixed number."""
    fixed: int | None
    bounds: tuple[int, int] | None
    """Minimum and maximum; None if the pool is not autoscaled."""

    @property
    def minimum_field(self) -> str:
        """The field of the minimum under `autoscaling`."""
        return f"min{self.unit.capitalize()}"

    @property
    def maximum_field(self) -> str:
        """The field of the maximum under `autoscaling`."""
        return f"max{self.unit.capitalize()}"

    @property
    def largest(self) -> Path:
        """The field that sets the size at full scale."""
        return ("autoscaling", self.maximum_field) if self.bounds else (self.unit,)

    @property
    def minimum(self) -> int:
        """Slices or nodes that always exist."""
        return self.bounds[0] if self.bounds else self.maximum

    @property
    def maximum(self) -> int:
        """Slices or nodes at full scale; 1 if the file has no number."""
        if self.bounds is not None:
            return self.bounds[1]
        return 1 if self.fixed is None else self.fixed


@dataclass(frozen=True, slots=True)
class PoolSize:
    """The nodes of a pool. A piece is a TPU slice or a GPU node. Counts of nodes are those of one zone."""

    scale: Scale
    hardware: str  # generation or accelerator
    machine_type: str
    boot_disk: str  # default type
    counted: Literal["chips", "gpus"]
    per_node: int  # chips or GPUs
    offered: int  # by one piece: chips of a slice, or what a node offers as nvidia.com/gpu
    zones: tuple[str, ...]  # empty where the user has to choose
    nodes_per_piece: int = 1  # hosts of a slice

    @property
    def spans_pools(self) -> bool:
        """Whether its slices have several hosts, so that each slice is a GKE node pool."""
        return self.nodes_per_piece > 1

    @property
    def min_nodes(self) -> int:
        """Nodes that always exist."""
        return self.scale.minimum * self.nodes_per_piece

    @property
    def max_nodes(self) -> int:
        """Nodes at full scale."""
        return self.scale.maximum * self.nodes_per_piece

    @property
    def piece(self) -> int:
        """Chips of one slice, or GPUs of one node; 0 if the pool never has any."""
        return self.nodes_per_piece * self.per_node if self.max_nodes else 0

    @property
    def always(self) -> int:
        """Chips or GPUs that always exist."""
        return self.min_nodes * len(self.zones) * self.per_node

    @property
    def nodes(self) -> int:
        """Nodes at full scale in all zones."""
        return self.max_nodes * (len(self.zones) or 1)

    @property
    def quota(self) -> int:
        """The maximum quota of teams: slices, or GPUs as in the requests of pods."""
        pieces = self.nodes // self.nodes_per_piece
        return pieces if self.counted == "chips" else pieces * self.offered

    def reserved(self, quota: int) -> int:
        """The chips or GPUs of the hosts for a quota of teams: in slices, or in GPUs as in the requests of pods."""
        if self.counted == "chips":
            return quota * self.piece
        return -(-quota // self.offered) * self.per_node
