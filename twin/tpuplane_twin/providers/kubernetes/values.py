"""Kubernetes objects as Pulumi properties: names of fields, and what of an object is secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tpuplane_twin.providers.values import Secret

Object = dict[str, Any]
"""A Kubernetes object, or a part of one, as JSON holds it (values may be `UNKNOWN`)."""

# Pulumi property names cannot hold dashes; the schema extensions of CRDs have them.
_DASHED = {
    f"x_kubernetes_{name.replace('-', '_')}": f"x-kubernetes-{name}"
    for name in (
        "embedded-resource",
        "int-or-string",
        "list-map-keys",
        "list-type",
        "map-type",
        "preserve-unknown-fields",
        "validations",
    )
}
_UNDERSCORED = {dashed: underscored for underscored, dashed in _DASHED.items()}


def to_kubernetes(value: Any) -> Any:
    """The value as the API server takes it: secrets unwrapped, `x_kubernetes_…` keys with their dashes. A copy."""
    match value:
        case Secret():
            return to_kubernetes(value.value)
        case dict():
            return {_DASHED.get(key, key): to_kubernetes(item) for key, item in value.items()}
        case list():
            return [to_kubernetes(item) for item in value]
        case _:
            return value


def to_pulumi(value: Any) -> Any:
    """The inverse of `to_kubernetes`, but for secrets. A copy."""
    match value:
        case dict():
            return {_UNDERSCORED.get(key, key): to_pulumi(item) for key, item in value.items()}
        case list():
            return [to_pulumi(item) for item in value]
        case _:
            return value


def has_secret(value: Any) -> bool:
    """Whether any part of the value is secret."""
    match value:
        case Secret():
            return True
        case dict():
            return any(has_secret(item) for item in value.values())
        case list():
            return any(has_secret(item) for item in value)
        case _:
            return False


def mark_secrets(values: Object, like: Mapping[str, Any]) -> Object:
    """`values` with everything secret that is secret in `like`; the data of a Secret is always secret.

    Objects are followed key by key, so one secret does not hide the whole object; a list with a secret anywhere
    becomes secret as a whole, because servers reorder lists.
    """
    if values.get("kind") == "Secret":
        hidden = ("data", "stringData")
        return {
            key: Secret(value) if key in hidden and not isinstance(value, Secret) else value
            for key, value in values.items()
        }
    marked = dict(values)
    for key, template in like.items():
        if key not in marked:
            continue
        value = marked[key]
        if isinstance(value, dict) and isinstance(template, dict):
            marked[key] = mark_secrets(value, template)
        elif not isinstance(value, Secret) and has_secret(template):
            marked[key] = Secret(value)
    return marked
