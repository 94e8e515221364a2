"""Node auto-provisioning of a cluster in the description."""

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.core.changes import Change, InPlace, T
from tpuplane.spec.core.fields import Spec, Zone

_ForNewPools = Annotated[T, Change("in-place", "Changed in place, for new pools.", source="provider")]
AutoscalingProfile = Literal["BALANCED", "OPTIMIZE_UTILIZATION"]


class AutoProvisioningLimitsSpec(Spec):
    """Maximum size of the whole cluster. GKE counts every node of the cluster, also the nodes of declared pools."""

    cpu: InPlace[Annotated[int, Field(ge=1, le=10**9)]]
    """Maximum vCPUs of the cluster. GKE requires this limit."""

    memory_gb: InPlace[Annotated[int, Field(ge=1, le=10**9)]]
    """Maximum memory of the cluster's nodes, in GB. GKE requires this limit."""

    tpu: InPlace[Annotated[dict[str, Annotated[int, Field(ge=1, le=10**9)]], Field(min_length=1)]]
    """Maximum TPU chips of the cluster, by generation. Pods that request another generation get no node."""


class AutoProvisioningSpec(Spec):
    """Node pools that GKE creates for pods that fit on no existing node, and deletes when they are empty. Each
    multi-host slice is a separate node pool."""

    limits: AutoProvisioningLimitsSpec
    """Maximum size of the cluster."""

    zones: InPlace[tuple[Zone, ...]] = ()
    """Zones for new node pools. Default: the zones of the cluster's region that offer one of the generations."""

    autoscaling_profile: InPlace[AutoscalingProfile] = "BALANCED"
    """Removal of idle nodes in all pools: BALANCED, or OPTIMIZE_UTILIZATION (sooner). Default BALANCED."""

    disk_type: _ForNewPools[Literal["pd-standard", "pd-balanced", "pd-ssd", "hyperdisk-balanced"]] = "pd-balanced"
    """Boot disk type of new node pools. GKE uses hyperdisk-balanced for machines that support no other type. Default
    pd-balanced."""

    disk_size_gb: _ForNewPools[Annotated[int, Field(ge=10, le=65536)]] = 100
    """Boot disk size of new node pools, in GB. Default 100."""

    auto_repair: _ForNewPools[bool] = True
    """Let GKE repair the hosts of new node pools. Default true."""

    auto_upgrade: _ForNewPools[bool] = True
    """Let GKE upgrade the hosts of new node pools. Default true; required in a release channel."""
