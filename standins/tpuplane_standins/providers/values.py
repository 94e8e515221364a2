"""Pulumi property values on the wire and as plain Python values.

On the wire a property map is a protobuf `Struct`; here it is a `dict` of strings, numbers, booleans, lists, dicts and
None. Two things that JSON does not have are classes here: `UNKNOWN`, a value that a preview does not know yet, and
`Secret`, a value that must stay encrypted in the state. The SDK's own `PropertyValue` drops unknown values.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from google.protobuf import struct_pb2

from tpuplane_standins.providers.contract import ProviderError

# Pulumi's wire constants (sdk/go/common/resource/plugin/rpc.go); importing the SDK's own copy takes half a second.
_SIGNATURE_KEY: Final = "4dabf18193072939515e22adb298388d"
_SECRET_SIGNATURE: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - a marker, not a secret
_OUTPUT_SIGNATURE: Final = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
_UNKNOWN_STRING: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_UNKNOWNS: Final = frozenset(
    {
        _UNKNOWN_STRING,
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # bool
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # number
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # array
        "030794c1-ac77-496b-92df-f27374a8bd58",  # asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # archive
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # object
    }
)


class Unknown(Enum):
    """The type of `UNKNOWN`."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that the engine encrypts in its state."""

    value: Any


def decode_struct(struct: struct_pb2.Struct) -> dict[str, Any]:
    """The properties of a request, without nulls, which the official bridge drops.

    Raises `ProviderError` for assets, archives and resource references.
    """
    values = {key: _decode(value) for key, value in struct.fields.items()}
    return {key: value for key, value in values.items() if value is not None}


def encode_struct(values: Mapping[str, Any]) -> struct_pb2.Struct:
    """The properties of a response."""
    struct = struct_pb2.Struct()
    struct.update(_on_the_wire(values))
    return struct


def reveal(value: Any) -> Any:
    """The same value with every `Secret` opened."""
    match value:
        case Secret():
            return reveal(value.value)
        case Mapping():
            return {key: reveal(item) for key, item in value.items()}
        case list():
            return [reveal(item) for item in value]
        case _:
            return value


def _decode(value: struct_pb2.Value) -> Any:
    match value.WhichOneof("kind"):
        case "string_value":
            return UNKNOWN if value.string_value in _UNKNOWNS else value.string_value
        case "number_value":
            number = value.number_value
            return int(number) if number.is_integer() else number
        case "bool_value":
            return value.bool_value
        case "list_value":
            return [_decode(item) for item in value.list_value.values]
        case "struct_value":
            return _decode_object(value.struct_value)
        case _:
            return None


def _decode_object(struct: struct_pb2.Struct) -> Any:
    if _SIGNATURE_KEY not in struct.fields:
        return decode_struct(struct)
    signature = struct.fields[_SIGNATURE_KEY].string_value
    inner = _decode(struct.fields["value"]) if "value" in struct.fields else UNKNOWN
    if signature == _SECRET_SIGNATURE:
        return Secret(inner)
    if signature == _OUTPUT_SIGNATURE:
        return Secret(inner) if struct.fields["secret"].bool_value else inner
    raise ProviderError(
        "this resource cannot hold an asset, an archive or a resource; pass plain values instead "
        "(for a file: its text, read with pathlib.Path(...).read_text())"
    )


def _on_the_wire(value: Any) -> Any:
    match value:
        case Unknown():
            return _UNKNOWN_STRING
        case Secret():
            return {_SIGNATURE_KEY: _SECRET_SIGNATURE, "value": _on_the_wire(value.value)}
        case list() | tuple():
            return [_on_the_wire(item) for item in value]
        case Mapping():
            return {key: _on_the_wire(item) for key, item in value.items()}
        case _:
            return value
