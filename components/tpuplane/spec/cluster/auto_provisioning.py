"""Node auto-provisioning of a cluster, as the user writes it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.core.fields import Spec, Zone

AutoscalingProfile = Literal["BALANCED", "OPTIMIZE_UTILIZATION"]


class AutoProvisioningLimitsSpec(Spec):
    """How large the whole cluster may grow. GKE counts every node of the cluster, those of declared pools too."""

    cpu: Annotated[int, Field(ge=1)]
    """Most vCPUs of the cluster. GKE wants it, and `memoryGb`. Changed in place."""

    memory_gb: Annotated[int, Field(ge=1)]
    """Most memory of the cluster's nodes in GB. Changed in place."""

    tpu: Annotated[dict[str, Annotated[int, Field(ge=1)]], Field(min_length=1)]
    """Most TPU chips of the cluster, by generation. Pods that ask for another generation get no node. Changed in
    place."""


class AutoProvisioningSpec(Spec):
    """Node pools that GKE makes for pods that fit nowhere, and deletes when they are empty. Each multi-host slice is a
    pool of its own."""

    limits: AutoProvisioningLimitsSpec
    """How large the cluster may grow."""

    zones: tuple[Zone, ...] = ()
    """Zones in which pools may be made. Default: those of the cluster's region that offer one of the generations.
    Changed in place."""

    autoscaling_profile: AutoscalingProfile = "BALANCED"
    """How soon idle nodes of all pools are removed: BALANCED, or OPTIMIZE_UTILIZATION (sooner). Default BALANCED.
    Changed in place."""

    disk_type: Literal["pd-standard", "pd-balanced", "pd-ssd", "hyperdisk-balanced"] = "pd-balanced"
    """Boot disk type of the pools that are made; GKE takes hyperdisk-balanced where a machine has no other. Default
    pd-balanced. Changed in place, for new pools."""

    disk_size_gb: Annotated[int, Field(ge=10, le=65536)] = 100
    """Boot disk size of the pools that are made, in GB. Default 100. Changed in place, for new pools."""

    auto_repair: bool = True
    """Let GKE repair the hosts of the pools that are made. Default true. Changed in place, for new pools."""

    auto_upgrade: bool = True
    """Let GKE upgrade the hosts of the pools that are made. Default true; a cluster in a release channel allows
    nothing else. Changed in place, for new pools."""
