"""The resource labels that GKE gives to a node pool: release notes of 2025-02-20.

SkyPilot reads them (skypilot-org/skypilot, sky/provision/kubernetes/utils.py). No source shows the provisioning model
of a pool with a reservation, so such a pool has none here.
"""

from tpuplane_twin.gcp.locations import machine_named
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.views import PoolView


def own_labels(pool: Json) -> dict[str, str]:
    """GKE's labels of a pool, which no request changes."""
    view = PoolView(pool)
    machine, labels = machine_named(view.machine_type), {}
    if not view.reserved:
        labels["goog-gke-node-pool-provisioning-model"] = "spot" if view.spot else view.capacity
    if view.config.get("accelerators"):
        labels["goog-gke-accelerator-type"] = view.config["accelerators"][0]["acceleratorType"]
    if machine is not None and machine.generation is not None and machine.tpu is not None:
        single = view.placement_topology in ("", machine.tpu.single_host_topology)
        labels["goog-gke-accelerator-type"] = machine.generation.label
        labels["goog-gke-tpu-node-pool-type"] = "single-host" if single else "multi-host"
    return labels
