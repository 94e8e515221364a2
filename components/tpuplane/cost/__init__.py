"""The cost of a plan by Google's list prices on record. Pure: no Pulumi, no network, no clock."""

from tpuplane.cost.estimate import Amount, PlatformCost, PoolCost, Sum, cost
from tpuplane.cost.rates import Rate, charging, citation

__all__ = ["Amount", "PlatformCost", "PoolCost", "Rate", "Sum", "charging", "citation", "cost"]
