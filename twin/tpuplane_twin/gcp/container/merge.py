"""Laying what was asked over what Google fills in."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from tpuplane_twin.gcp.schema import Json


def overlay(base: Json, over: Json) -> Json:
    """`base` with `over` on top: objects merge, everything else replaces."""
    merged = deepcopy(base)
    for key, value in over.items():
        below = merged.get(key)
        both = isinstance(value, dict) and isinstance(below, dict)
        merged[key] = overlay(below, value) if both and below is not None else deepcopy(value)
    return merged


def put_at(target: Json, path: str, value: Any) -> None:
    """Set a field by its dotted path, making the objects on the way."""
    *parents, last = path.split(".")
    for name in parents:
        target = target.setdefault(name, {})
    target[last] = deepcopy(value)
