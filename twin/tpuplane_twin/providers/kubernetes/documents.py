"""YAML as Kubernetes' own tools read it."""

from __future__ import annotations

import re
from typing import Any

import yaml

from tpuplane_twin.providers.contract import ProviderError


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Dates stay text, because JSON has none, and so do times of day, which YAML 1.1 takes for numbers of base 60."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag not in ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:int")
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int",
    re.compile(r"^[-+]?(?:0b[0-1_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)$"),
    list("-+0123456789"),
)


def load_all(text: str) -> list[Any]:
    """Every document of a YAML text. Raises `ProviderError`."""
    try:
        return list(yaml.load_all(text, Loader=_Loader))
    except yaml.YAMLError as error:
        raise ProviderError(f"the YAML cannot be read: {error}") from error
