"""The GPU catalogue: accelerators, the machine types that have them, where they are and what they cost.

Pure: no Pulumi, no network, no clock. The numbers are in `data/`, each with its source.
"""

from __future__ import annotations

from tpuplane.gpu.catalogue import GpuCatalogue, gpu_catalogue
from tpuplane.gpu.errors import GpuError, GpuField
from tpuplane.gpu.model import Accelerator, GpuDirect, GpuMachine, GpuPrice

__all__ = [
    "Accelerator",
    "GpuCatalogue",
    "GpuDirect",
    "GpuError",
    "GpuField",
    "GpuMachine",
    "GpuPrice",
    "gpu_catalogue",
]
