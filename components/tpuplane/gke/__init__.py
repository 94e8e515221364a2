"""Thin component resources over GKE. They read the plan and decide nothing."""

from tpuplane.gke.cluster import Cluster, ClusterArgs
from tpuplane.gke.network import Network, NetworkArgs
from tpuplane.gke.node_pool import (
    ClusterRef,
    SystemNodePool,
    SystemNodePoolArgs,
    TpuNodePool,
    TpuNodePoolArgs,
)
from tpuplane.gke.service_account import NodeServiceAccount, NodeServiceAccountArgs

__all__ = [
    "Cluster",
    "ClusterArgs",
    "ClusterRef",
    "Network",
    "NetworkArgs",
    "NodeServiceAccount",
    "NodeServiceAccountArgs",
    "SystemNodePool",
    "SystemNodePoolArgs",
    "TpuNodePool",
    "TpuNodePoolArgs",
]
