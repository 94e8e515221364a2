"""From a path to its planned values, each with its reason."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from operator import attrgetter
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_camel, to_snake

from tpuplane.explain.fields import Field, find, root
from tpuplane.explain.lookup import look
from tpuplane.explain.paths import Target, planned, resolve, targets
from tpuplane.explain.reasons import Entry, Facts, entries
from tpuplane.gpu import GpuMachine
from tpuplane.plan import PlatformPlan
from tpuplane.spec import PlatformSpec
from tpuplane.spec.core.errors import Path, dotted
from tpuplane.tpu import Slice

# Shown with every field of theirs: the plan has few values of its own for them.
_DESCRIBED = ("addon", "team", "class")
_FIELD_BY_FIELD = ("controlPlane", "monitoring")


@dataclass(frozen=True, slots=True)
class Explained:
    """One planned value."""

    name: str
    value: str
    reason: str
    sources: tuple[str, ...]
    """Keys for `citation`: where the rule comes from. Empty for the user's own choices and tpuplane's."""
    written: Path | None
    """The path in the user's file that it comes from, where it does."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A thing of the plan or a place of the description, and its values."""

    path: str
    values: tuple[Explained, ...]


def explain(spec: PlatformSpec, platform: PlatformPlan, path: str) -> Explanation:
    """Why the values at a path are what they are. `platform` is the plan of `spec`.

    A thing of the plan has its planned values; of teams, classes and add-ons, and at every other place of the
    description, each field has its value and what its documentation says. Raises `UnknownPath` with what there is
    instead.
    """
    found = resolve(spec, path)
    if found.target is None:
        place = found.field or root(spec)
        described = _described(spec, platform, place, len(place.parts))
        return Explanation(place.path, tuple({value.name: value for value in described}.values()))
    values = _planned(spec, platform, found.target, found.entry)
    if found.entry is None and found.target.kind in _DESCRIBED:
        place, _ = find(root(spec), found.target.path)
        values = itertools.chain(values, _described(spec, platform, place, len(place.parts)))
    return Explanation(found.target.path, tuple({value.name: value for value in values}.values()))


def _planned(spec: PlatformSpec, platform: PlatformPlan, target: Target, wanted: Entry | None) -> Iterator[Explained]:
    """The planned values of a thing, or the one that is wanted."""
    things, facts = look(spec, platform, target)
    for entry in entries(target.kind) if wanted is None else (wanted,):
        if things and _is_planned(entry.of, things):
            yield _explained(entry, things, facts, target)


def _described(spec: PlatformSpec, platform: PlatformPlan, place: Field, depth: int) -> Iterator[Explained]:
    """Every value at a place of the description; as it is planned, where the plan has a reason of its own for it."""
    known = planned(place, targets(spec))
    values = list(_planned(spec, platform, *known)) if known else []
    below = () if place.value is None else place.children
    if values or not below:
        yield from values or [_as_described(platform, place, depth)]
        return
    for child in below:
        yield from _described(spec, platform, child, depth)


def _as_described(platform: PlatformPlan, leaf: Field, depth: int) -> Explained:
    return Explained(
        name=dotted(leaf.parts[depth:]) or leaf.name,
        value=_shown(_as_planned(platform, leaf)),
        reason=f"{'You chose it' if leaf.written else 'Not set'}. {leaf.text}",
        sources=(),
        written=leaf.parts if leaf.written else None,
    )


def _as_planned(platform: PlatformPlan, leaf: Field) -> Any:
    """The value, in the parts of a cluster that the plan has field by field as it is planned: defaults are there."""
    match leaf.parts:
        case ("clusters", key, str(part), str(name)) if part in _FIELD_BY_FIELD:
            cluster = next(each for each in platform.clusters if each.key == key)
            return getattr(getattr(cluster, to_snake(part)), to_snake(name), leaf.value)
    return leaf.value


def _is_planned(of: str, things: Sequence[Any]) -> bool:
    """Whether the part that a value stands in is planned at all: an existing cluster has no subnetwork of ours."""
    part, inside, _ = of.partition(".")
    return not inside or all(getattr(thing, part) is not None for thing in things)


def _explained(entry: Entry, things: Sequence[Any], facts: Facts, target: Target) -> Explained:
    reason = entry.reason(facts)
    sources = (facts[source] if source.startswith("@") else (source,) for source in reason.sources)
    return Explained(
        name=entry.name,
        value=_together(entry.of, things),
        reason=reason.text.format(**facts),
        sources=tuple(dict.fromkeys(itertools.chain.from_iterable(sources))),
        written=(*target.parts, to_camel(reason.written)) if reason.written else None,
    )


def _together(of: str, things: Sequence[Any]) -> str:
    """The value, or the values where the node pools of one pool differ: `a for x; b for y, z`."""
    names: dict[str, list[str]] = {}
    for thing in things:
        names.setdefault(_shown(attrgetter(of)(thing)), []).append(thing.name)
    if of == "name" or len(names) == 1:
        return ", ".join(names)
    return "; ".join(f"{value} for {', '.join(those)}" for value, those in names.items())


def _shown(value: object) -> str:
    """A planned value as users read it."""
    match value:
        case None:
            text = "none"
        case bool():
            text = "true" if value else "false"
        case Mapping():
            text = ", ".join(f"{key}={_shown(item)}" for key, item in value.items()) or "none"
        case tuple():
            text = ", ".join(_shown(item) for item in value) or "none"
        case BaseModel():
            text = " ".join(f"{to_camel(name)}={_shown(item)}" for name, item in value)
        case _ if is_dataclass(value) and not isinstance(value, Slice | GpuMachine):
            text = " ".join(f"{to_camel(part.name)}={_shown(getattr(value, part.name))}" for part in fields(value))
        case _:
            text = str(value)
    return text
