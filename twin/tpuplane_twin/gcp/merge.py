"""Laying what was asked over what Google fills in."""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

from tpuplane_twin.gcp.schema import Json, camel


def overlay(base: Json, over: Json) -> Json:
    """`base` with `over` on top: objects merge, null clears, everything else replaces.

    An object in a list replaces without what is null in it.
    """
    merged = deepcopy(base)
    for key, value in over.items():
        if value is None:
            merged.pop(key, None)
            continue
        below = merged.get(key)
        if isinstance(value, dict):
            merged[key] = overlay(below if isinstance(below, dict) else {}, value)
        elif isinstance(value, list):
            merged[key] = [overlay({}, item) if isinstance(item, dict) else deepcopy(item) for item in value]
        else:
            merged[key] = value
    return merged


def put_at(target: Json, path: str, value: Any) -> None:
    """Set a field by its dotted path, making the objects on the way; None removes it."""
    *parents, last = path.split(".")
    for name in parents:
        target = target.setdefault(name, {})
    if value is None:
        target.pop(last, None)
    else:
        target[last] = deepcopy(value)


def at(source: Mapping[str, Any], path: str, default: Any = None) -> Any:
    """The value at a dotted path, `default` where there is none."""
    found: Any = source
    for name in path.split("."):
        if not isinstance(found, Mapping) or name not in found:
            return default
        found = found[name]
    return found


def mask_paths(mask: str) -> list[str]:
    """The paths of an update mask as JSON has them; a request may write them as protobuf does (`display_name`)."""
    return [camel(part.strip()) for part in mask.split(",") if part.strip()]


def masked(before: Json, asked: Json, paths: Iterable[str]) -> Json:
    """`before` with the fields that an update mask names as `asked` has them; one that `asked` lacks is cleared."""
    changed = deepcopy(before)
    for path in paths:
        put_at(changed, path, at(asked, path))
    return changed


def etag_of(value: object) -> str:
    """A digest that changes with the JSON value."""
    digest = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()[:8]
    return base64.b64encode(digest).decode()
