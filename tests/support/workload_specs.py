"""What the tests of workloads describe: one Ray cluster, one multislice program."""

from __future__ import annotations

from typing import Any

from tpuplane.tpu import catalogue
from tpuplane.workloads import MultisliceSpec

SHAPES = [
    (generation.name, topology)
    for generation in catalogue().generations
    for topology in generation.topologies
    if generation.machines_for(topology)
]
V6E = {"generation": "v6e", "topology": "4x4", "image": "rayproject/ray:2.52.0"}


def cluster(**changes: Any) -> dict[str, Any]:
    """A Ray cluster on one v6e 4x4 slice."""
    return {"namespace": "research", "workers": {"tpu": V6E}} | changes


def multislice(**changes: Any) -> MultisliceSpec:
    """A program on two v6e 4x4 slices."""
    return MultisliceSpec.model_validate(
        {**V6E, "namespace": "research", "slices": 2, "command": ["python", "train.py"]} | changes
    )
