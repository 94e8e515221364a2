"""Every rule that a node pool must meet, in one table: id, source, and the function that words the refusal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tpuplane_twin.gcp.container import capacity_rules as capacity
from tpuplane_twin.gcp.container import gpu_rules as gpus
from tpuplane_twin.gcp.container import slice_rules as slices
from tpuplane_twin.gcp.container.pool_context import PoolContext
from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store

Check = Callable[[PoolContext], str | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """`check` answers the message of the refusal, None where the pool meets the rule.

    Sources: ca = GoogleCloudPlatform/cluster-autoscaler, xpk = AI-Hypercomputer/xpk, toolkit =
    GoogleCloudPlatform/cluster-toolkit, doc_* = GKE's documentation, others a public issue with GKE's own message.
    """

    id: str
    source: str
    check: Check


# Refused when the request is made (400 INVALID_ARGUMENT). The order is the order in which users meet them.
RULES = (
    Rule("topology", "ca, doc_gke_tpus", slices.topology),
    Rule("min-version", "doc_gke_tpus, doc_tpu7x", slices.min_version),
    Rule("placement-single", "ca, keras-team/kinetic", slices.placement_single),
    Rule("placement-multi", "ca, xpk, toolkit", slices.placement_multi),
    Rule("placement-policy", "xpk, toolkit, doc_tpu7x", slices.placement_policy),
    Rule("single-zone", "ca, doc_gke_tpus", slices.single_zone),
    Rule("autoscaling-limits", "GKE's NodePoolAutoscaling reference", capacity.autoscaling_limits),
    Rule("atomic-scale", "vllm-project/ci-infra#545, ca, xpk", slices.atomic_scale),
    Rule("node-count", "toolkit, xpk", slices.node_count),
    Rule("provision-only", "toolkit, xpk", slices.provision_only),
    Rule("no-blue-green", "toolkit", slices.no_blue_green),
    Rule("boot-disk", "ca", slices.boot_disk),
    Rule("multi-networking", "doc_multi_network", slices.multi_networking),
    Rule("auto-upgrade", "terraform-google-modules/terraform-google-kubernetes-engine#682", capacity.auto_upgrade),
    Rule("spot-no-reservation", "toolkit", capacity.spot_without_reservation),
    Rule("reservation-specific", "xpk, toolkit", capacity.specific_reservation),
    Rule("flex-not-spot", "toolkit", capacity.flex_not_spot),
    Rule("flex-no-reservation", "toolkit, xpk", capacity.flex_without_reservation),
    Rule("flex-auto-repair", "toolkit", capacity.flex_without_repair),
    Rule("flex-no-static", "toolkit, xpk", capacity.flex_from_zero),
    Rule("location-policy-any", "xpk, toolkit, doc_flex", capacity.location_policy_any),
    Rule("flex-duration", "xpk, doc_flex", capacity.flex_duration),
    Rule("flex-versions", "doc_flex", capacity.flex_version),
    Rule("flex-generations", "doc_flex, ca", capacity.flex_generation),
    Rule("queued-generations", "xpk#900 (GKE's words), toolkit#5218", capacity.queued_generation),
    Rule("queued-not-spot", "toolkit", capacity.queued_not_spot),
    Rule("queued", "xpk, ca", capacity.queued_from_zero),
    Rule("gpu-accelerator", "terraform-provider-google#8387 (GKE's words), ca", gpus.accelerator),
    Rule("gpu-partition", "ca", gpus.partition),
    Rule("gpu-sharing", "ca", gpus.sharing),
    Rule("gpu-local-ssds", "ca", gpus.local_ssds),
    Rule("gpu-flex", "ca", gpus.flex_machine),
    Rule("gpu-compact-zone", "toolkit", gpus.compact_zone),
    Rule("gpu-compact-nodes", "ca", gpus.compact_nodes),
    Rule("gpu-compact-queued", "toolkit", gpus.compact_queued),
    Rule("gpu-compact-flex", "toolkit", gpus.compact_flex),
)

# GKE takes these requests; Compute Engine refuses later, so the operation fails and the pool ends in ERROR.
LATE_RULES = (
    Rule("placement-tpu7x", "vllm-project/ci-infra#547", slices.workload_policy_needed),
    Rule("gang-size", "AI-Hypercomputer/xpk#751", slices.gang_size),
)


def check(context: PoolContext) -> None:
    """Refuse a pool that breaks a rule of `RULES`."""
    for rule in RULES:
        message = rule.check(context)
        if message is not None:
            raise invalid(message)


def refused_by_compute_engine(store: Store, cluster: str, pool: Json) -> str | None:
    """The error that the pool's operation ends with, None if Compute Engine takes it."""
    context = PoolContext.of(store, cluster, pool)
    return next(filter(None, (rule.check(context) for rule in LATE_RULES)), None)


def resize_refused(context: PoolContext, nodes: int) -> str | None:
    """Why a pool cannot be resized (rule immutable-size, doc_gke_tpus), None if it can."""
    if not context.multi_host or nodes == int(context.pool.get("initialNodeCount", 0)):
        return None
    return (
        f'Node pool "{context.pool["name"]}" is a multi-host TPU slice with topology {context.topology}:'
        " it cannot be resized. Create a node pool with the new topology instead."
    )
