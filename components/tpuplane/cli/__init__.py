"""The command line. `tpuplane check FILE` says whether a stack file is right, without an engine."""

from __future__ import annotations

from tpuplane.cli.app import app

__all__ = ["app"]
