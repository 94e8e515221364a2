"""Reads the YAML data files of a package."""

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import yaml

# The C parser is ten times faster. PyYAML lacks it only if it was built without libyaml.
_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Not `$(NAME)` and `$NAME`, which containers replace, and no part of another name.
_PLACEHOLDER = re.compile(r"(?<![\\$])\$[a-z][A-Za-z]*(?!\w)")


def read_data(package: str, name: str) -> Any:
    """The contents of `data/NAME.yaml` of a package, such as `tpuplane.tpu`."""
    return read_yaml(files(package).joinpath(f"data/{name}.yaml"))


def read_yaml(file: Traversable) -> Any:
    """The contents of a YAML file that is part of a package."""
    return yaml.load(file.read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506  # a SafeLoader either way


def formatted(value: Any, places: Mapping[str, object]) -> Any:
    """The value, with `places` for the names in braces in its texts."""
    match value:
        case dict():
            return {key: formatted(item, places) for key, item in value.items()}
        case list():
            return [formatted(item, places) for item in value]
        case str():
            return value.format_map(places)
    return value


def with_tuples(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping with its lists as tuples, for the fields of a frozen class."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in mapping.items()}


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """The template with the values of its `$names`. Fields whose `$name` has the value None are omitted."""
    if isinstance(template, dict):
        each = ((key, item, filled(item, values)) for key, item in template.items())
        return {key: found for key, item, found in each if found is not None or item is None}
    if isinstance(template, list):
        return [filled(item, values) for item in template]
    return values[template] if isinstance(template, str) and _PLACEHOLDER.fullmatch(template) else template


def placeholders(template: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """The `$names` in a template, each after the path and the text that contains it."""
    if isinstance(template, dict | list):
        for key, item in template.items() if isinstance(template, dict) else enumerate(template):
            yield from placeholders(item, (*at, key))
    elif isinstance(template, str):
        yield from ((at, template, name) for name in dict.fromkeys(_PLACEHOLDER.findall(template)))
