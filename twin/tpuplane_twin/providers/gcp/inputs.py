"""Inputs from a state: what `pulumi refresh` updates them to, and what `pulumi import` starts from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tpuplane_twin.providers.contract import Properties
from tpuplane_twin.providers.gcp.defaults import DEFAULTS
from tpuplane_twin.providers.gcp.tables import Field
from tpuplane_twin.providers.values import reveal


def refreshed(inputs: Mapping[str, Any], state: Mapping[str, Any]) -> Properties:
    """The same inputs with the state's values; inputs that the state no longer has are left out."""
    result: Properties = {}
    for name, value in inputs.items():
        if name == DEFAULTS:
            result[name] = value
        elif name in state:
            result[name] = _refreshed(value, state[name])
    return result


def _refreshed(value: Any, actual: Any) -> Any:
    if isinstance(value, Mapping) and isinstance(actual, Mapping):
        return refreshed(value, actual)
    if isinstance(value, list) and isinstance(actual, list):
        return _refreshed_list(value, actual)
    return actual


def _refreshed_list(values: list[Any], actual: list[Any]) -> list[Any]:
    """Plain values that are still there keep their order; objects are matched by position."""
    if any(isinstance(item, Mapping) for item in values):
        return [_refreshed(old, new) for old, new in zip(values, actual, strict=False)]
    if sorted(map(str, values)) == sorted(map(str, actual)):
        return values
    return actual


def imported(fields: Mapping[str, Field], state: Mapping[str, Any]) -> Properties:
    """Inputs that describe an existing resource: no outputs, no defaults, nothing empty."""
    result: Properties = {}
    for name, rule in fields.items():
        value = reveal(state.get(name))
        if rule.output or value is None:
            continue
        if rule.fields:
            value = (
                [imported(rule.fields, item) for item in value]
                if isinstance(value, list)
                else imported(rule.fields, value)
            )
        if _conflicts(rule, name, result, state):
            continue
        if not rule.required and _says_nothing(rule, value):
            continue
        result[name] = value
    result[DEFAULTS] = []
    return result


def _says_nothing(rule: Field, value: Any) -> bool:
    """Whether leaving the input out means the same."""
    if value == "" and rule.enum and "" not in rule.enum:
        return True
    if rule.default is not None:
        return bool(value == rule.default)
    return value in ("", 0, False, [], {}, {DEFAULTS: []})


def _conflicts(rule: Field, name: str, chosen: Mapping[str, Any], state: Mapping[str, Any]) -> bool:
    """Of two inputs that exclude each other and that the API both reports, the last in the table stays."""
    others = {path.rpartition(".")[2] for path in rule.conflicts_with} - {name}
    return any(other in chosen or (other > name and state.get(other)) for other in others)
