"""TPU slices, node pools and platforms on GKE.

The names below are looked up when they are first used: the catalogue, the spec and the plan are pure, and the command
line, the policies and the twin use them without waiting for Pulumi and its providers to be imported.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpuplane.plan import PlatformPlan
    from tpuplane.platform import Platform, PlatformArgs
    from tpuplane.spec import PlatformSpec, SpecError
    from tpuplane.tpu import Slice, SliceError

__all__ = [
    "Platform",
    "PlatformArgs",
    "PlatformPlan",
    "PlatformSpec",
    "Slice",
    "SliceError",
    "SpecError",
]

_HOMES = {
    "Platform": "tpuplane.platform",
    "PlatformArgs": "tpuplane.platform",
    "PlatformPlan": "tpuplane.plan",
    "PlatformSpec": "tpuplane.spec",
    "Slice": "tpuplane.tpu",
    "SliceError": "tpuplane.tpu",
    "SpecError": "tpuplane.spec",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
