"""Openings and closings of a change, by `data/opens.yaml` and `data/closes.yaml`: marks in addition to its class."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from ipaddress import IPv4Network, collapse_addresses
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_snake

from tpuplane.data_files import read_data
from tpuplane.spec import PlatformSpec
from tpuplane.spec.cluster.cluster import AuthorizedNetworkSpec
from tpuplane.spec.core.adopted import overlap
from tpuplane.spec.core.errors import Path
from tpuplane.spec.queues.team_checks import namespaces_of
from tpuplane.spec.queues.teams import TeamSpec

_rules: Callable[[str], list[dict[str, Any]]] = cache(partial(read_data, "tpuplane.diff"))


@dataclass(frozen=True, slots=True)
class Opening:
    """Something that more people, networks or programs can reach or do; or fewer, if it closes."""

    path: Path
    value: Any
    """The new value, or the added or removed one."""
    why: str


def openings(before: PlatformSpec, after: PlatformSpec) -> Iterator[Opening]:
    """The openings of the new description, also of a new cluster, pool, team or class."""
    for rule in _rules("opens"):
        parts = tuple(rule["path"].split("."))
        former = {path: value for path, value, _ in _at(before, parts)}
        for path, value, default in _at(after, parts):
            if rule.get("existing") and path not in former:
                continue
            if (opened := _opened(rule, former.get(path, default), value)) is not None:
                yield Opening(path, opened, rule["why"])


def closings(before: PlatformSpec, after: PlatformSpec) -> Iterator[Opening]:
    """The closings of the new description, in parts that both descriptions have."""
    for rule in _rules("closes"):
        parts = tuple(rule["path"].split("."))
        later = {path: value for path, value, _ in _at(after, parts)}
        for path, value, _ in _at(before, parts):
            closed = _closed(rule, value, later[path]) if path in later else None
            if closed is not None:
                yield Opening(path, closed, rule["why"])


def _closed(rule: Mapping[str, Any], old: Any, new: Any) -> Any:
    if "becomes" in rule:
        return new if new != old and new in rule["becomes"] else None
    missing = _missing(old, new)
    if missing and "of" in rule:
        missing = tuple(item for item in missing if any(overlap(item, name) for name in rule["of"])) or None
    return missing


def _opened(rule: Mapping[str, Any], old: Any, new: Any) -> Any:
    if new == old or new is None:
        return None
    if "becomes" in rule:
        return new if new in rule["becomes"] else None
    if "order" in rule:
        return new if rule["order"].index(new) > rule["order"].index(old) else None
    if isinstance(new, tuple):
        return _missing(new, old or ())
    return None if isinstance(old, BaseModel) else new


def _missing(items: Sequence[Any], others: Sequence[Any]) -> tuple[Any, ...] | None:
    """The items that the others do not contain, or None. Of an authorized network only the addresses count."""
    ranges = [IPv4Network(other.cidr) for other in others if isinstance(other, AuthorizedNetworkSpec)]
    joined = tuple(collapse_addresses(ranges))

    def contained(item: Any) -> bool:
        if isinstance(item, AuthorizedNetworkSpec):
            return any(IPv4Network(item.cidr).subnet_of(whole) for whole in joined)
        return item in others

    return tuple(item for item in items if not contained(item)) or None


def _at(value: Any, parts: tuple[str, ...], at: Path = ()) -> Iterator[tuple[Path, Any, Any]]:
    """Each place that a path with `*` names: its path, its value (the keys of a mapping), its default."""
    first, rest = parts[0], parts[1:]
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _at(item, rest, (*at, key))
    elif isinstance(value, BaseModel):
        field = type(value).model_fields[to_snake(first)]
        found = getattr(value, to_snake(first))
        if rest:
            yield from _at(found, rest, (*at, first))
        else:
            default = None if field.is_required() else field.get_default(call_default_factory=True)
            if isinstance(value, TeamSpec) and first == "namespaces":
                found = namespaces_of(str(at[-1]), value)
            elif isinstance(found, Mapping):
                found = tuple(found)
            yield (*at, first), found, default
