"""The schema of the plugin: the SDK's analysis of the TypedDicts, completed from the models."""

import inspect
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args, get_origin

import pulumi
from pulumi.provider.experimental.analyzer import Analyzer
from pulumi.provider.experimental.util import camel_case

from tpuplane import args
from tpuplane.models import Model, args_name, models
from tpuplane.spec.core.changes import described
from tpuplane.spec.core.documentation import documented
from tpuplane.spec.core.fields import element, unwrap


def completed(
    schema: dict[str, Any],
    components: Iterable[type[pulumi.ComponentResource]],
    types: Mapping[str, type],
    package: str,
) -> dict[str, Any]:
    """The schema with descriptions of inherited fields, allowed values, and descriptions on one line.

    Allowed values are enums that also accept other texts, so that types of SDKs and messages stay the same. `types` are
    the types of the schema.
    """
    prefix = f"{package}:index:"
    enums: dict[str, Any] = {}
    for name, kind in types.items():
        enums |= _complete(schema["types"][prefix + name].get("properties", {}), kind, prefix)
    for component in components:
        entry = schema["resources"][prefix + component.__name__]
        enums |= _complete(entry["inputProperties"], inspect.get_annotations(component.__init__)["args"], prefix)
        for base in component.__mro__:
            _describe(entry["properties"], _own_descriptions(base))
    schema["types"] |= enums
    _join_lines(schema)
    return schema


def _complete(properties: dict[str, Any], kind: type, prefix: str) -> dict[str, Any]:
    """Complete the properties of a TypedDict from the model that it mirrors or extends. Returns the enums."""
    enums: dict[str, Any] = {}
    if (model := _model_of(kind)) is None:
        return enums
    for name, field in documented(model).items():
        alias = camel_case(name)
        _describe(properties, {alias: described(field)})
        place, inner = properties[alias], unwrap(field.annotation)[0]
        while (item := element(inner)) is not None:
            place = place["additionalProperties" if get_origin(inner) is dict else "items"]
            inner = unwrap(item)[0]
        if get_origin(inner) is Literal:
            enum = f"{prefix}{args_name(model).removesuffix('Args')}{alias[0].upper()}{alias[1:]}"
            place["oneOf"] = [{"type": "string"}, {"$ref": f"#/types/{enum}"}]
            values = [{"value": value} for value in get_args(inner)]
            enums[enum] = {"description": f"Allowed values of `{alias}`.", "type": "string", "enum": values}
    return enums


def _model_of(kind: type) -> Model | None:
    """The largest model whose fields are all in a TypedDict."""
    fields = kind.__annotations__.items()
    fitting = (model for model in models() if getattr(args, args_name(model)).__annotations__.items() <= fields)
    return max(fitting, key=lambda model: len(model.model_fields), default=None)


def _own_descriptions(kind: type) -> dict[str, str]:
    analyzer = Analyzer("descriptions")
    names = inspect.get_annotations(kind)
    return {camel_case(name): text for name in names if (text := analyzer.get_docstring(kind, name))}


def _describe(properties: dict[str, Any], descriptions: Mapping[str, str]) -> None:
    for name, text in descriptions.items():
        if name in properties:
            properties[name]["description"] = properties[name].get("description") or text


def _join_lines(value: Any) -> None:
    """Put every description on one line, also those of the items of lists and mappings."""
    if isinstance(value, list):
        for item in value:
            _join_lines(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "description" and isinstance(item, str):
                value[key] = " ".join(item.split())
            else:
                _join_lines(item)
