"""Paths to explain: `clusters.central1.pools.trainer.diskType`, or `pools.trainer` if only one cluster has it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pydantic.alias_generators import to_camel

from tpuplane.explain.fields import Field, find, root
from tpuplane.explain.reasons import Entry, Kind, entries
from tpuplane.spec import PlatformSpec
from tpuplane.spec.core.errors import dotted
from tpuplane.tpu.nearest import nearest_names

# Paths that an error lists.
_SHOWN = 12


class UnknownPath(ValueError):
    """The path does not exist or is ambiguous. The message has the allowed paths."""


@dataclass(frozen=True, slots=True)
class Target:
    """A planned object."""

    kind: Kind
    parts: tuple[str, ...]
    """Its path in the user's file."""

    @property
    def path(self) -> str:
        """The same as text."""
        return ".".join(self.parts)

    @property
    def cluster(self) -> str:
        """Key of its cluster."""
        return self.parts[1]

    @property
    def key(self) -> str:
        """The key of the pool, team, class or add-on."""
        return self.parts[-1]

    @property
    def short(self) -> str:
        """The path without the cluster; empty for a cluster, and for an object outside of clusters."""
        return ".".join(self.parts[2:]) if self.parts[0] == "clusters" else ""

    def is_called(self, name: str) -> bool:
        """Whether `name` is its path or its short path."""
        return bool(name) and name in (self.path, self.short)


def targets(spec: PlatformSpec) -> Iterator[Target]:
    """Every planned object that can be explained, in the order of the file."""
    for key, cluster in spec.clusters.items():
        own = ("clusters", key)
        yield Target("cluster", own)
        yield from (Target("pool", (*own, "pools", pool)) for pool in cluster.pools)
        yield from (Target("gpuPool", (*own, "gpuPools", pool)) for pool in cluster.gpu_pools)
        if cluster.existing is None:
            yield Target("systemPool", (*own, "systemPool"))
        for addon in type(cluster.addons).model_fields:
            if addon != "custom" and getattr(cluster.addons, addon) is not None:
                yield Target("addon", (*own, "addons", to_camel(addon)))
        yield from (Target("addon", (*own, "addons", "custom", addon)) for addon in cluster.addons.custom)
    yield from (Target("team", ("teams", team)) for team in spec.teams)
    yield from (Target("class", ("classes", name)) for name in spec.classes)


def resolve(spec: PlatformSpec, path: str) -> tuple[Target, Entry | None] | Field:
    """The planned object or one of its values at a path, else the place in the description. Raises `UnknownPath`."""
    everything = list(targets(spec))
    places = []
    for place, rest in _places(spec, path):
        if rest.isdecimal() and isinstance(place.value, tuple) and int(rest) < len(place.value):
            return resolve(spec, place.path)  # an item of a list of plain values is explained with its list
        if not rest:
            places.append(place)
    for front, rest in _splits(path):
        if not (found := [target for target in everything if target.is_called(front)]):
            continue
        entry = _entry(found[0].kind, rest)
        if rest and (entry is None or (entry.as_written and any(place.children for place in places))):
            break
        _only(found, path)
        return found[0], entry
    if places:
        # A short path means the clusters that set the part.
        places = [place for place in places if place.within] or places
        _only(places, path)
        return places[0]
    raise UnknownPath(_nothing(spec, path, everything))


def planned(field: Field, everything: Iterable[Target]) -> tuple[Target, Entry] | None:
    """The planned value for a place in the description, if the plan has a name for it."""
    for target in everything:
        length = len(target.parts)
        if length < len(field.parts) and field.parts[:length] == target.parts:
            entry = _entry(target.kind, dotted(field.parts[length:]))
            if entry is not None and not (entry.as_written and field.children):
                return target, entry
    return None


def _splits(path: str) -> Iterator[tuple[str, str]]:
    """All divisions of the path into two parts, the longest first part first."""
    yield path, ""
    parts = path.split(".")
    yield from ((".".join(parts[:index]), ".".join(parts[index:])) for index in range(len(parts) - 1, 0, -1))


def _entry(kind: Kind, name: str) -> Entry | None:
    return next((entry for entry in entries(kind) if name and name in (entry.name, *entry.also)), None)


def _places(spec: PlatformSpec, path: str) -> Iterator[tuple[Field, str]]:
    """The places of a path in the whole description, else in each cluster."""
    whole = root(spec)
    place, rest = find(whole, path)
    if place.parts:
        yield place, rest
        return
    for key in spec.clusters:
        cluster, _ = find(whole, f"clusters.{key}")
        place, rest = find(cluster, path)
        if len(place.parts) > len(cluster.parts):
            yield place, rest


def _only(found: Sequence[Target | Field], path: str) -> None:
    if len(found) > 1:
        choices = ", ".join(each.path for each in found)
        raise UnknownPath(f"{path!r} is in several clusters; allowed: {choices}")


def _nothing(spec: PlatformSpec, path: str, everything: list[Target]) -> str:
    """The allowed values at the last existing part of the path."""
    front, _, field = path.rpartition(".")
    target = next((target for target in everything if target.is_called(front)), None)
    if target is not None:
        known = [*dict.fromkeys(entry.name for entry in entries(target.kind))]
        names = {name: entry.name for entry in entries(target.kind) for name in (entry.name, *entry.also)}
        return _has_no(front, field, known, names)
    known_paths = [target.path for target in everything]
    close = nearest_names(path, [*known_paths, *dict.fromkeys(target.short for target in everything if target.short)])
    place, rest = next(_places(spec, path), (None, path))
    if place is not None and place.children and (not close or place.parts[0] != "clusters"):
        known = [child.name for child in place.children]
        return _has_no(place.path, rest.partition(".")[0], known, {name: name for name in known})
    hint = f"; nearest: {', '.join(close)}" if close else ""
    more = f" and {len(known_paths) - _SHOWN} more" if len(known_paths) > _SHOWN else ""
    return f"the path {path!r} does not exist; allowed: {', '.join(known_paths[:_SHOWN])}{more}{hint}"


def _has_no(front: str, field: str, known: list[str], names: dict[str, str]) -> str:
    close = tuple(dict.fromkeys(names[name] for name in nearest_names(field, tuple(names))))
    hint = f"; nearest: {front}.{close[0]}" if close else ""
    return f"{front} has no {field!r}; allowed: {', '.join(known)}{hint}"
