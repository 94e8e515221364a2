"""The GPU catalogue: accelerators, machine types, zones and prices.

Pure: no Pulumi, no network, no clock. The numbers are in `data/`, each with its source.
"""

from tpuplane.gpu.catalogue import gpu_catalogue
from tpuplane.gpu.model import Accelerator, GpuError, GpuMachine, division_labels

__all__ = ["Accelerator", "GpuError", "GpuMachine", "division_labels", "gpu_catalogue"]
