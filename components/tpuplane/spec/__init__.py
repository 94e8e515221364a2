"""What a user writes: the description of a platform, checked before anything starts. Pure: no Pulumi, no network.

`parse_platform` reads plain values (the program's config), `load_stack` a stack file (the command line): the same
models and the same words in both. All mistakes of a description are reported in one run.
"""

from __future__ import annotations

from tpuplane.spec.addons.addons import (
    AddonsSpec,
    CertManagerSpec,
    ComputeSpec,
    JobSetSpec,
    KueueSpec,
    OperatorResourcesSpec,
    RaySpec,
    RequeuingSpec,
    WaitForPodsReadySpec,
)
from tpuplane.spec.cluster.cluster import (
    AuthorizedNetworkSpec,
    ClusterNetworkSpec,
    ClusterSettingsSpec,
    ClusterSpec,
    ControlPlaneSpec,
    ExistingClusterSpec,
    SystemPoolSpec,
)
from tpuplane.spec.cluster.maintenance import MaintenanceExclusionSpec, MaintenanceSpec, MaintenanceWindowSpec
from tpuplane.spec.core.errors import Mistake, SpecError
from tpuplane.spec.platform import PROJECT_KEY, PlatformSpec, QuotaSpec
from tpuplane.spec.pools.capacity import FlexStartSpec, ReservationSpec, ReservationUseSpec
from tpuplane.spec.pools.gpu import GpuAutoscalingSpec, GpuPoolSpec, GpuSharingSpec
from tpuplane.spec.pools.hosts import ExtraNetworkSpec, SecondaryBootDiskSpec
from tpuplane.spec.pools.tpu import PoolAutoscalingSpec, PoolSpec
from tpuplane.spec.stackfile import CONFIG_KEY, StackFileMissing, load_stack, parse_platform

__all__ = [
    "CONFIG_KEY",
    "PROJECT_KEY",
    "AddonsSpec",
    "AuthorizedNetworkSpec",
    "CertManagerSpec",
    "ClusterNetworkSpec",
    "ClusterSettingsSpec",
    "ClusterSpec",
    "ComputeSpec",
    "ControlPlaneSpec",
    "ExistingClusterSpec",
    "ExtraNetworkSpec",
    "FlexStartSpec",
    "GpuAutoscalingSpec",
    "GpuPoolSpec",
    "GpuSharingSpec",
    "JobSetSpec",
    "KueueSpec",
    "MaintenanceExclusionSpec",
    "MaintenanceSpec",
    "MaintenanceWindowSpec",
    "Mistake",
    "OperatorResourcesSpec",
    "PlatformSpec",
    "PoolAutoscalingSpec",
    "PoolSpec",
    "QuotaSpec",
    "RaySpec",
    "RequeuingSpec",
    "ReservationSpec",
    "ReservationUseSpec",
    "SecondaryBootDiskSpec",
    "SpecError",
    "StackFileMissing",
    "SystemPoolSpec",
    "WaitForPodsReadySpec",
    "load_stack",
    "parse_platform",
]
