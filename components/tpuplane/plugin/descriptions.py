"""Descriptions in the plugin's schema: the SDK's analyzer reads those of a type's own fields alone."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, is_typeddict

import pulumi
from pulumi.provider.experimental.analyzer import Analyzer
from pulumi.provider.experimental.util import camel_case


def described(
    schema: dict[str, Any],
    components: Iterable[type[pulumi.ComponentResource]],
    types: Mapping[str, type],
    package: str,
) -> dict[str, Any]:
    """The schema with every description on one line, those of inherited fields included. `types` are its types'."""
    for name, kind in types.items():
        entry = schema["types"][f"{package}:index:{name}"]
        properties = entry.get("properties", {})
        _fill(properties, _fields(kind))
        _flatten(entry, properties)
    for component in components:
        entry = schema["resources"][f"{package}:index:{component.__name__}"]
        args = inspect.get_annotations(component.__init__)["args"]
        _fill(entry["inputProperties"], _fields(args))
        _fill(entry["properties"], _attributes(component))
        _flatten(entry, entry["inputProperties"])
        _flatten(entry, entry["properties"])
    return schema


def _fill(properties: dict[str, Any], descriptions: Mapping[str, str]) -> None:
    for name, text in descriptions.items():
        if name in properties:
            properties[name]["description"] = properties[name].get("description") or text


def _fields(args: type) -> dict[str, str]:
    """Descriptions of the fields of a TypedDict and of all that it inherits from, by their names in the schema."""
    found: dict[str, str] = {}
    for base in _bases(args):
        found |= _fields(base)
    return found | _own(args)


def _bases(args: type) -> Iterator[type]:
    """The TypedDicts that `args` was written with: before Python 3.12 they are nowhere but in its source."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(args))).body
    if isinstance(definition, ast.ClassDef):
        names = [base.id for base in definition.bases if isinstance(base, ast.Name)]
        yield from filter(is_typeddict, (getattr(sys.modules[args.__module__], name, None) for name in names))


def _attributes(component: type) -> dict[str, str]:
    found: dict[str, str] = {}
    for base in reversed(component.__mro__):
        if issubclass(base, pulumi.ComponentResource) and base is not pulumi.ComponentResource:
            found |= _own(base)
    return found


def _own(kind: type) -> dict[str, str]:
    analyzer = Analyzer("descriptions")
    names = inspect.get_annotations(kind)
    return {camel_case(name): text for name in names if (text := analyzer.get_docstring(kind, name))}


def _flatten(entry: dict[str, Any], properties: Mapping[str, dict[str, Any]]) -> None:
    for item in (entry, *properties.values()):
        if item.get("description"):
            item["description"] = " ".join(item["description"].split())
