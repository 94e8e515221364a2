"""The planned state: what a resource will be once the inputs are applied, and how that differs from the state.

Inputs win; what the user leaves out keeps the API's value (`computed`), takes its default, or becomes nothing.
What only the API can know is `UNKNOWN` until it has answered.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, Literal

from tpuplane_standins.providers.contract import Change, Properties
from tpuplane_standins.providers.gcp.suppress import managed_label, suppressed
from tpuplane_standins.providers.gcp.tables import Field
from tpuplane_standins.providers.values import UNKNOWN


def plan(fields: Mapping[str, Field], inputs: Mapping[str, Any], prior: Mapping[str, Any] | None) -> Properties:
    """The planned properties; `prior` is the state, None when there is none yet. Absent values are left out."""
    planned = {
        name: _planned(rule, inputs.get(name), prior.get(name) if prior is not None else None, prior is None)
        for name, rule in fields.items()
    }
    return {name: value for name, value in planned.items() if value is not None}


def _planned(rule: Field, given: Any, before: Any, creating: bool) -> Any:
    if rule.output or (given is None and rule.computed):
        return UNKNOWN if creating else before
    if given is None:
        return rule.default
    if rule.type == "object" and isinstance(given, Mapping):
        return plan(rule.fields, given, before if isinstance(before, Mapping) else None)
    if rule.element == "object" and isinstance(given, list):
        return _planned_items(rule, given, before if isinstance(before, list) else [])
    return given


def _planned_items(rule: Field, given: list[Any], before: list[Any]) -> list[Any]:
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


def diff(fields: Mapping[str, Field], state: Mapping[str, Any], planned: Mapping[str, Any]) -> dict[str, Change]:
    """Property path (`nodeConfig.labels["a/b"]`, `nodeLocations[0]`) → change."""
    return dict(_object(fields, state, planned, planned, ""))


_STEP = re.compile(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+|\*)\]|([^.\[\]]+)')
"""A step of a property path: `["key"]`, `[0]` or `[*]`, `name`."""


def keep_ignored(planned: Properties, prior: Mapping[str, Any], ignore: Iterable[str]) -> Properties:
    """The plan with the state's values at the `ignoreChanges` paths; `*` means any one step."""
    for path in ignore:
        planned = _kept(planned, prior, ["".join(step) for step in _STEP.findall(path)])
    return planned


def _kept(planned: Any, prior: Any, steps: list[str]) -> Any:
    if not steps:
        return prior
    step, *rest = steps
    if isinstance(planned, Mapping) and isinstance(prior, Mapping | None):
        before = prior or {}
        keys = planned.keys() | before.keys() if step == "*" else {step}
        kept = {**planned, **{key: _kept(planned.get(key), before.get(key), rest) for key in keys}}
        return {key: value for key, value in kept.items() if value is not None}
    if isinstance(planned, list) and isinstance(prior, list):
        return [
            _kept(item, before, rest) if step in ("*", str(index)) else item
            for index, (item, before) in enumerate(zip_longest(planned, prior[: len(planned)]))
        ]
    return planned


def _object(
    fields: Mapping[str, Field], old: Mapping[str, Any], new: Mapping[str, Any], root: Mapping[str, Any], path: str
) -> Iterator[tuple[str, Change]]:
    for name, rule in fields.items():
        where = f"{path}.{name}" if path else name
        yield from _value(rule, old.get(name), new.get(name), root, where)


def _value(rule: Field, old: Any, new: Any, root: Mapping[str, Any], path: str) -> Iterator[tuple[str, Change]]:
    if old == new or (new is UNKNOWN and (rule.output or rule.computed) and old is None):
        return
    if rule.suppress and suppressed(rule.suppress, old, new, root):
        return
    if new is UNKNOWN:
        yield path, Change("add" if old is None else "update", rule.force_new)
    elif rule.type == "object":
        if old or new is not None:  # an empty block counts as none
            yield from _item(rule, old, new, root, path)
    elif rule.type == "map<string>":
        yield from _map(rule, old or {}, new or {}, path)
    elif rule.is_collection:
        yield from _collection(rule, old or [], new or [], root, path)
    elif (old or rule.zero) != (new or rule.zero):
        yield path, Change(_kind(old, new), rule.force_new)


def _item(rule: Field, old: Any, new: Any, root: Mapping[str, Any], path: str) -> Iterator[tuple[str, Change]]:
    """The changes in an object or an item of a list; one change if it is added, removed or a plain value."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        yield from _object(rule.fields, old, new, root, path)
    else:
        replace = rule.force_new or _holds_force_new(rule.fields, old if new is None else new)
        yield path, Change(_kind(old, new), replace)


def _map(rule: Field, old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> Iterator[tuple[str, Change]]:
    for key in sorted({*old, *new}):
        if old.get(key) == new.get(key):
            continue
        if rule.suppress == "managedLabels" and key not in new and managed_label(key):
            continue
        step = f".{key}" if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key) else f'["{key}"]'
        yield path + step, Change(_kind(old.get(key), new.get(key)), rule.force_new)


def _collection(
    rule: Field, old: list[Any], new: list[Any], root: Mapping[str, Any], path: str
) -> Iterator[tuple[str, Change]]:
    if rule.is_set:
        old, new = _aligned(rule, old, new, root)
    for index, (before, after) in enumerate(zip_longest(old, new)):
        if before != after:
            yield from _item(rule, before, after, root, f"{path}[{index}]")


def _aligned(rule: Field, old: list[Any], new: list[Any], root: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """Two sets with the equal items taken out, so that order alone is no difference."""
    left = list(old)
    added = []
    for item in new:
        twin = next((other for other in left if _same_item(rule, other, item, root)), None)
        if twin is None:
            added.append(item)
        else:
            left.remove(twin)
    return left, added


def _same_item(rule: Field, old: Any, new: Any, root: Mapping[str, Any]) -> bool:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return not any(_object(rule.fields, old, new, root, ""))
    return bool(old == new) or bool(rule.suppress and suppressed(rule.suppress, old, new, root))


def _holds_force_new(fields: Mapping[str, Field], value: Any) -> bool:
    """Whether an object that is added or removed as a whole sets something that only a new resource can have."""
    if not isinstance(value, Mapping):
        return False
    for name, rule in fields.items():
        inner = value.get(name)
        if inner in (None, "", 0, False, [], {}):
            continue
        if rule.force_new:
            return True
        for item in inner if isinstance(inner, list) else [inner]:
            if rule.fields and _holds_force_new(rule.fields, item):
                return True
    return False


def _kind(old: Any, new: Any) -> Literal["add", "delete", "update"]:
    if old is None:
        return "add"
    return "delete" if new is None else "update"
