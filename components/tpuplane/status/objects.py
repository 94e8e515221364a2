"""Conditions and requests of Kubernetes objects."""

from collections.abc import Mapping
from typing import Any

from tpuplane.quantities import thousandths

Object = Mapping[str, Any]


def condition(item: Object, kind: str) -> Mapping[str, Any]:
    """The object's condition of a type; empty if it has none."""
    conditions = item.get("status", {}).get("conditions", ())
    return next((each for each in conditions if each["type"] == kind), {})


def is_true(item: Object, kind: str) -> bool:
    """Whether a condition of the object is true."""
    return condition(item, kind).get("status") == "True"


def message(item: Object, kind: str) -> str:
    """The message of a condition."""
    return str(condition(item, kind).get("message", ""))


def asked(pod: Object, resource: str) -> int:
    """The requests of a pod or pod template for a resource, in thousandths."""
    return sum(_of_container(container, resource) for container in pod["spec"]["containers"])


def _of_container(container: Object, resource: str) -> int:
    """A limit without a request is a request. Kubernetes adds it to pods, but not to the templates of workloads."""
    resources = container.get("resources", {})
    every = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return thousandths(every.get(resource, 0))
