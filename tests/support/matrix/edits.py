"""Every change of one description that the spec accepts, by `tests/standins/matrix/edits.yaml`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from tpuplane.data_files import read_yaml
from tpuplane.spec import parse_platform
from tpuplane.spec.core.errors import dotted

from tests.support import TESTS
from tests.support.diff.every_field import Described, Place, matches, other_values, valid, value_at, with_value

_FILE = TESTS / "standins" / "matrix" / "edits.yaml"
WEIGHTS = {"pool": 5, "pools": 3, "cluster": 4, "clusters": 1, "platform": 2}
"""The parts of a description, each with how often it is to be drawn."""
_Settings = tuple[tuple[Place, Any], ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """A description with other values; None removes one."""

    settings: _Settings
    after: Described

    def __str__(self) -> str:
        return ", ".join(f"{dotted(place)}: {value!r}" for place, value in self.settings)


def edits(described: Described) -> dict[str, list[Edit]]:
    """The changes by their part of the description, as in `WEIGHTS`."""
    before, found = parse_platform(described), defaultdict(list)
    for settings in _settings(described):
        after = described
        for place, value in settings:
            after = with_value(after, place, value)
        if (spec := valid(after)) and spec != before:
            found[_part(settings[0][0])].append(Edit(settings, after))
    return {part: found[part] for part in sorted(found)}


def _part(place: Place) -> str:
    if place[0] != "clusters" or len(place) == 2:
        return "clusters" if len(place) == 2 and place[0] == "clusters" else "platform"
    if place[2] not in ("pools", "gpuPools"):
        return "cluster"
    return "pools" if len(place) == 4 else "pool"


def _settings(described: Described) -> Iterator[_Settings]:
    data = _data()
    for place, _, value, _ in other_values(described, data["values"]):
        if not any(matches(pattern, place) for pattern in data["left_out"]):
            yield ((place, value),)
    for pattern, values in data["new"].items():
        *above, key = pattern.split(".")
        for place in ((*holder, key) for holder in _holders(described, above)):
            if value_at(described, place) is None:
                yield from (((place, value),) for value in values)
    for pattern, values in data["renamed"].items():
        for holder in _holders(described, pattern.split(".")[:-1]):
            for key, entry in (value_at(described, holder) or {}).items():
                other = (*holder, key.removesuffix("-2") if key.endswith("-2") else f"{key}-2")
                if value_at(described, other) is None:
                    own = {"KEY": entry.get("formerly", key)}
                    for value in values:
                        given = {
                            name: own.get(item, item) if isinstance(item, str) else item for name, item in value.items()
                        }
                        yield ((*holder, key), None), (other, entry | given)


def _holders(described: Described, pattern: list[str]) -> Iterator[Place]:
    """The mappings that a pattern names."""
    clusters = described["clusters"] if "*" in pattern else [""]
    yield from (tuple(cluster if part == "*" else part for part in pattern) for cluster in clusters)


@cache
def _data() -> dict[str, Any]:
    return dict(read_yaml(_FILE))
