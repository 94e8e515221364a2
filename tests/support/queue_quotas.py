"""The chips of quotas."""

from __future__ import annotations

from tpuplane.labels import TPU
from tpuplane.plan.queue_model import FlavorQuotaPlan

V6E = {"generation": "v6e", "topology": "4x4"}


def chips(quotas: tuple[FlavorQuotaPlan, ...]) -> dict[str, tuple[float, float | None, float | None]]:
    """Chips by flavor: nominal quota, borrowing and lending limit."""
    return {
        quota.flavor: (resource.nominal, resource.borrowing_limit, resource.lending_limit)
        for quota in quotas
        for resource in quota.resources
        if resource.resource == TPU
    }
