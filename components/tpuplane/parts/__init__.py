"""The components that a program uses one by one, on what is there already.

Each takes a description of itself alone and plans it; the resources are those of `tpuplane.gke`, which a `Platform` is
made of, too.
"""

from tpuplane.parts.cluster import Cluster, ClusterArgs
from tpuplane.parts.compute_class import ComputeClass, ComputeClassArgs
from tpuplane.parts.network import Network, NetworkArgs, SubnetworkArgs
from tpuplane.parts.node_pools import (
    GpuNodePool,
    GpuNodePoolArgs,
    SystemNodePool,
    SystemNodePoolArgs,
    TpuNodePool,
    TpuNodePoolArgs,
)

__all__ = [
    "Cluster",
    "ClusterArgs",
    "ComputeClass",
    "ComputeClassArgs",
    "GpuNodePool",
    "GpuNodePoolArgs",
    "Network",
    "NetworkArgs",
    "SubnetworkArgs",
    "SystemNodePool",
    "SystemNodePoolArgs",
    "TpuNodePool",
    "TpuNodePoolArgs",
]
