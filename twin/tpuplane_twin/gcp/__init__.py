"""Google's API of the twin: Kubernetes Engine, Compute Engine's networking, service accounts and IAM policies."""

from __future__ import annotations

from tpuplane_twin.gcp.app import create_app, resume
from tpuplane_twin.gcp.backend import BackendError, ClusterBackend, Endpoint, node_counts
from tpuplane_twin.gcp.status import Snapshot, snapshot
from tpuplane_twin.gcp.store import Store, StoreError

__all__ = [
    "BackendError",
    "ClusterBackend",
    "Endpoint",
    "Snapshot",
    "Store",
    "StoreError",
    "create_app",
    "node_counts",
    "resume",
    "snapshot",
]
