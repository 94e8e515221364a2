"""The command line of the twin, `tpuplane-twin`."""

from tpuplane_twin.cli.app import app

__all__ = ["app"]
