"""From a description to everything that will exist: pure, total on every valid description, stable under changes."""

from __future__ import annotations

from tpuplane.plan.addons import AddonPlan, ProbePlan
from tpuplane.plan.cluster import ClusterPlan, ServiceAccountPlan
from tpuplane.plan.cluster_options import (
    AutoProvisioningPlan,
    ExclusionPlan,
    KeyPlan,
    MaintenancePlan,
    TpuLimitPlan,
)
from tpuplane.plan.network import NatPlan, NetworkPlan, SubnetPlan
from tpuplane.plan.platform import PlatformPlan, plan
from tpuplane.plan.pools import AutoscalingPlan, GpuPlan, NodePoolPlan, UpgradePlan
from tpuplane.spec.pools.capacity import Capacity

__all__ = [
    "AddonPlan",
    "AutoProvisioningPlan",
    "AutoscalingPlan",
    "Capacity",
    "ClusterPlan",
    "ExclusionPlan",
    "GpuPlan",
    "KeyPlan",
    "MaintenancePlan",
    "NatPlan",
    "NetworkPlan",
    "NodePoolPlan",
    "PlatformPlan",
    "ProbePlan",
    "ServiceAccountPlan",
    "SubnetPlan",
    "TpuLimitPlan",
    "UpgradePlan",
    "plan",
]
