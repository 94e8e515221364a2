"""The rules of node pools in one table: id, source, and the function that checks the rule."""

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
    """`check` returns GKE's message if the pool breaks the rule, else None.

    `source` shows that GKE has the rule: a reference, Google's own clients, or an issue with GKE's message. Every rule
    has one, because a twin must not be stricter than GKE.
    """

    id: str
    source: str
    check: Check


_GITHUB = "https://github.com"
_DOCS = "https://docs.cloud.google.com/kubernetes-engine/docs"
_REFERENCE = f"{_DOCS}/reference/rest/v1/projects.locations.clusters.nodePools"
_GPU_DOCS = "https://docs.cloud.google.com/compute/docs/gpus"
_AUTOSCALER = f"{_GITHUB}/GoogleCloudPlatform/cluster-autoscaler/tree/main/pkg/cloudprovider/gke"
_TOOLKIT = f"{_GITHUB}/GoogleCloudPlatform/cluster-toolkit/blob/main/modules/compute/gke-node-pool/main.tf"
_TERRAFORM = f"{_GITHUB}/hashicorp/terraform-provider-google/issues"

# Rejected when the request is made (400 INVALID_ARGUMENT). The order is the order in which users meet them.
RULES = (
    Rule("topology", f"{_AUTOSCALER}/gkeclient (NewInvalidTpuTopologyError)", slices.topology),
    Rule("min-version", f"{_DOCS}/concepts/plan-tpus", slices.min_version),
    Rule("placement-single", f"{_GITHUB}/AI-Hypercomputer/xpk/pull/825 (GKE's words)", slices.placement_single),
    Rule("placement-policy", f"{_REFERENCE}#PlacementPolicy", slices.placement_policy),
    Rule("single-zone", f"{_DOCS}/how-to/compact-placement", slices.single_zone),
    Rule("autoscaling-limits", f"{_REFERENCE}#NodePoolAutoscaling", capacity.autoscaling_limits),
    Rule("atomic-scale", f"{_GITHUB}/vllm-project/ci-infra/pull/545 (GKE's words)", slices.atomic_scale),
    Rule("node-count", f"{_DOCS}/how-to/tpus", slices.node_count),
    Rule("provision-only", f"{_TOOLKIT}, {_DOCS}/how-to/use-gke-dynamic-slicing", slices.provision_only),
    Rule("no-blue-green", _TOOLKIT, slices.no_blue_green),
    Rule("boot-disk", "https://docs.cloud.google.com/compute/docs/disks/hyperdisks", slices.boot_disk),
    Rule("multi-networking", f"{_DOCS}/how-to/setup-multinetwork-support-for-pods", slices.multi_networking),
    Rule(
        "auto-upgrade",
        f"{_GITHUB}/terraform-google-modules/terraform-google-kubernetes-engine/issues/682 (GKE's words)",
        capacity.auto_upgrade,
    ),
    Rule(
        "spot-no-reservation",
        f"{_GITHUB}/GoogleCloudPlatform/cluster-toolkit/pull/4531",
        capacity.spot_without_reservation,
    ),
    Rule("reservation-specific", f"{_REFERENCE}#ReservationAffinity", capacity.specific_reservation),
    Rule("flex-not-spot", _TOOLKIT, capacity.flex_not_spot),
    Rule("flex-no-reservation", f"{_DOCS}/concepts/dws (GKE's words)", capacity.flex_without_reservation),
    Rule("flex-no-static", f"{_DOCS}/concepts/dws (GKE's words)", capacity.flex_from_zero),
    Rule("flex-duration", f"{_AUTOSCALER}/../../autoprovisioning/injection.go", capacity.flex_duration),
    Rule("flex-versions", f"{_DOCS}/concepts/dws", capacity.flex_version),
    Rule("flex-generations", f"{_DOCS}/concepts/dws", capacity.flex_generation),
    Rule(
        "queued-generations",
        f"{_GITHUB}/AI-Hypercomputer/xpk/pull/900 (GKE's words)",
        capacity.queued_generation,
    ),
    Rule("queued-not-spot", _TOOLKIT, capacity.queued_not_spot),
    Rule("queued", f"{_TERRAFORM}/18341 (GKE's words), {_DOCS}/how-to/provisioningrequest", capacity.queued_from_zero),
    Rule("gpu-accelerator", f"{_TERRAFORM}/8387 (GKE's words), {_GPU_DOCS}", gpus.accelerator),
    Rule("gpu-partition", f"{_DOCS}/how-to/gpus-multi", gpus.partition),
    Rule("gpu-sharing", f"{_DOCS}/how-to/timesharing-gpus", gpus.sharing),
    Rule("gpu-local-ssds", "https://docs.cloud.google.com/compute/docs/disks/local-ssd", gpus.local_ssds),
    Rule("gpu-flex", f"{_DOCS}/concepts/dws", gpus.flex_machine),
    Rule("gpu-compact-zone", _TOOLKIT, gpus.compact_zone),
    Rule("gpu-compact-nodes", f"{_DOCS}/how-to/compact-placement", gpus.compact_nodes),
    Rule("gpu-compact-queued", _TOOLKIT, gpus.compact_queued),
    Rule("gpu-compact-flex", _TOOLKIT, gpus.compact_flex),
)

# GKE takes these requests; Compute Engine rejects later, so the operation fails and the pool ends in ERROR.
LATE_RULES = (
    Rule(
        "placement-tpu7x",
        f"{_GITHUB}/vllm-project/ci-infra/pull/547 (Compute Engine's words)",
        slices.workload_policy_needed,
    ),
    Rule("gang-size", f"{_GITHUB}/AI-Hypercomputer/xpk/issues/751 (Compute Engine's words)", slices.gang_size),
)


def check(context: PoolContext) -> None:
    """Reject a pool that breaks a rule of `RULES`."""
    for rule in RULES:
        message = rule.check(context)
        if message is not None:
            raise invalid(message)


def rejected_by_compute_engine(store: Store, cluster: str, pool: Json) -> str | None:
    """The error of the pool's operation, None if Compute Engine accepts the pool."""
    context = PoolContext.of(store, cluster, pool)
    return next(filter(None, (rule.check(context) for rule in LATE_RULES)), None)


def resize_rejection(context: PoolContext, nodes: int) -> str | None:
    """Why a pool cannot be resized, None if it can: https://docs.cloud.google.com/kubernetes-engine/docs/concepts/tpus."""
    if not context.multi_host or nodes == context.nodes_per_zone:
        return None
    return (
        f'Node pool "{context.name}" is a multi-host TPU slice with topology {context.topology}:'
        " it cannot be resized. Create a node pool with the new topology instead."
    )
