"""Compares registered inputs with the input types of the providers' own SDKs, property by property.

Pulumi's mocks take any input. A misspelt key in a nested block, say, reaches them as it stands and would be rejected
only by the real provider.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pulumi import _types

_ACCEPTED = {bool: bool, int: (int, float), float: (int, float), str: str}


def mismatches(token: str, inputs: Mapping[str, Any]) -> list[str]:
    """Every input that the SDK does not know, misses or types otherwise, each with its path."""
    return list(_block(args_class(token), inputs, ""))


@cache
def args_class(token: str) -> type:
    """The SDK's argument class of a resource type such as gcp:container/nodePool:NodePool."""
    package, module, name = token.split(":")
    folder, _, version = module.partition("/")
    where = f"pulumi_gcp.{folder}" if package == "gcp" else f"pulumi_kubernetes.{folder.split('.')[0]}.{version}"
    resource = getattr(importlib.import_module(where), name)
    assert resource.pulumi_type == token
    home = importlib.import_module(resource.__module__)
    found = getattr(home, f"{name}InitArgs", None) or getattr(home, f"{name}Args")
    assert isinstance(found, type)
    return found


def _block(kind: type, inputs: object, path: str) -> Iterator[str]:
    if not isinstance(inputs, Mapping):
        yield f"{path}: {kind.__name__} wanted, not {inputs!r}"
        return
    known = _types.input_type_types(kind)
    spelling = _types.input_type_py_to_pulumi_names(kind)
    required = {
        spelling[name]
        for name, parameter in inspect.signature(kind).parameters.items()
        if parameter.default is parameter.empty and name in spelling
    }
    yield from (f"{path}{name}: required" for name in sorted(required - inputs.keys()))
    for name, value in inputs.items():
        if name in known:
            yield from _value(known[name], value, f"{path}{name}")
        else:
            yield f"{path}{name}: unknown"


def _value(kind: Any, value: object, path: str) -> Iterator[str]:
    kind = _plain(kind)
    origin = get_origin(kind)
    if _types.is_input_type(kind):
        yield from _block(kind, value, f"{path}.")
    elif origin is Literal:
        if value not in get_args(kind):
            yield f"{path}: {value!r} is none of {get_args(kind)}"
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        items = value.items() if isinstance(value, Mapping) else [("", value)]
        for key, item in items:
            yield from _value(get_args(kind)[1], item, f"{path}[{key}]")
    elif isinstance(origin, type) and issubclass(origin, Sequence):
        if not isinstance(value, list):
            yield f"{path}: a list wanted, not {value!r}"
            return
        for index, item in enumerate(value):
            yield from _value(get_args(kind)[0], item, f"{path}[{index}]")
    elif not isinstance(value, _ACCEPTED[kind]) or (kind is not bool and isinstance(value, bool)):
        yield f"{path}: {kind.__name__} wanted, not {value!r}"


def _plain(kind: Any) -> Any:
    """The type behind Input and Optional: the first member of the unions that they are."""
    while get_origin(kind) in (Union, UnionType):
        kind = next(arg for arg in get_args(kind) if arg is not type(None))
    return kind
