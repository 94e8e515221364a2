"""Thin component resources over GKE. They read the plan and decide nothing."""

from tpuplane.gke.cluster import Cluster, ClusterArgs
from tpuplane.gke.cluster_ref import ClusterRef
from tpuplane.gke.compute_class import ComputeClass, ComputeClassArgs
from tpuplane.gke.existing_cluster import AnyCluster, ExistingCluster, ExistingClusterArgs
from tpuplane.gke.gpu_node_pool import GpuNodePool, GpuNodePoolArgs
from tpuplane.gke.network import Network, NetworkArgs
from tpuplane.gke.node_pool import (
    SystemNodePool,
    SystemNodePoolArgs,
    TpuNodePool,
    TpuNodePoolArgs,
)
from tpuplane.gke.service_account import NodeServiceAccount, NodeServiceAccountArgs

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
    "NodeServiceAccount",
    "NodeServiceAccountArgs",
    "SystemNodePool",
    "SystemNodePoolArgs",
    "TpuNodePool",
    "TpuNodePoolArgs",
]
