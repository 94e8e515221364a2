"""Names that Pulumi makes, and the defaults of the official plugin's schema."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any, Final

from tpuplane_twin.providers.contract import Autonaming, Properties, ProviderError
from tpuplane_twin.providers.gcp.tables import Field, Table

DEFAULTS: Final = "__defaults"
"""Where inputs list the properties that the user left out and a default filled in."""

_SUFFIX_LENGTH: Final = 7


def automatic_name(table: Table, name: str, olds: Properties, seed: bytes, autonaming: Autonaming | None) -> str:
    """The name of a resource that the user did not name: the old one, the stack's rule, or a random suffix."""
    prop = table.name_property or ""
    if prop in olds and prop in olds.get(DEFAULTS, [prop]):
        return str(olds[prop])
    base = name.lower() if table.name_lower else name
    if autonaming is None:
        digits = hashlib.sha256(seed).hexdigest() if seed else secrets.token_hex(_SUFFIX_LENGTH)
        return f"{base[: table.name_max - _SUFFIX_LENGTH - 1]}-{digits[:_SUFFIX_LENGTH]}"
    if autonaming.mode == "DISABLE":
        raise ProviderError("automatic naming is disabled but no explicit name was provided")
    if autonaming.mode == "ENFORCE":
        return autonaming.proposed
    proposed = autonaming.proposed.lower() if table.name_lower else autonaming.proposed
    if len(proposed) > table.name_max:
        raise ProviderError(f"calculated name '{proposed}' exceeds maximum length of {table.name_max}")
    return proposed


def fill_defaults(
    fields: Mapping[str, Field],
    inputs: Properties,
    olds: Any,
    root: Mapping[str, Any],
    named: list[str] | None = None,
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
        elif rule.default and not rule.deprecated and not any(first_at(root, path) for path in rule.conflicts_with):
            inputs[prop] = rule.default
            filled.append(prop)
    inputs[DEFAULTS] = sorted(filled)


def objects(value: Any) -> list[Properties]:
    """The objects in a value that is one or a list of them."""
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, dict)]


def first_at(value: Any, path: str) -> Any:
    """The value at a property path without indices, the first item standing for a list."""
    for part in path.split("."):
        if isinstance(value, list):
            value = value[0] if value else None
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    return value
