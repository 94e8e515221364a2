"""Google's API of the twin: Kubernetes Engine, Compute Engine's networking, service accounts and IAM policies."""

from __future__ import annotations

from tpuplane_twin.gcp.app import create_app, create_pool, delete_pool, reclaim, repair, resize, resume
from tpuplane_twin.gcp.backend import (
    BackendError,
    ClusterBackend,
    Endpoint,
    Instance,
    Numbers,
    node_counts,
    node_numbers,
)
from tpuplane_twin.gcp.monitoring import give_channel
from tpuplane_twin.gcp.store import Store, StoreError

__all__ = [
    "BackendError",
    "ClusterBackend",
    "Endpoint",
    "Instance",
    "Numbers",
    "Store",
    "StoreError",
    "create_app",
    "create_pool",
    "delete_pool",
    "give_channel",
    "node_counts",
    "node_numbers",
    "reclaim",
    "repair",
    "resize",
    "resume",
]
