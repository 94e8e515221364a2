"""From a description to all of its resources: pure, defined for every valid description, stable under changes."""

from tpuplane.plan.cluster import ClusterPlan
from tpuplane.plan.platform import PlatformPlan, plan
from tpuplane.plan.pools import NodePoolPlan

__all__ = ["ClusterPlan", "NodePoolPlan", "PlatformPlan", "plan"]
