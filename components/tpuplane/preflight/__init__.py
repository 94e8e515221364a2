"""What only Google knows of a project, compared with what a stack file says: reservations and quota.

Needs credentials, and the extra `tpuplane[online]` for Google's own client library. Everything that can be said without
them is said by `tpuplane.spec`.
"""

from __future__ import annotations

from tpuplane.preflight.google import ComputeEngine, Unreachable
from tpuplane.preflight.online import Findings, check_online

__all__ = ["ComputeEngine", "Findings", "Unreachable", "check_online"]
