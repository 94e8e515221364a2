"""From a description to everything that will exist: pure, total on every valid description, stable under changes."""

from tpuplane.plan.addons import AddonPlan
from tpuplane.plan.cluster import ClusterPlan
from tpuplane.plan.cluster_options import MaintenancePlan, TpuLimitPlan
from tpuplane.plan.platform import PlatformPlan, plan
from tpuplane.plan.pools import AutoscalingPlan, NodePoolPlan, UpgradePlan
from tpuplane.spec.pools.hosts import Capacity

__all__ = [
    "AddonPlan",
    "AutoscalingPlan",
    "Capacity",
    "ClusterPlan",
    "MaintenancePlan",
    "NodePoolPlan",
    "PlatformPlan",
    "TpuLimitPlan",
    "UpgradePlan",
    "plan",
]
