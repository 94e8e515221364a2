"""Comparison of the reservations and quota of a stack file with those of a Google Cloud project.

Needs credentials, and the extra `tpuplane[online]` for Google's client library. `tpuplane.spec` makes all checks that
need neither.
"""

from tpuplane.preflight.google import ComputeEngine, Unreachable
from tpuplane.preflight.online import Findings, check_online

__all__ = ["ComputeEngine", "Findings", "Unreachable", "check_online"]
