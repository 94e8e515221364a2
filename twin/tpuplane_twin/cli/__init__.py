"""`tpuplane-twin`: up, status, down, env, logs, rehearse, build, exec."""

from __future__ import annotations

from tpuplane_twin.cli.app import app

__all__ = ["app"]
