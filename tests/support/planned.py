"""Parts of a plan, by their names."""

from __future__ import annotations

from tpuplane.plan import ClusterPlan
from tpuplane.plan.addons import AddonPlan


def addon_of(cluster: ClusterPlan, key: str) -> AddonPlan | None:
    """The add-on called `key` in the user's file; None where the platform does not install it."""
    return next((addon for addon in cluster.addons if addon.key == key), None)
