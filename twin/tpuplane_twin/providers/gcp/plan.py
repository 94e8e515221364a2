"""The planned state: what a resource will look like when the inputs have been applied.

Inputs win; what the user leaves out keeps the API's value (`computed`), takes its default, or becomes nothing.
What only the API can know is `UNKNOWN` until it has answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tpuplane_twin.providers.contract import Properties
from tpuplane_twin.providers.gcp.tables import Field
from tpuplane_twin.providers.values import UNKNOWN


def plan(fields: Mapping[str, Field], inputs: Mapping[str, Any], prior: Mapping[str, Any] | None) -> Properties:
    """The planned properties; `prior` is the state, None when there is none yet. Absent values are left out."""
    planned = {
        name: _value(rule, inputs.get(name), prior.get(name) if prior is not None else None, prior is None)
        for name, rule in fields.items()
    }
    return {name: value for name, value in planned.items() if value is not None}


def _value(rule: Field, given: Any, before: Any, creating: bool) -> Any:
    if rule.output or (given is None and rule.computed):
        return UNKNOWN if creating else before
    if given is None:
        return rule.default
    if rule.type == "object" and isinstance(given, Mapping):
        return plan(rule.fields, given, before if isinstance(before, Mapping) else None)
    if rule.element == "object" and isinstance(given, list):
        return _items(rule, given, before if isinstance(before, list) else [])
    return given


def _items(rule: Field, given: list[Any], before: list[Any]) -> list[Any]:
    remaining = list(before)
    result = []
    for index, item in enumerate(given):
        if not isinstance(item, Mapping):
            result.append(item)
            continue
        if rule.is_set:
            partner = next((old for old in remaining if _describes(item, old)), None)
            if partner is not None:
                remaining.remove(partner)
        else:
            partner = before[index] if index < len(before) else None
        result.append(plan(rule.fields, item, partner))
    return result


def _describes(item: Mapping[str, Any], old: Any) -> bool:
    """Whether a set item of the inputs is this item of the state: everything that the user sets agrees."""
    return isinstance(old, Mapping) and all(
        old.get(key) == value for key, value in item.items() if not key.startswith("__")
    )
