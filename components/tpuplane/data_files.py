"""Reads the YAML data files of a package."""

from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import yaml

# The C parser is ten times faster. PyYAML lacks it only if it was built without libyaml.
_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


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
    """The template with the values of its `$names`. Fields of a mapping whose value is None are omitted."""
    if isinstance(template, dict):
        return {key: found for key, value in template.items() if (found := filled(value, values)) is not None}
    if isinstance(template, list):
        return [filled(item, values) for item in template]
    return values[template] if isinstance(template, str) and template.startswith("$") else template
