"""The command line. `tpuplane check FILE` checks a stack file without an engine."""

from __future__ import annotations

from tpuplane.cli.app import app

__all__ = ["app"]
