"""How long the names of workloads may be. KubeRay says it in a status alone, when all seems to have been made."""

from __future__ import annotations

import re

from tpuplane.spec.errors import Mistake, SpecError, shown

# KubeRay: ray-operator/controllers/ray/utils/constant.go, v1.6.1. JobSet makes a label of the coordinator's address,
# NAME-slice-0-0.NAME, and a label has 63 characters (pkg/webhooks/jobset_webhook.go, v0.12.0).
_LONGEST = {"RayCluster": 53, "RayJob": 47, "RayService": 47, "Multislice": 26}


def check_name(kind: str, name: str) -> None:
    """Raise `SpecError` if a workload of this kind cannot have the name, a DNS-1035 label that its operator extends."""
    most = _LONGEST[kind]
    if not re.fullmatch("[a-z](?:[-a-z0-9]*[a-z0-9])?", name) or len(name) > most:
        allowed = (
            f"1 to {most} lower-case letters, digits and hyphens, starting with a letter, not ending with a hyphen"
        )
        raise SpecError([Mistake(("name",), f"{shown(name)} is no name of a {kind}; allowed: {allowed}")])
