"""Ready-made compute classes, from `data/class_presets.yaml`."""

from __future__ import annotations

import functools
from importlib import resources
from typing import Any

import yaml

from tpuplane.spec.classes.compute_class import ComputeClassSpec
from tpuplane.spec.pools.capacity import ReservationUseSpec


@functools.cache
def presets() -> dict[str, Any]:
    """Every preset by its name."""
    text = resources.files("tpuplane.spec").joinpath("data/class_presets.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def expanded(spec: ComputeClassSpec, *, flex_start: bool) -> ComputeClassSpec:
    """The class with the priorities and settings of its preset written out; without a preset the class itself.

    `flex_start` is whether flex-start can be had: where not, that priority is left out.
    """
    if spec.preset is None or spec.tpu is None or spec.reservation is None:
        return spec
    own = spec.model_dump(by_alias=True, exclude_unset=True, exclude={"preset", "tpu", "reservation", "priorities"})
    preset = presets()[spec.preset]
    tpu = spec.tpu.model_dump(by_alias=True, exclude_none=True)
    priorities = [
        _priority(priority, tpu, spec.reservation)
        for priority in preset["priorities"]
        if flex_start or "flexStart" not in priority
    ]
    return ComputeClassSpec.model_validate({**preset, **own, "priorities": priorities})


def _priority(priority: dict[str, Any], tpu: dict[str, Any], reservation: ReservationUseSpec) -> dict[str, Any]:
    if not priority.get("reservation"):
        return {"tpu": tpu, **priority}
    block = {"name": reservation.block} if reservation.block else None
    if block and reservation.sub_block:
        block |= {"reservationSubBlock": {"name": reservation.sub_block}}  # type: ignore[dict-item]
    specific = {"name": reservation.name, **({"reservationBlock": block} if block else {})}
    return {"tpu": tpu, "reservations": {"affinity": "Specific", "specific": [specific]}}
