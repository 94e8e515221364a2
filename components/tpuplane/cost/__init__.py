"""The cost of a plan by Google's list prices on record. Pure: no Pulumi, no network, no clock."""

from tpuplane.cost.estimate import Amount, PlatformCost, PoolCost, ProvisionedCost, Sum, cost
from tpuplane.cost.rates import Charging, Rate, charging, citation, gpu_rate, rate

__all__ = [
    "Amount",
    "Charging",
    "PlatformCost",
    "PoolCost",
    "ProvisionedCost",
    "Rate",
    "Sum",
    "charging",
    "citation",
    "cost",
    "gpu_rate",
    "rate",
]
