"""The properties of `adopted.ignoreChanges`: changes that they make without effect, and changes to the list itself."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, TypeVar

from pydantic import BaseModel

from tpuplane.data_files import read_data
from tpuplane.diff.compare import Difference
from tpuplane.diff.node_pools import Platform, alone, pools_at
from tpuplane.plan import ClusterPlan, NodePoolPlan
from tpuplane.spec.core.adopted import is_part, overlap
from tpuplane.spec.core.changes import ChangeClass, classes

_Plan = TypeVar("_Plan", ClusterPlan, NodePoolPlan)
_Classes = Mapping[str, Mapping[ChangeClass, Sequence[str]]]
"""The properties of clusters and node pools, by their class."""
_KEPT: dict[str, Any] = read_data("tpuplane.diff", "kept")
_INTERRUPTS: _Classes = _KEPT["interrupts"]
_PROVIDER: _Classes = read_data("tpuplane.diff", "provider")
_VALUES: Mapping[str, Mapping[str, Sequence[str]]] = _KEPT["values"]
_WORST: dict[str, ChangeClass] = {"cluster": "replaces-cluster", "nodePool": "replaces-pools"}


def updated(before: Platform, after: Platform) -> Platform:
    """The new platform after an update: kept properties of existing resources have their former values."""
    olds = {cluster.key: cluster for cluster in before.plan.clusters}
    clusters = (_updated(olds[new.key], new) if new.key in olds else new for new in after.plan.clusters)
    return after._replace(plan=replace(after.plan, clusters=tuple(clusters)))


def without_effect(edit: Difference, before: Platform, after: Platform) -> str:
    """The sentence about a change that an update ignores, because it is of kept properties only; else empty."""
    clusters = [cluster for cluster in after.plan.clusters if edit.path[0] != "clusters" or cluster.key == edit.path[1]]
    if not any(cluster.kept or any(pool.kept for pool in cluster.node_pools) for cluster in clusters):
        return ""
    only = alone(edit, before, after)
    if only is None or updated(before, only).plan != before.plan:
        return ""
    pairs = zip(before.plan.clusters, only.plan.clusters, strict=True)
    lists = dict.fromkeys(found for old, new in pairs for found in _ignored(old, new))
    names = " and ".join(f"`{name}` is in adopted.ignoreChanges of {holder}" for name, holder in lists)
    return f"Without effect: {names}; remove {'them' if len(lists) > 1 else 'it'} there first." if names else ""


def released(edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    """The class of a change to the list: the worst of the removed properties."""
    order: list[ChangeClass] = list(classes())
    return max((found for found, _ in _released(edit, before, after)), key=order.index, default="nothing")


def certain(edit: Difference, before: Platform, after: Platform) -> bool:
    """Whether an update does what the class says. An unknown property can replace its resource, or not."""
    found = set(_released(edit, before, after)) if edit.change.judge == "kept" else set()
    return not found or (released(edit, before, after), True) in found


def _released(edit: Difference, before: Platform, after: Platform) -> Iterator[tuple[ChangeClass, bool]]:
    """The class of each removed property, and whether it is known."""
    kind = "cluster" if edit.path[2] == "adopted" else "nodePool"
    for removed in set(edit.before) - set(edit.after):
        pools = pools_at(edit.path, after).values() if kind == "nodePool" else ()
        if any(overlap(removed, name) for pool in pools for name in pool.replace_on):
            found = {_WORST[kind]}
        elif (value := _KEPT["one-way"].get(removed)) and any(
            _value(cluster, value) for cluster in after.plan.clusters if cluster.key == edit.path[1]
        ):
            found = {"in-place"}
        else:
            found = {*_classes(_PROVIDER[kind], removed), *_classes(_INTERRUPTS[kind], removed)}
        yield from ((each, True) for each in found)
        if not found:
            yield _WORST[kind], False


def _classes(known: Mapping[ChangeClass, Sequence[str]], removed: str) -> Iterator[ChangeClass]:
    """The classes of a property and of its parts. A property without a row has that of the smallest row with it."""
    rows = {name: found for found, names in known.items() for name in names}
    own = max((name for name in rows if is_part(removed, name)), key=len, default=None)
    yield from (rows[name] for name in rows if name == own or is_part(name, removed))


def _kept(kind: str, plan: ClusterPlan | NodePoolPlan) -> Iterator[tuple[str, str]]:
    """Each planned value that stays, with each kept property that it becomes."""
    for value, names in _VALUES[kind].items():
        if all(any(is_part(name, kept) for kept in plan.kept) for name in names):
            yield from ((kept, value) for kept in plan.kept if any(is_part(name, kept) for name in names))


def _ignored(old: ClusterPlan, new: ClusterPlan) -> Iterator[tuple[str, str]]:
    """Each kept property whose planned value changes, and the part of the description that keeps it."""
    at = f"clusters.{new.key}"
    yield from ((kept, at) for kept, value in _kept("cluster", new) if _value(old, value) != _value(new, value))
    olds = {pool.name: pool for pool in old.node_pools}
    for pool in new.node_pools:
        place = "systemPool" if pool is new.system_pool else f"{'gpuPools' if pool.gpu else 'pools'}.{pool.pool}"
        for kept, value in _kept("nodePool", pool) if pool.name in olds else ():
            if _value(olds[pool.name], value) != _value(pool, value):
                yield kept, f"{at}.{place}"


def _updated(old: ClusterPlan, new: ClusterPlan) -> ClusterPlan:
    olds = {pool.name: pool for pool in old.node_pools}
    pools = [_with_kept("nodePool", olds.get(pool.name, pool), pool) for pool in new.node_pools]
    system = pools.pop(0) if new.system_pool else None
    return replace(_with_kept("cluster", old, new), system_pool=system, pools=tuple(pools))


def _with_kept(kind: str, old: _Plan, new: _Plan) -> _Plan:
    """The plan of an existing resource with the former values of its kept properties."""
    return reduce(lambda plan, kept: _with_former(plan, old, kept[1].split(".")), _kept(kind, new), new)


def _with_former(new: Any, old: Any, names: list[str]) -> Any:
    if new is None or old is None:  # only a part of it is kept
        return new
    name, *rest = names
    value = _with_former(getattr(new, name), getattr(old, name), rest) if rest else getattr(old, name)
    return new.model_copy(update={name: value}) if isinstance(new, BaseModel) else replace(new, **{name: value})


def _value(part: Any, value: str) -> Any:
    return reduce(lambda part, name: getattr(part, name, None), value.split("."), part)
