"""Rules of autoscaling, spot, reservations, flex-start and queued provisioning: an error message each, or None."""

from __future__ import annotations

from tpuplane.tpu import GkeVersion, catalogue

from tpuplane_twin.gcp.container.pool_context import PoolContext
from tpuplane_twin.gcp.schema import seconds

_RESERVATION_KEY = "compute.googleapis.com/reservation-name"
_FLEX_SECONDS = (600, 604800)


def autoscaling_limits(context: PoolContext) -> str | None:
    """Per-zone limits or totals, never both; no minimum above its maximum."""
    if not context.autoscaled:
        return None
    per_zone = context.limit("minNodeCount"), context.limit("maxNodeCount")
    total = context.limit("totalMinNodeCount"), context.limit("totalMaxNodeCount")
    if any(per_zone) and any(total):
        return "Autoscaling per-zone node counts and total node counts cannot both be set."
    low, high = total if any(total) else per_zone
    if low < 0 or high < 0:
        return "Autoscaling node counts must not be negative."
    if low > high:
        return f"Autoscaling minimum node count {low} must not be greater than maximum node count {high}."
    return None


def auto_upgrade(context: PoolContext) -> str | None:
    """Clusters of a release channel upgrade their nodes."""
    if not context.cluster.on_channel or context.auto_upgrade:
        return None
    return f"Auto_upgrade cannot be false when release_channel {context.cluster.channel} is set."


def spot_without_reservation(context: PoolContext) -> str | None:
    """Spot nodes do not use reservations."""
    if not context.spot or context.affinity in ("", "NO_RESERVATION"):
        return None
    return f"Spot and preemptible nodes cannot use reservation affinity {context.affinity}."


def specific_reservation(context: PoolContext) -> str | None:
    """A specific reservation needs key and values."""
    if context.affinity != "SPECIFIC_RESERVATION":
        return None
    if context.reservation.get("key") == _RESERVATION_KEY and context.reservation.get("values"):
        return None
    return f"SPECIFIC_RESERVATION needs reservation_affinity.key {_RESERVATION_KEY} and at least one value."


def flex_not_spot(context: PoolContext) -> str | None:
    """Flex-start excludes spot."""
    return "Flex-start node pools cannot be spot or preemptible." if context.flex_start and context.spot else None


def flex_without_reservation(context: PoolContext) -> str | None:
    """Flex-start nodes do not use reservations."""
    if not context.flex_start or context.affinity == "NO_RESERVATION":
        return None
    return "Flex start node pools don't support reservations: set reservation affinity NO_RESERVATION."


def flex_from_zero(context: PoolContext) -> str | None:
    """Flex-start pools are autoscaled from zero."""
    if not context.flex_start:
        return None
    if not context.autoscaled:
        return "Flex start node pools require autoscaling enabled."
    if context.nodes_per_zone:
        return "Flex start node pools require initial node count to be set to 0."
    return None


def flex_duration(context: PoolContext) -> str | None:
    """Flex-start nodes live for at most seven days."""
    duration = context.config.get("maxRunDuration")
    if not context.flex_start or duration is None:
        return None
    low, high = _FLEX_SECONDS
    if low <= seconds(duration) <= high:
        return None
    return f"Max_run_duration {duration} of a flex-start node pool must be between {low}s and {high}s."


def flex_version(context: PoolContext) -> str | None:
    """Flex-start for TPUs needs a recent GKE."""
    if not context.flex_start or context.tpu is None:
        return None
    version, needed = context.version, catalogue().min_version("flex-start-tpu")
    if GkeVersion.parse(version) >= needed:
        return None
    return f"Flex-start TPU node pools need GKE version {needed} or later; the node pool has {version}."


def flex_generation(context: PoolContext) -> str | None:
    """Flex-start does not support every generation."""
    if not context.flex_start or context.tpu is None or context.tpu[0].flex_start:
        return None
    return f"Flex-start is not supported for machine type {context.config['machineType']}."


def queued_generation(context: PoolContext) -> str | None:
    """Flex-start supports ProvisioningRequests for some generations only."""
    if not (context.queued and context.flex_start) or context.tpu is None or context.tpu[0].queued_provisioning:
        return None
    return "Flex start node pools don't support TPUs with queued provisioning."


def queued_not_spot(context: PoolContext) -> str | None:
    """Queued provisioning excludes spot."""
    if not context.queued or not context.spot:
        return None
    return "Queued provisioning node pools cannot be spot or preemptible."


def queued_from_zero(context: PoolContext) -> str | None:
    """Queued pools are autoscaled from zero, without reservation."""
    if not context.queued:
        return None
    if context.affinity != "NO_RESERVATION":
        return "Queued_provisioning requires reservation affinity to be set to none."
    least = context.limit("minNodeCount") or context.limit("totalMinNodeCount")
    if not context.autoscaled or least or context.nodes_per_zone:
        return "Queued provisioning node pools need autoscaling and an initial and minimum node count of 0."
    return None
