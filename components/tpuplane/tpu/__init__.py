"""The TPU catalogue: generations, machine types, topologies, zones and prices; and `Slice`, built on it.

Pure: no Pulumi, no network, no clock. The numbers are in `data/`, each with its source.
"""

from tpuplane.tpu.catalogue import catalogue
from tpuplane.tpu.errors import SliceError
from tpuplane.tpu.model import Generation, MachineType, Price, PriceModel
from tpuplane.tpu.slices import Slice
from tpuplane.tpu.versions import GkeVersion

__all__ = ["Generation", "GkeVersion", "MachineType", "Price", "PriceModel", "Slice", "SliceError", "catalogue"]
