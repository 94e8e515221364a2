"""State properties as API objects and back, by the table's `api` paths.

Requests leave out what is zero, false or empty, as Google's Go client does, unless the table says `forceSend`.
A state holds a zero for every plain value that the API left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tpuplane_twin.providers.gcp.tables import Field
from tpuplane_twin.providers.server import Properties
from tpuplane_twin.providers.values import UNKNOWN, Secret


def expand(fields: Mapping[str, Field], properties: Mapping[str, Any]) -> dict[str, Any]:
    """The API object for the given properties; outputs, unknowns and empty values are left out."""
    body: dict[str, Any] = {}
    for name, rule in fields.items():
        value = properties.get(name)
        if rule.api is None or rule.output or value is None or value is UNKNOWN:
            continue
        sent = _expanded(rule, value)
        if sent or rule.force_send or rule.type == "object":
            _put(body, rule.api, sent)
    return body


def expand_one(rule: Field, value: Any) -> Any:
    """The API's form of one property's value."""
    return _expanded(rule, value)


def flatten(fields: Mapping[str, Field], body: Mapping[str, Any]) -> Properties:
    """The state for an API object."""
    state: Properties = {}
    for name, rule in fields.items():
        if rule.api is None:
            continue
        value = _flattened(rule, dig(body, rule.api))
        if value is not None:
            state[name] = Secret(value) if rule.secret else value
    return state


def dig(body: Any, path: str) -> Any:
    """The value at a dotted path, None where there is none."""
    for part in path.split("."):
        if not isinstance(body, Mapping):
            return None
        body = body.get(part)
    return body


def _put(body: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for part in parents:
        body = body.setdefault(part, {})
    body[last] = value


def _expanded(rule: Field, value: Any) -> Any:
    if rule.element == "object":
        if isinstance(value, list):
            return [expand(rule.fields, item) for item in value]
        return expand(rule.fields, value)
    if isinstance(value, list):
        return [item for item in value if item is not UNKNOWN]
    return value


def _flattened(rule: Field, value: Any) -> Any:
    if value is None:
        return rule.zero
    if rule.type == "object":
        return flatten(rule.fields, value) if isinstance(value, Mapping) else None
    if rule.type == "list<object>" or rule.type == "set<object>":
        # Terraform models some single API objects as a list.
        items = [value] if isinstance(value, Mapping) else value
        return [flatten(rule.fields, item) for item in items]
    return _scalar(rule, value)


def _scalar(rule: Field, value: Any) -> Any:
    """64-bit integers are strings in Google's JSON; numeric ids are strings in the state."""
    if rule.element == "int" and isinstance(value, str):
        return int(value)
    if rule.type == "string" and isinstance(value, int | float | bool):
        return str(value).lower() if isinstance(value, bool) else str(value)
    return value
