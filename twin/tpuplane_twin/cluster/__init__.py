"""The twin's control planes: one per GKE cluster."""

from __future__ import annotations

from tpuplane_twin.cluster.control_plane import ControlPlane, NodeSummary
from tpuplane_twin.cluster.errors import ClusterError

__all__ = ["ClusterError", "ControlPlane", "NodeSummary"]
