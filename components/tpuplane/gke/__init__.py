"""Components over GKE: a program makes them on their own, and a `Platform` is made of them. The plan decides all."""

from tpuplane.gke.arguments import ClusterRef
from tpuplane.gke.cluster import Cluster, ClusterArgs
from tpuplane.gke.compute_class import ComputeClass, ComputeClassArgs
from tpuplane.gke.existing_cluster import AnyCluster, ExistingCluster, ExistingClusterArgs
from tpuplane.gke.network import Network, NetworkArgs, SubnetworkArgs
from tpuplane.gke.node_pool import (
    GpuNodePool,
    GpuNodePoolArgs,
    SystemNodePool,
    SystemNodePoolArgs,
    TpuNodePool,
    TpuNodePoolArgs,
)

__all__ = [
    "AnyCluster",
    "Cluster",
    "ClusterArgs",
    "ClusterRef",
    "ComputeClass",
    "ComputeClassArgs",
    "ExistingCluster",
    "ExistingClusterArgs",
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
