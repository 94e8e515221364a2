"""Node auto-provisioning of a cluster, as the user writes it."""

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.core.fields import Spec, Zone

AutoscalingProfile = Literal["BALANCED", "OPTIMIZE_UTILIZATION"]


class AutoProvisioningLimitsSpec(Spec):
    """Maximum size of the whole cluster. GKE counts every node of the cluster, also the nodes of declared pools."""

    cpu: Annotated[int, Field(ge=1)]
    """Maximum vCPUs of the cluster. GKE requires this limit. Changed in place."""

    memory_gb: Annotated[int, Field(ge=1)]
    """Maximum memory of the cluster's nodes, in GB. GKE requires this limit. Changed in place."""

    tpu: Annotated[dict[str, Annotated[int, Field(ge=1)]], Field(min_length=1)]
    """Maximum TPU chips of the cluster, by generation. Pods that request another generation get no node. Changed in
    place."""


class AutoProvisioningSpec(Spec):
    """Node pools that GKE creates for pods that fit on no existing node, and deletes when they are empty. Each
    multi-host slice is a separate node pool."""

    limits: AutoProvisioningLimitsSpec
    """Maximum size of the cluster."""

    zones: tuple[Zone, ...] = ()
    """Zones for new node pools. Default: the zones of the cluster's region that offer one of the generations. Changed
    in place."""

    autoscaling_profile: AutoscalingProfile = "BALANCED"
    """Removal of idle nodes in all pools: BALANCED, or OPTIMIZE_UTILIZATION (sooner). Default BALANCED. Changed in
    place."""

    disk_type: Literal["pd-standard", "pd-balanced", "pd-ssd", "hyperdisk-balanced"] = "pd-balanced"
    """Boot disk type of new node pools. GKE uses hyperdisk-balanced for machines that support no other type. Default
    pd-balanced. Changed in place, for new pools."""

    disk_size_gb: Annotated[int, Field(ge=10, le=65536)] = 100
    """Boot disk size of new node pools, in GB. Default 100. Changed in place, for new pools."""

    auto_repair: bool = True
    """Let GKE repair the hosts of new node pools. Default true. Changed in place, for new pools."""

    auto_upgrade: bool = True
    """Let GKE upgrade the hosts of new node pools. Default true; required in a release channel. Changed in place, for
    new pools."""
