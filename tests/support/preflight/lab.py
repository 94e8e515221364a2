"""A description, the Google Cloud project that has exactly what it needs, and their comparison."""

from __future__ import annotations

from typing import Any

from tpuplane.plan import plan
from tpuplane.preflight import Findings, Google, check_online
from tpuplane.spec import parse_platform

from tests.support.preflight.google_cloud import metric, quota

DESCRIPTION: dict[str, Any] = {
    "name": "lab",
    "project": "tpuplane-lab",
    "reservations": {
        "nightly": {"generation": "v6e", "zone": "us-central1-b", "chips": 64, "machineType": "ct6e-standard-4t"},
        "shared": {"generation": "v5p", "zone": "us-east5-a", "chips": 512, "project": "tpu-bank"},
    },
    "quotas": {"us-central1": {"v5e": {"onDemand": 128, "preemptible": 64}}},
    "clusters": {"main": {"location": "us-central1"}},
}
NIGHTLY = "compute/v1/projects/tpuplane-lab/zones/us-central1-b/reservations/nightly"
SHARED = "compute/v1/projects/tpu-bank/zones/us-east5-a/reservations/shared"
ANSWERS: dict[str, Any] = {
    NIGHTLY: {
        "name": "nightly",
        "status": "READY",
        "specificReservation": {"count": "16", "instanceProperties": {"machineType": "ct6e-standard-4t"}},
    },
    SHARED: {
        "name": "shared",
        "status": "READY",
        "shareSettings": {"shareType": "SPECIFIC_PROJECTS", "projectMap": {"tpuplane-lab": {"projectId": "1"}}},
        "aggregateReservation": {
            "vmFamily": "VM_FAMILY_CLOUD_TPU_POD_SLICE_CT5P",
            "reservedResources": [{"accelerator": {"acceleratorCount": 512, "acceleratorType": "ct5p"}}],
        },
    },
    quota("tpu_lite_podslice_v5"): metric("tpu_lite_podslice_v5", us_central1=128, us_east5=1),
    quota("preemptible_tpu_lite_podslice_v5"): metric("preemptible_tpu_lite_podslice_v5", us_central1=64),
}


def compared(
    own: tuple[str, ...] = (), state: dict[str, Any] | None = None, *, ended_early: bool = False, **changes: Any
) -> Findings:
    spec = parse_platform(DESCRIPTION | changes)
    made = [{"id": identity, "type": "", "urn": identity} for identity in own]
    state = state or {"resources": made}
    return check_online(spec, plan(spec), Google(), state=state, stack="dev", destroy_ended_early=ended_early)
