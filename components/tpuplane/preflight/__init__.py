"""Comparison of a stack file with a Google Cloud project: APIs, permissions, quota, reservations and names.

Needs credentials, and the extra `tpuplane[online]` for Google's client library. `tpuplane.spec` makes all checks that
need neither.
"""

from tpuplane.preflight.findings import Finding
from tpuplane.preflight.google import Google, Unreachable
from tpuplane.preflight.needs import Needs, needs
from tpuplane.preflight.online import Findings, check_online

__all__ = ["Finding", "Findings", "Google", "Needs", "Unreachable", "check_online", "needs"]
