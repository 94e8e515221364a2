"""From a description to everything that will exist: pure, total on every valid description, stable under changes."""

from __future__ import annotations

from tpuplane.plan.added import added_pools
from tpuplane.plan.addon_model import AddonPlan, ChartPlan, ProbePlan
from tpuplane.plan.auto_provisioning import AutoProvisioningPlan, TpuLimitPlan
from tpuplane.plan.cluster_model import (
    AuthorizedNetworkPlan,
    ControlPlanePlan,
    ExclusionPlan,
    KeyPlan,
    MaintenancePlan,
    MonitoringPlan,
    SecurityPlan,
    StoragePlan,
)
from tpuplane.plan.model import (
    AutoscalingPlan,
    ClusterPlan,
    ExistingClusterPlan,
    ExtraNetworkPlan,
    FlexStartPlan,
    GpuPlan,
    NodePoolPlan,
    PlatformPlan,
    SecondaryBootDiskPlan,
    ServiceAccountPlan,
    UpgradePlan,
)
from tpuplane.plan.network_model import ExistingNetworkPlan, NatPlan, NetworkPlan, SubnetPlan
from tpuplane.plan.planner import plan
from tpuplane.spec.capacity import Capacity

__all__ = [
    "AddonPlan",
    "AuthorizedNetworkPlan",
    "AutoProvisioningPlan",
    "AutoscalingPlan",
    "Capacity",
    "ChartPlan",
    "ClusterPlan",
    "ControlPlanePlan",
    "ExclusionPlan",
    "ExistingClusterPlan",
    "ExistingNetworkPlan",
    "ExtraNetworkPlan",
    "FlexStartPlan",
    "GpuPlan",
    "KeyPlan",
    "MaintenancePlan",
    "MonitoringPlan",
    "NatPlan",
    "NetworkPlan",
    "NodePoolPlan",
    "PlatformPlan",
    "ProbePlan",
    "SecondaryBootDiskPlan",
    "SecurityPlan",
    "ServiceAccountPlan",
    "StoragePlan",
    "SubnetPlan",
    "TpuLimitPlan",
    "UpgradePlan",
    "added_pools",
    "plan",
]
