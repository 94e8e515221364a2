"""The files of a user's own repository: `tpuplane init`."""

from tpuplane.init.repository import Repository, starts

__all__ = ["Repository", "starts"]
