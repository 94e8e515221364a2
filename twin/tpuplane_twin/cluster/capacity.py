"""What nodes say of how they were bought: GKE's labels and taints for spot, flex-start, queueing and reservations."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from tpuplane.labels import QUEUED_LABEL

from tpuplane_twin.gcp.backend import CUBE, capacity_of

_PATH = re.compile(
    r"(?:projects/(?P<project>[^/]+)/reservations/)?(?P<name>[^/]+)"
    r"(?:/reservationBlocks/(?P<block>[^/]+))?(?:/reservationSubBlocks/(?P<subblock>[^/]+))?"
)
_LABELS = {
    "name": "cloud.google.com/reservation-name",
    "project": "cloud.google.com/reservation-project",
    "block": "cloud.google.com/reservation-blocks",
    "subblock": "cloud.google.com/reservation-subblocks",
}


def capacity_labels(pool: dict[str, Any], cluster: dict[str, Any]) -> dict[str, str]:
    """GKE's labels for the way in which a pool's nodes are bought."""
    config = pool["config"]
    capacity = capacity_of(config)
    alone = capacity in ("spot", "flex-start")
    labels = {"cloud.google.com/gke-provisioning": capacity if alone else "standard"}
    if alone:
        labels[f"cloud.google.com/gke-{capacity}"] = "true"
    if duration := config.get("maxRunDuration"):
        labels["cloud.google.com/gke-max-run-duration-seconds"] = duration.removesuffix("s")
    if _queued(pool):
        labels[QUEUED_LABEL] = "true"
    return labels | _reservation_labels(config.get("reservationAffinity", {})) | _cube_labels(pool, cluster)


def capacity_taints(pool: dict[str, Any]) -> list[dict[str, str]]:
    """GKE's taint that keeps pods without a ProvisioningRequest away."""
    return [{"key": QUEUED_LABEL, "value": "true", "effect": "NoSchedule"}] if _queued(pool) else []


def _cube_labels(pool: dict[str, Any], cluster: dict[str, Any]) -> dict[str, str]:
    """GKE's labels of a cube for dynamic slicing: its block, its name among all cubes, and that it is whole."""
    if not pool.get(CUBE):
        return {}
    found = _PATH.fullmatch(pool["config"]["reservationAffinity"]["values"][0])
    reserved = found.groupdict() if found else {}
    return {
        "cloud.google.com/gke-accelerator-topology-mode": "PROVISION_ONLY",
        "cloud.google.com/gce-topology-block": _id(reserved.get("block") or reserved.get("name")),
        "cloud.google.com/gke-tpu-partition-4x4x4-id": _id(cluster.get("selfLink"), pool["name"]),
        "cloud.google.com/gke-tpu-partition-4x4x4-state": "HEALTHY",
    }


def _id(*of: str | None) -> str:
    return hashlib.sha256(repr(of).encode()).hexdigest()[:32]


def _queued(pool: dict[str, Any]) -> bool:
    return bool(pool.get("queuedProvisioning", {}).get("enabled"))


def _reservation_labels(affinity: dict[str, Any]) -> dict[str, str]:
    values = affinity.get("values", [])
    if affinity.get("consumeReservationType") != "SPECIFIC_RESERVATION" or not values:
        return {}
    found = _PATH.fullmatch(values[0])
    parts = found.groupdict() if found else {}
    named = {label: parts[part] for part, label in _LABELS.items() if parts.get(part)}
    return {"cloud.google.com/reservation-affinity": "specific", **named}
