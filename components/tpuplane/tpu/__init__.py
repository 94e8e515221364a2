"""The TPU catalogue: generations, machine types, topologies, zones and prices; and `Slice`, built on it.

Pure: no Pulumi, no network, no clock. The numbers are in `data/`, each with its source.
"""

from __future__ import annotations

from tpuplane.tpu.catalogue import Catalogue, Offer, catalogue, region_of
from tpuplane.tpu.errors import Field, SliceError
from tpuplane.tpu.model import (
    AcceleratorTypeName,
    Availability,
    ChipFacts,
    Generation,
    MachineType,
    Placement,
    Price,
    PriceModel,
)
from tpuplane.tpu.nearest import nearest_names
from tpuplane.tpu.slices import Slice
from tpuplane.tpu.topology import TopologyRule
from tpuplane.tpu.versions import GkeVersion

__all__ = [
    "AcceleratorTypeName",
    "Availability",
    "Catalogue",
    "ChipFacts",
    "Field",
    "Generation",
    "GkeVersion",
    "MachineType",
    "Offer",
    "Placement",
    "Price",
    "PriceModel",
    "Slice",
    "SliceError",
    "TopologyRule",
    "catalogue",
    "nearest_names",
    "region_of",
]
