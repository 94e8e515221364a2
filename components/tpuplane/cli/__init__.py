"""The command line. `tpuplane check FILE` checks a stack file without an engine."""

from tpuplane.cli.app import app

__all__ = ["app"]
