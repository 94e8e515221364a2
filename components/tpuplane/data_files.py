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


def with_tuples(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping with its lists as tuples, for the fields of a frozen class."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in mapping.items()}
