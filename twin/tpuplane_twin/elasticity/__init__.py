"""Elasticity of the twin: what GKE's cluster autoscaler does with node pools that have autoscaling."""

from __future__ import annotations

from tpuplane_twin.elasticity.autoscaler import Actions
from tpuplane_twin.elasticity.elasticity import Elasticity, InvalidSetting, scale_down_after

__all__ = ["Actions", "Elasticity", "InvalidSetting", "scale_down_after"]
