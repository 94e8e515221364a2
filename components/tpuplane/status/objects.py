"""What is asked of Kubernetes' objects as the API server gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tpuplane.quantities import thousandths

Object = Mapping[str, Any]


def condition(item: Object, kind: str) -> Mapping[str, Any]:
    """The object's condition of a type; empty where it has none."""
    conditions = item.get("status", {}).get("conditions", ())
    return next((each for each in conditions if each["type"] == kind), {})


def is_true(item: Object, kind: str) -> bool:
    """Whether the object says that a condition holds."""
    return condition(item, kind).get("status") == "True"


def message(item: Object, kind: str) -> str:
    """What the object says of a condition."""
    return str(condition(item, kind).get("message", ""))


def asked(pod: Object, resource: str) -> int:
    """What a pod, or a template of one, asks for of a resource, in thousandths."""
    return sum(_of_container(container, resource) for container in pod["spec"]["containers"])


def _of_container(container: Object, resource: str) -> int:
    """A limit alone is a request too; Kubernetes writes that down in pods, and Kueue's workloads come before them."""
    resources = container.get("resources", {})
    every = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return thousandths(every.get(resource, 0))
