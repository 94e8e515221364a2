"""Pulumi property values as plain Python values.

On the wire a property map is a protobuf `Struct`; here it is a `dict` of strings, numbers, booleans, lists, dicts and
None. Two things that JSON has no word for have classes of their own: `UNKNOWN`, a value that a preview cannot know
yet, and `Secret`, a value that must stay encrypted in the state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf import struct_pb2

# Pulumi's wire constants (sdk/go/common/resource/plugin/rpc.go); the SDK's own copy would load all of the SDK.
_UNKNOWN_TOKENS: Final = frozenset(
    {
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",  # string
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # bool
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # number
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # array
        "030794c1-ac77-496b-92df-f27374a8bd58",  # asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # archive
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # object
    }
)
_UNKNOWN_STRING: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_SIGNATURE_KEY: Final = "4dabf18193072939515e22adb298388d"
_SECRET_SIGNATURE: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - a marker, not a secret
_OUTPUT_SIGNATURE: Final = "d0e6a833031e9bbcd3f4e8bde6ca49a4"


class Unknown:
    """The type of `UNKNOWN`."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that the engine must encrypt in the state."""

    value: Any


def from_struct(struct: struct_pb2.Struct) -> dict[str, Any]:
    """A property map from the wire; nulls are dropped, as the official provider drops them."""
    values = ((key, _from_value(value)) for key, value in struct.fields.items())
    return {key: value for key, value in values if value is not None}


def to_struct(properties: Mapping[str, Any]) -> struct_pb2.Struct:
    """A property map for the wire."""
    return struct_pb2.Struct(fields={key: _to_value(value) for key, value in properties.items()})


def contains_unknown(value: Any) -> bool:
    """Whether a value is, or holds anywhere inside it, `UNKNOWN`."""
    if isinstance(value, Secret):
        return contains_unknown(value.value)
    if isinstance(value, Mapping):
        return any(contains_unknown(item) for item in value.values())
    if isinstance(value, list):
        return any(contains_unknown(item) for item in value)
    return value is UNKNOWN


def reveal(value: Any) -> Any:
    """The same value with every `Secret` opened."""
    if isinstance(value, Secret):
        return reveal(value.value)
    if isinstance(value, Mapping):
        return {key: reveal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [reveal(item) for item in value]
    return value


def _from_value(value: struct_pb2.Value) -> Any:  # noqa: PLR0911 - one per kind of value
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        return UNKNOWN if value.string_value in _UNKNOWN_TOKENS else value.string_value
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() else number
    if kind == "bool_value":
        return value.bool_value
    if kind == "list_value":
        return [_from_value(item) for item in value.list_value.values]
    if kind == "struct_value":
        fields = value.struct_value.fields
        signature = fields[_SIGNATURE_KEY].string_value if _SIGNATURE_KEY in fields else ""
        if signature == _SECRET_SIGNATURE:
            return Secret(_from_value(fields["value"]))
        if signature == _OUTPUT_SIGNATURE:
            inner = _from_value(fields["value"]) if "value" in fields else UNKNOWN
            return Secret(inner) if "secret" in fields and fields["secret"].bool_value else inner
        return from_struct(value.struct_value)
    return None


def _to_value(value: Any) -> struct_pb2.Value:  # noqa: PLR0911 - one per kind of value
    if value is UNKNOWN:
        return struct_pb2.Value(string_value=_UNKNOWN_STRING)
    if isinstance(value, Secret):
        fields = {
            _SIGNATURE_KEY: struct_pb2.Value(string_value=_SECRET_SIGNATURE),
            "value": _to_value(value.value),
        }
        return struct_pb2.Value(struct_value=struct_pb2.Struct(fields=fields))
    if value is None:
        return struct_pb2.Value(null_value=struct_pb2.NULL_VALUE)
    if isinstance(value, bool):
        return struct_pb2.Value(bool_value=value)
    if isinstance(value, int | float):
        return struct_pb2.Value(number_value=value)
    if isinstance(value, str):
        return struct_pb2.Value(string_value=value)
    if isinstance(value, Mapping):
        return struct_pb2.Value(struct_value=to_struct(value))
    return struct_pb2.Value(list_value=struct_pb2.ListValue(values=[_to_value(item) for item in value]))
