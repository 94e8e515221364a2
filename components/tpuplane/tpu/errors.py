"""The one error of the TPU catalogue."""

from __future__ import annotations

from typing import Literal

from tpuplane.tpu.catalogue_error import Refused

Field = Literal["generation", "topology", "machine_type", "accelerator_type", "zone", "version"]


class SliceError(Refused[Field]):
    """A combination that no TPU has."""
