"""Lists in pages: maxResults or pageSize, and pageToken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.schema import Json


def page(query: Mapping[str, str], found: list[Any], field: str, size_parameter: str) -> Json:
    """The page that the query asks for, under `field`, with nextPageToken while there is more."""
    start = _number(query, "pageToken", 0)
    size = _number(query, size_parameter, 0) or len(found)
    answer: Json = {field: found[start : start + size]}
    if start + size < len(found):
        answer["nextPageToken"] = str(start + size)
    return answer


def _number(query: Mapping[str, str], name: str, default: int) -> int:
    text = query.get(name) or str(default)
    if not text.isdecimal():
        raise invalid(f"Invalid value for {name}: '{text}'.", reason="invalid")
    return int(text)
