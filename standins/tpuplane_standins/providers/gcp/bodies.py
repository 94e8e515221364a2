"""State properties as API objects and back, by the table's `api` paths.

Requests leave out what is zero, false or empty, as Google's Go client does, unless the table says `forceSend`.
A state holds a zero for every plain value that the API left out.
"""

from collections.abc import Mapping
from typing import Any, Final

from tpuplane_standins.providers.contract import Properties
from tpuplane_standins.providers.gcp.tables import Field
from tpuplane_standins.providers.values import UNKNOWN, Secret

_SWITCH: Final = ("FALSE", "TRUE")
"""Strings that are a boolean in the API."""


def expand(fields: Mapping[str, Field], properties: Mapping[str, Any]) -> dict[str, Any]:
    """The API object for the given properties; outputs, unknowns and empty values are left out."""
    body: dict[str, Any] = {}
    for name, rule in fields.items():
        value = properties.get(name)
        if rule.api is None or rule.output or value is None or value is UNKNOWN:
            continue
        sent = expand_one(rule, value)
        if sent or rule.force_send or (rule.element == "object" and sent is not None and sent != []):
            _put(body, rule.api, sent)
    return body


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
    """The value at a dotted path, the first item standing for a list; None where there is none."""
    for part in path.split("."):
        if isinstance(body, list):
            body = body[0] if body else None
        if not isinstance(body, Mapping):
            return None
        body = body.get(part)
    return body


def _put(body: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for part in parents:
        body = body.setdefault(part, {})
    body[last] = value


def expand_one(rule: Field, value: Any) -> Any:
    """The API's form of one property's value."""
    if rule.element == "object":
        items = [expand(rule.fields, item) for item in (value if isinstance(value, list) else [value])]
        if rule.single or (rule.type == "object" and not rule.listed):
            return items[0] if items else None
        return items
    if isinstance(value, list):
        return [item for item in value if item is not UNKNOWN]
    if rule.enum == _SWITCH:
        return value == "TRUE"
    return value


def _flattened(rule: Field, value: Any) -> Any:
    if value is None:
        return rule.zero
    if rule.element == "object":
        items = [flatten(rule.fields, item) for item in (value if isinstance(value, list) else [value])]
        if rule.type == "object":
            return items[0] if items else None
        return items
    return _scalar(rule, value)


def _scalar(rule: Field, value: Any) -> Any:
    """64-bit integers are strings in Google's JSON; numeric ids are strings in the state."""
    if rule.enum == _SWITCH and isinstance(value, bool):
        return str(value).upper()
    if rule.element == "int" and isinstance(value, str):
        return int(value)
    if rule.type == "string" and isinstance(value, int | float | bool):
        return as_text(value)
    return value


def as_text(value: Any) -> str:
    """A plain value as a string property has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
