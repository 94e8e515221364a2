"""Names on Kubernetes nodes that plan and status both speak of. Pure, and quick to import."""

from __future__ import annotations

TPU = "google.com/tpu"
"""The resource that a TPU host offers, in chips."""

GPU = "nvidia.com/gpu"
"""The resource that a node with GPUs offers."""

GKE_POOL_LABEL = "cloud.google.com/gke-nodepool"
"""GKE's label of every node: the name of its node pool."""

CAPACITY_LABEL = "tpuplane-capacity"
"""How a pool is bought. GKE labels reserved and on-demand hosts alike; Kueue must tell them apart."""
