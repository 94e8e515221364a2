"""The objects of Kueue that a platform registers."""

from __future__ import annotations

from typing import Any

from tests.support.components.deployment import Deployment

KUEUE = "kueue.x-k8s.io/v1beta2"


def objects(deployment: Deployment, kind: str) -> dict[str, Any]:
    """The registered objects of a Kueue kind, by name."""
    found = (resource for resource in deployment.custom() if resource.type == f"kubernetes:{KUEUE}:{kind}")
    return {resource.inputs["metadata"]["name"]: resource for resource in found}
