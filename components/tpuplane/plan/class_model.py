"""What will exist of compute classes, as plain frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ClassPriorityPlan:
    """One priority of a class, in words: how nodes are bought, and what they are."""

    capacity: str  # "spot", "flex-start", "on-demand", "reservation", or "node pools"
    nodes: str  # "v6e 4x4", "a3-highgpu-8g", or the node pools' names

    def __str__(self) -> str:
        return f"{self.capacity} {self.nodes}"


@dataclass(frozen=True, slots=True)
class ComputeClassPlan:
    """One ComputeClass of a cluster. `spec` is what the API server gets, except for the cluster's account and key."""

    name: str
    spec: dict[str, Any]
    makes_pools: bool  # by GKE: their nodes get the account and the disk key that the cluster's other nodes have
    default_namespaces: tuple[str, ...]
    priorities: tuple[ClassPriorityPlan, ...]
