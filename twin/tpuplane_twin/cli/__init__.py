"""`tpuplane-twin`: up, build, status, down, env, logs, fault, stockout, reclaim, rehearse, exec."""

from tpuplane_twin.cli.app import app

__all__ = ["app"]
