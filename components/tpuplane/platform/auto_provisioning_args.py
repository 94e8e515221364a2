"""What a program passes for node auto-provisioning: the fields of `tpuplane.spec.auto_provisioning`."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict


class AutoProvisioningLimitsArgs(TypedDict):
    """How large the whole cluster may grow. GKE counts every node of the cluster, those of declared pools too."""

    cpu: int
    """Most vCPUs of the cluster. GKE wants it, and `memoryGb`. Changed in place."""

    memory_gb: int
    """Most memory of the cluster's nodes in GB. Changed in place."""

    tpu: Mapping[str, int]
    """Most TPU chips of the cluster, by generation. Pods that ask for another generation get no node. Changed in
    place."""


class AutoProvisioningArgs(TypedDict):
    """Node pools that GKE makes for pods that fit nowhere, and deletes when they are empty. Each multi-host slice is a
    pool of its own."""

    limits: AutoProvisioningLimitsArgs
    """How large the cluster may grow."""

    zones: NotRequired[Sequence[str]]
    """Zones in which pools may be made. Default: those of the cluster's region that offer one of the generations.
    Changed in place."""

    autoscaling_profile: NotRequired[str]
    """How soon idle nodes of all pools go: BALANCED, or OPTIMIZE_UTILIZATION (sooner). Default BALANCED. Changed in
    place."""

    disk_type: NotRequired[str]
    """Boot disk type of the pools that are made; GKE takes hyperdisk-balanced where a machine has no other. Default
    pd-balanced. Changed in place, for new pools."""

    disk_size_gb: NotRequired[int]
    """Boot disk size of the pools that are made, in GB. Default 100. Changed in place, for new pools."""

    auto_repair: NotRequired[bool]
    """Let GKE repair the hosts of the pools that are made. Default true. Changed in place, for new pools."""

    auto_upgrade: NotRequired[bool]
    """Let GKE upgrade the hosts of the pools that are made. Default true; a cluster in a release channel allows
    nothing else. Changed in place, for new pools."""
