"""Names on Kubernetes nodes that plan and status both speak of. Pure, and quick to import."""

from __future__ import annotations

TPU = "google.com/tpu"
"""The resource that a TPU host offers, in chips."""

GPU = "nvidia.com/gpu"
"""The resource that a node with GPUs offers."""

GKE_POOL_LABEL = "cloud.google.com/gke-nodepool"
"""GKE's label of every node: the name of its node pool."""

POOL_LABEL = "tpuplane-pool"
"""The pool that a node or a Google Cloud resource belongs to."""

PLATFORM_LABEL = "tpuplane-platform"
"""The platform that a Google Cloud resource belongs to."""

CAPACITY_LABEL = "tpuplane-capacity"
"""How a pool is bought. GKE labels reserved and on-demand hosts alike; Kueue must tell them apart."""

CLASS_LABEL = "cloud.google.com/compute-class"
"""GKE's label, and key of the taint, of nodes in a compute class."""

MACHINE_LABEL = "node.kubernetes.io/instance-type"
"""Kubernetes' label of every node: its machine type."""

RESERVATION_LABEL = "cloud.google.com/reservation-name"
"""GKE's label of reserved hosts."""

QUEUED_LABEL = "cloud.google.com/gke-queued"
"""GKE's label, and key of the taint, of nodes that come by ProvisioningRequest only."""

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
"""What a job names its local queue by; Kueue puts it on those that name none and have a default one."""

PRIORITY_CLASS_LABEL = "kueue.x-k8s.io/priority-class"
"""What a job names its WorkloadPriorityClass by."""

# Reserved hosts are standard too; RESERVATION_LABEL tells them apart.
_BOUGHT = {
    "on-demand": {"cloud.google.com/gke-provisioning": "standard"},
    "spot": {"cloud.google.com/gke-spot": "true"},
    "flex-start": {"cloud.google.com/gke-flex-start": "true"},
}


def bought_labels(capacity: str, reservation: str | None = None) -> dict[str, str]:
    """GKE's labels of hosts that are bought in this way, of the reservation of this name or path."""
    own = {RESERVATION_LABEL: reservation_name(reservation)} if reservation is not None else {}
    return {**_BOUGHT.get(capacity, {}), **own}


def reservation_name(path: str) -> str:
    """`nightly` of projects/P/reservations/nightly/reservationBlocks/B, and of nightly itself."""
    return path.rpartition("reservations/")[2].partition("/")[0]
