"""The one error of the GPU catalogue: what was refused, why, what is allowed, and what comes nearest."""

from __future__ import annotations

from typing import Literal

from tpuplane.tpu.catalogue_error import Refused

GpuField = Literal["accelerator", "machine_type", "gpus", "zone"]


class GpuError(Refused[GpuField]):
    """A combination that no machine with GPUs has."""
