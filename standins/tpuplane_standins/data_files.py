"""Reads the YAML data files of a package."""

from importlib.resources import files
from typing import Any

import yaml

# The C parser is ten times faster. PyYAML lacks it only if it was built without libyaml.
_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_data(package: str, name: str) -> Any:
    """The contents of `data/NAME.yaml` of a package, such as `tpuplane_standins.providers.gcp`."""
    text = files(package).joinpath(f"data/{name}.yaml").read_text(encoding="utf-8")
    return yaml.load(text, Loader=_Loader)  # noqa: S506  # a SafeLoader either way
