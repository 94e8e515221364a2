"""The resource labels and taints that GKE gives to a node pool.

Labels: release notes of 2025-02-20. SkyPilot reads them (skypilot-org/skypilot, sky/provision/kubernetes/utils.py). No
source shows the provisioning model of a pool with a reservation, so such a pool has none here.

Taints: hashicorp/terraform-provider-google#7928 shows that of GPUs. The field `effective_taints` of the official
provider describes all.
"""

from tpuplane.labels import GPU, QUEUED_LABEL, TPU

from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.views import PoolView


def own_labels(pool: Json) -> dict[str, str]:
    """GKE's labels of a pool, which no request changes."""
    view = PoolView(pool)
    labels = {}
    if not view.reserved:
        labels["goog-gke-node-pool-provisioning-model"] = "spot" if view.spot else view.capacity
    if view.config.get("accelerators"):
        labels["goog-gke-accelerator-type"] = view.config["accelerators"][0]["acceleratorType"]
    if view.generation is not None and view.tpu is not None:
        single = view.placement_topology in ("", view.tpu.single_host_topology)
        labels["goog-gke-accelerator-type"] = view.generation.label
        labels["goog-gke-tpu-node-pool-type"] = "single-host" if single else "multi-host"
    return labels


def own_taints(view: PoolView) -> list[Json]:
    """GKE's taints of a pool, which no request removes; a request can have one of their keys itself."""
    own = ((TPU, "present", view.tpu), (GPU, "present", view.gpu), (QUEUED_LABEL, "true", view.queued))
    asked = {taint["key"] for taint in view.config.get("taints", ())}
    return [
        {"key": key, "value": value, "effect": "NO_SCHEDULE"} for key, value, has in own if has and key not in asked
    ]
