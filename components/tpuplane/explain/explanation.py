"""From a path to its planned values, each with its reason."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from operator import attrgetter
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_camel, to_snake

from tpuplane.explain.facts import cluster_facts, gpu_pool_facts, pool_facts, system_facts, team_facts
from tpuplane.explain.fields import Field, find, root
from tpuplane.explain.paths import Target, UnknownPath, planned, resolve, targets
from tpuplane.explain.reasons import Entry, Facts, entries
from tpuplane.explain.views import addon_views, class_views, team_views
from tpuplane.gpu import GpuMachine
from tpuplane.plan import PlatformPlan
from tpuplane.quantities import singular
from tpuplane.spec import PlatformSpec
from tpuplane.spec.core.errors import Path, dotted
from tpuplane.tpu import Slice

# Shown with all of their fields, because the plan has few values for them.
_DESCRIBED = ("addon", "team", "class")
_FIELD_BY_FIELD = ("controlPlane", "monitoring")


@dataclass(frozen=True, slots=True)
class Explained:
    """One planned value."""

    name: str
    value: str
    reason: str
    sources: tuple[str, ...]
    """Keys of `citation` for the rule; empty for choices of the user and of tpuplane."""
    written: Path | None
    """The path in the user's file, if the file sets the value."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A planned object or a place in the description, with its values."""

    path: str
    values: tuple[Explained, ...]


def explain(spec: PlatformSpec, platform: PlatformPlan, path: str) -> Explanation:
    """The reasons for the values at a path. `platform` is the plan of `spec`.

    A planned object has its planned values. Teams, classes, add-ons and other places of the description also have the
    value and the documentation of each field. Raises `UnknownPath` with the allowed paths.
    """
    found = resolve(spec, path)
    if isinstance(found, Field):
        path, values = found.path, _described(spec, platform, found, len(found.parts))
    else:
        target, entry = found
        path, values = target.path, _planned(spec, platform, target, entry)
        if entry is None and target.kind in _DESCRIBED:
            place, _ = find(root(spec), path)
            values = itertools.chain(values, _described(spec, platform, place, len(place.parts)))
    return Explanation(path, tuple({value.name: value for value in values}.values()))


def _planned(spec: PlatformSpec, platform: PlatformPlan, target: Target, wanted: Entry | None) -> Iterator[Explained]:
    """The planned values of an object, or only the wanted one."""
    things, facts = planned_parts(spec, platform, target)
    for entry in entries(target.kind) if wanted is None else (wanted,):
        if things and _is_planned(entry.of, things):
            yield _explained(entry, things, facts, target)


def _described(spec: PlatformSpec, platform: PlatformPlan, place: Field, depth: int) -> Iterator[Explained]:
    """Every value at a place of the description, with the planned value and its reason if the plan has them."""
    known = planned(place, targets(spec))
    within = known[0].parts[depth:] if known else ()  # the path of its object inside the explained place
    found = _planned(spec, platform, *known) if known else ()
    values = [replace(value, name=dotted((*within, value.name))) for value in found]
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
    """The value; for parts of a cluster with the same fields in the plan, the planned value with defaults."""
    match leaf.parts:
        case ("clusters", key, str(part), str(name)) if part in _FIELD_BY_FIELD:
            cluster = next(each for each in platform.clusters if each.key == key)
            return getattr(getattr(cluster, to_snake(part)), to_snake(name), leaf.value)
    return leaf.value


def _is_planned(path: str, things: Sequence[Any]) -> bool:
    """Whether the plan has the part that contains the value: an existing cluster has no planned subnetwork."""
    part, inside, _ = path.partition(".")
    return not inside or all(getattr(thing, part) is not None for thing in things)


def _explained(entry: Entry, things: Sequence[Any], facts: Facts, target: Target) -> Explained:
    reason = entry.reason(facts)
    sources = (attrgetter(source[1:])(facts) if source.startswith("@") else (source,) for source in reason.sources)
    return Explained(
        name=entry.name,
        value=_together(entry.of, things) if entry.planned else _shown(getattr(facts.described, entry.of)),
        reason=singular(reason.text.format(**vars(facts))),
        sources=tuple(dict.fromkeys(itertools.chain.from_iterable(sources))),
        written=(*target.parts, to_camel(reason.written)) if reason.written else None,
    )


def _together(path: str, things: Sequence[Any]) -> str:
    """The value; several values if the node pools of a pool differ: `a for x; b for y, z`."""
    names: dict[str, list[str]] = {}
    for thing in things:
        names.setdefault(_shown(attrgetter(path)(thing)), []).append(thing.name)
    if path == "name" or len(names) == 1:
        return ", ".join(names)
    return "; ".join(f"{value} for {', '.join(pools)}" for value, pools in names.items())


def _shown(value: object) -> str:
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


def planned_parts(spec: PlatformSpec, platform: PlatformPlan, target: Target) -> tuple[Sequence[Any], Facts]:
    """The parts of the plan for a target, and their facts. Raises `UnknownPath` for a pool without slices."""
    if target.kind == "team":
        return team_views(platform, target.key), team_facts(spec.teams[target.key], spec)
    if target.kind == "class":
        own_class = spec.classes[target.key]
        return class_views(platform, target.key), Facts(written=own_class.model_fields_set, preset=own_class.preset)
    return _parts_in_cluster(spec, platform, target)


def _parts_in_cluster(spec: PlatformSpec, platform: PlatformPlan, target: Target) -> tuple[Sequence[Any], Facts]:
    described = spec.clusters[target.cluster]
    if target.kind == "addon":
        addons = described.addons
        written = (addons.custom.get(target.key) or getattr(addons, to_snake(target.key))).model_fields_set
        return addon_views(platform, target.cluster, target.key), Facts(
            written=written, addon=target.key, own=target.key in addons.custom
        )
    cluster = next(each for each in platform.clusters if each.key == target.cluster)
    if target.kind == "cluster":
        return [cluster], cluster_facts(described, cluster)
    if target.kind == "systemPool" and cluster.system_pool is not None:
        return [cluster.system_pool], system_facts(described, cluster, cluster.system_pool)
    if target.kind == "gpuPool":
        (pool,) = (pool for pool in cluster.gpu_pools if pool.pool == target.key)
        return [pool], gpu_pool_facts(described.gpu_pools[target.key], cluster, pool)
    if not (members := [pool for pool in cluster.tpu_pools if pool.pool == target.key]):
        raise UnknownPath(f"{target.path} has no slices and therefore no plan; set slices: 1 to see it")
    return members, pool_facts(described.pools[target.key], cluster, members)
