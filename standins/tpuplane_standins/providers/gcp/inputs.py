"""The inputs that the state keeps: with automatic names and defaults, after a refresh, and from an import."""

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any, Final

from pulumi.runtime.proto import provider_pb2 as pb

from tpuplane_standins.providers.contract import Properties, ProviderError, Urn
from tpuplane_standins.providers.gcp.bodies import dig
from tpuplane_standins.providers.gcp.tables import Field, Table
from tpuplane_standins.providers.values import reveal

DEFAULTS: Final = "__defaults"
"""Where inputs list the properties that the user left out and a default filled in."""

_SUFFIX_LENGTH: Final = 7


def automatic_name(table: Table, request: pb.CheckRequest, olds: Properties) -> str:
    """The name of a resource that the user did not name: the old one, the stack's rule, or a random suffix."""
    prop, limit, lower = table.autoname["property"], table.autoname["max"], table.autoname.get("lower")
    if prop in olds and prop in olds.get(DEFAULTS, [prop]):
        return str(olds[prop])
    rule, given = request.autonaming, Urn.parse(request.urn).name
    if not request.HasField("autonaming"):
        seed = request.randomSeed
        digits = hashlib.sha256(seed).hexdigest() if seed else secrets.token_hex(_SUFFIX_LENGTH)
        base = given.lower() if lower else given
        return f"{base[: limit - _SUFFIX_LENGTH - 1]}-{digits[:_SUFFIX_LENGTH]}"
    if rule.mode == rule.DISABLE:
        raise ProviderError("automatic naming is disabled but no explicit name was provided")
    if rule.mode == rule.ENFORCE:
        return rule.proposed_name
    proposed = rule.proposed_name.lower() if lower else rule.proposed_name
    if len(proposed) > limit:
        raise ProviderError(f"calculated name '{proposed}' exceeds maximum length of {limit}")
    return proposed


def fill_defaults(
    fields: Mapping[str, Field], inputs: Properties, olds: Any, root: Mapping[str, Any], named: list[str] | None = None
) -> None:
    """Put schema defaults into the inputs and list them under `__defaults`, as the bridge records them.

    False, zero and empty defaults are not recorded: they are what absence means.
    """
    filled = list(named or [])
    for prop, rule in fields.items():
        old = olds.get(prop) if isinstance(olds, Mapping) else None
        if prop in inputs:
            if rule.fields:
                for index, item in enumerate(objects(inputs[prop])):
                    before = old[index] if isinstance(old, list) and index < len(old) else old
                    fill_defaults(rule.fields, item, before, root)
        elif rule.default and not rule.deprecated and not any(dig(root, path) for path in rule.conflicts_with):
            inputs[prop] = rule.default
            filled.append(prop)
    inputs[DEFAULTS] = sorted(filled)


def objects(value: Any) -> list[Properties]:
    """The objects in a value that is one or a list of them."""
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, dict)]


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
        if any(isinstance(item, Mapping) for item in value):  # objects are matched by position
            return [_refreshed(old, new) for old, new in zip(value, actual, strict=False)]
        if sorted(map(str, value)) == sorted(map(str, actual)):  # the same values keep their order
            return value
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
        if not _conflicts(rule, name, result, state) and (rule.required or not _says_nothing(rule, value)):
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
