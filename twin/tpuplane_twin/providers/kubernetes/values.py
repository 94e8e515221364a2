"""Property values on the wire and as plain Python: secrets keep a wrapper, unknowns are one sentinel.

The SDK's own `PropertyValue` does not carry unknown values, which a provider meets in every preview.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf import struct_pb2
from pulumi.runtime import rpc

Object = dict[str, Any]
"""A Kubernetes object, or a part of one, as JSON holds it (values may be `UNKNOWN`)."""


class Unknown(enum.Enum):
    """The type of the one value that stands for everything known only after the update."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that the engine encrypts in its state."""

    value: Any


class UnsupportedValue(ValueError):
    """A value that no Kubernetes object can hold: an asset, an archive, a resource."""


# The engine marks what it does not know yet with a constant per type (pulumi/sdk/go/common/resource/plugin/rpc.go).
_UNKNOWNS = frozenset(
    {
        rpc.UNKNOWN,
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # bool
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # number
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # array
        "030794c1-ac77-496b-92df-f27374a8bd58",  # asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # archive
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # object
    }
)
_SIGNATURE = rpc._special_sig_key
_SECRET = rpc._special_secret_sig
_OUTPUT = rpc._special_output_value_sig

# Pulumi property names cannot hold dashes; the schema extensions of CRDs have them.
_DASHED = {
    f"x_kubernetes_{name.replace('-', '_')}": f"x-kubernetes-{name}"
    for name in (
        "embedded-resource",
        "int-or-string",
        "list-map-keys",
        "list-type",
        "map-type",
        "preserve-unknown-fields",
        "validations",
    )
}
_UNDERSCORED = {dashed: underscored for underscored, dashed in _DASHED.items()}


def decode_struct(struct: struct_pb2.Struct) -> Object:
    """The properties of a request. Raises `UnsupportedValue` for assets, archives and resource references."""
    return {key: _decode(value) for key, value in struct.fields.items()}


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
            return _decode_struct_value(value.struct_value)
        case _:
            return None


def _decode_struct_value(struct: struct_pb2.Struct) -> Any:
    if _SIGNATURE not in struct.fields:
        return decode_struct(struct)
    signature = struct.fields[_SIGNATURE].string_value
    inner = _decode(struct.fields["value"]) if "value" in struct.fields else UNKNOWN
    if signature == _SECRET:
        return Secret(inner)
    if signature == _OUTPUT:
        return Secret(inner) if struct.fields["secret"].bool_value else inner
    raise UnsupportedValue(
        "a Kubernetes object cannot hold an asset, an archive or a resource; pass plain values instead "
        "(for a file: its text, read with pathlib.Path(...).read_text())"
    )


def encode_struct(values: Mapping[str, Any]) -> struct_pb2.Struct:
    """The properties of a response."""
    return struct_pb2.Struct(fields={key: _encode(value) for key, value in values.items()})


def _encode(value: Any) -> struct_pb2.Value:  # noqa: PLR0911  (one return per type)
    match value:
        case None:
            return struct_pb2.Value(null_value=struct_pb2.NULL_VALUE)
        case Unknown():
            return struct_pb2.Value(string_value=rpc.UNKNOWN)
        case Secret():
            wrapped = {_SIGNATURE: _SECRET, "value": value.value}
            return struct_pb2.Value(struct_value=encode_struct(wrapped))
        case bool():
            return struct_pb2.Value(bool_value=value)
        case int() | float():
            return struct_pb2.Value(number_value=value)
        case str():
            return struct_pb2.Value(string_value=value)
        case list():
            return struct_pb2.Value(list_value=struct_pb2.ListValue(values=[_encode(item) for item in value]))
        case dict():
            return struct_pb2.Value(struct_value=encode_struct(value))
        case _:
            raise TypeError(f"cannot send a {type(value).__name__} to the engine")


def to_kubernetes(value: Any) -> Any:
    """The value as the API server takes it: secrets unwrapped, `x_kubernetes_…` keys with their dashes. A copy."""
    match value:
        case Secret():
            return to_kubernetes(value.value)
        case dict():
            return {_DASHED.get(key, key): to_kubernetes(item) for key, item in value.items()}
        case list():
            return [to_kubernetes(item) for item in value]
        case _:
            return value


def to_pulumi(value: Any) -> Any:
    """The inverse of `to_kubernetes`, but for secrets. A copy."""
    match value:
        case dict():
            return {_UNDERSCORED.get(key, key): to_pulumi(item) for key, item in value.items()}
        case list():
            return [to_pulumi(item) for item in value]
        case _:
            return value


def has_unknown(value: Any) -> bool:
    """Whether any part of the value is known only after the update."""
    return any(item is UNKNOWN for item in _leaves(value))


def has_secret(value: Any) -> bool:
    """Whether any part of the value is secret."""
    match value:
        case Secret():
            return True
        case dict():
            return any(has_secret(item) for item in value.values())
        case list():
            return any(has_secret(item) for item in value)
        case _:
            return False


def _leaves(value: Any) -> Iterator[Any]:
    match value:
        case Secret():
            yield from _leaves(value.value)
        case dict():
            for item in value.values():
                yield from _leaves(item)
        case list():
            for item in value:
                yield from _leaves(item)
        case _:
            yield value


def mark_secrets(values: Object, like: Mapping[str, Any]) -> Object:
    """`values` with everything secret that is secret in `like`; the data of a Secret is always secret.

    Objects are followed key by key, so one secret does not hide the whole object; a list with a secret anywhere
    becomes secret as a whole, because servers reorder lists.
    """
    if values.get("kind") == "Secret":
        hidden = ("data", "stringData")
        return {
            key: Secret(value) if key in hidden and not isinstance(value, Secret) else value
            for key, value in values.items()
        }
    marked = dict(values)
    for key, template in like.items():
        if key not in marked:
            continue
        value = marked[key]
        if isinstance(value, dict) and isinstance(template, dict):
            marked[key] = mark_secrets(value, template)
        elif not isinstance(value, Secret) and has_secret(template):
            marked[key] = Secret(value)
    return marked
