"""From a path to its planned values, each with its reason."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from operator import attrgetter
from typing import Any

from pydantic.alias_generators import to_camel

from tpuplane.explain.facts import cluster_facts, gpu_pool_facts, pool_facts, system_facts
from tpuplane.explain.paths import Target, UnknownPath, resolve
from tpuplane.explain.reasons import Entry, Facts, entries
from tpuplane.gpu import GpuMachine
from tpuplane.plan import ClusterPlan, PlatformPlan
from tpuplane.spec import PlatformSpec
from tpuplane.tpu import Slice


@dataclass(frozen=True, slots=True)
class Explained:
    """One planned value."""

    name: str
    value: str
    reason: str
    sources: tuple[str, ...]
    """Keys for `citation`: where the rule comes from. Empty for the user's own choices and tpuplane's."""
    written: tuple[str, ...] | None
    """The path in the user's file that it comes from, where it does."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A pool, a system pool or a cluster, and its planned values."""

    path: str
    values: tuple[Explained, ...]


def explain(spec: PlatformSpec, platform: PlatformPlan, path: str) -> Explanation:
    """Why the values at a path are what they are. `platform` is the plan of `spec`.

    Raises `UnknownPath` with what there is instead.
    """
    target, wanted = resolve(spec, path)
    cluster = next(cluster for cluster in platform.clusters if cluster.key == target.cluster)
    things, facts = _look(spec, cluster, target)
    chosen = entries(target.kind) if wanted is None else (wanted,)
    planned = (entry for entry in chosen if _is_planned(entry.of, things))
    return Explanation(target.path, tuple(_explained(entry, things, facts, target) for entry in planned))


def _is_planned(of: str, things: Sequence[Any]) -> bool:
    """Whether the part that a value stands in is planned at all: an existing cluster has no subnetwork of ours."""
    part, inside, _ = of.partition(".")
    return not inside or all(getattr(thing, part) is not None for thing in things)


def _look(spec: PlatformSpec, cluster: ClusterPlan, target: Target) -> tuple[Sequence[Any], Facts]:
    """The parts of the plan that a target is, and what is known about them."""
    described = spec.clusters[target.cluster]
    if target.kind == "cluster":
        return [cluster], cluster_facts(described, cluster)
    if target.kind == "systemPool":
        return [cluster.system_pool], system_facts(described, cluster)
    if target.kind == "gpuPool":
        (pool,) = (pool for pool in cluster.gpu_pools if pool.pool == target.pool)
        return [pool], gpu_pool_facts(described.gpu_pools[target.pool], cluster, pool)
    members = [pool for pool in cluster.tpu_pools if pool.pool == target.pool]
    if not members:
        raise UnknownPath(f"{target.path} has no slices, so nothing of it is planned; give it slices: 1 to see")
    return members, pool_facts(described.pools[target.pool], cluster, members)


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
        case _ if is_dataclass(value) and not isinstance(value, Slice | GpuMachine):
            text = " ".join(f"{to_camel(part.name)}={_shown(getattr(value, part.name))}" for part in fields(value))
        case _:
            text = str(value)
    return text
