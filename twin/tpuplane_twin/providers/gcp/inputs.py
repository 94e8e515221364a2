"""Inputs from a state: what `pulumi refresh` updates them to, and what `pulumi import` starts from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tpuplane_twin.providers.gcp.check import DEFAULTS
from tpuplane_twin.providers.gcp.tables import Field
from tpuplane_twin.providers.server import Properties
from tpuplane_twin.providers.values import reveal


def refreshed(inputs: Mapping[str, Any], state: Mapping[str, Any]) -> Properties:
    """The same inputs with the state's values; inputs that the state has no more are gone."""
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
        if not rule.required and (value in ("", 0, False, [], {}, {DEFAULTS: []}) or value == rule.default):
            continue
        result[name] = value
    result[DEFAULTS] = []
    return result
