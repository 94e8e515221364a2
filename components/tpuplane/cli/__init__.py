"""The command line. `tpuplane check FILE` checks a stack file without an engine."""

from tpuplane.collection import kept

with kept():
    from tpuplane.cli.app import app

__all__ = ["app"]
