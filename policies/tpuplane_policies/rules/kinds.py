"""The resource types that rules check, and lists of values, by their names in `data/kinds.yaml`."""

from collections.abc import Mapping
from typing import Any

from tpuplane_policies.core.registry import data


def _flat(kinds: Any) -> list[str]:
    return [one for kind in kinds for one in _flat(kind)] if isinstance(kinds, list) else [kinds]


KINDS: Mapping[str, str | tuple[str, ...]] = {
    name: tuple(_flat(kinds)) if isinstance(kinds, list) else kinds for name, kinds in data("kinds").items()
}


def __getattr__(name: str) -> Any:
    if name not in KINDS:
        raise AttributeError(f"kinds.yaml has no {name}")
    return KINDS[name]
