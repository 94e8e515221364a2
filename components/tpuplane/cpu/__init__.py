"""Machine types without accelerators: sizes, boot disks and regions, as data with sources."""

from tpuplane.cpu.catalogue import CpuError, CpuFamily, CpuMachine, cpu_catalogue

__all__ = ["CpuError", "CpuFamily", "CpuMachine", "cpu_catalogue"]
