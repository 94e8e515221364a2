"""The component that composes network, clusters, node pools and namespaces from one description."""

from tpuplane.args import PlatformArgs
from tpuplane.platform.platform import Platform

__all__ = ["Platform", "PlatformArgs"]
