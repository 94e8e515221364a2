"""The component that composes network, clusters, node pools and namespaces from one description."""

from tpuplane.args import PlatformArgs
from tpuplane.platform.platform import ClusterSummary, NodePoolSummary, Platform

__all__ = ["ClusterSummary", "NodePoolSummary", "Platform", "PlatformArgs"]
