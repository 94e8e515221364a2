"""The node pools of two plans that a change reaches: replaced, recreated node by node, deleted, new or reserved."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel
from pydantic.alias_generators import to_snake

from tpuplane.diff.compare import Difference, value_at, with_value
from tpuplane.labels import TPU
from tpuplane.plan import NodePoolPlan, PlatformPlan, plan
from tpuplane.plan.summary import system_nodes
from tpuplane.spec import PlatformSpec, SpecError, SystemPoolSpec
from tpuplane.spec.core.errors import Path
from tpuplane.spec.core.names import SYSTEM_POOL
from tpuplane.spec.pools.hosts import HostsSpec

WHOLE = ("replaces-cluster", "deletes-cluster", "replaces-everything")
"""Classes of changes that delete a cluster."""
Done = Literal["replaced", "rolled", "resized", "deleted", "created"]
Pools = Mapping[tuple[str, str], NodePoolPlan]
"""Node pools by the key of their cluster and their name."""

# Values of the plan with another name than the field that they come from.
_PLANNED = {"generation": "slice", "topology": "slice", "zone": "zones", "accelerator": "gpu", "gpus": "gpu"}
_PLANNED |= {"sharing": "gpu", "driver": "gpu", "partition_size": "gpu", "compact_placement": "compact"}
_PLANNED |= {"formerly": "workload_policy"}  # names of node pools are compared as keys


Renames = Mapping[tuple[str | int, str | int], str]
"""The former key of each renamed pool, by the key of its cluster and the new key."""


class Platform(NamedTuple):
    """A description and its plan."""

    spec: PlatformSpec
    plan: PlatformPlan
    renames: Renames = MappingProxyType({})
    """Of the former description: the pools that the new one has under another key, with `formerly`."""


def planned(spec: PlatformSpec) -> Platform:
    """A description with its plan. Raises `SpecError`."""
    return Platform(spec, plan(_sorted(spec)))


def alone(edit: Difference, before: Platform, after: Platform) -> Platform | None:
    """The description with only this change, or with all changes to its part, such as another unit of a quota.

    None if the spec rejects both.
    """
    path = edit.path
    if path[2:3] in (("pools",), ("gpuPools",)):
        path = (*path[:3], before.renames.get((path[1], path[3]), path[3]), *path[4:])
    for own, value in ((path, edit.after), (path[:-1], value_at(after.spec, edit.path[:-1]))):
        with suppress(SpecError):
            return planned(with_value(before.spec, own, value))
    return None


def rekeyed(before: PlatformSpec, after: PlatformSpec) -> tuple[PlatformSpec, PlatformSpec, Renames]:
    """Give pools that the new description has under another key, with `formerly`, this key.

    Returns the former description without these pools and those whose keys they take, then with the new keys.
    """
    without, keyed, renames = before, before, dict[tuple[str | int, str | int], str]()
    for cluster in before.clusters.keys() & after.clusters.keys():
        for kind in ("pools", "gpuPools"):
            above = ("clusters", cluster, kind)
            olds, news = value_at(before, above), value_at(after, above)
            # Names of node pools begin with the stem, whatever the key is.
            stems = {old.formerly or key: key for key, old in olds.items()}
            own = {key: stems.get(pool.formerly or key, key) for key, pool in news.items()}
            own = {key: former for key, former in own.items() if former != key}
            renames |= {(cluster, key): former for key, former in own.items()}
            left = {key: old for key, old in olds.items() if key not in own and key not in own.values()}
            new = {key: unnamed(olds[former], news[key].formerly) for key, former in own.items()}
            without, keyed = with_value(without, above, left), with_value(keyed, above, {**left, **new})
    return without, keyed, renames


def _sorted(part: Any) -> Any:
    """The same with every mapping in the order of its keys, which no resource depends on."""
    if isinstance(part, BaseModel):
        return part.model_copy(update={name: _sorted(getattr(part, name)) for name in part.model_fields_set})
    if isinstance(part, Mapping):
        return {key: _sorted(part[key]) for key in sorted(part)}
    return part


@dataclass(frozen=True, slots=True)
class NodePoolChange:
    """One GKE node pool that a change reaches: of the former plan, or of the new one if it is new."""

    cluster: str
    """Its name in GKE."""
    location: str
    """The location of the cluster."""
    name: str
    done: Done
    nodes: int
    """Its nodes at full scale; of a resized pool, those that are deleted."""
    chips: int
    gpus: int
    of_nodes: int
    """All nodes of the pool at full scale."""
    at_a_time: int
    """Nodes that GKE upgrades at the same time: all of a multi-host slice."""
    chosen: bool
    """Whether GKE chooses the nodes that are deleted: not if all nodes of a zone or of the pool are."""
    protected: bool = False
    """Whether Pulumi rejects it, because the node pool is adopted and its cluster has `deletionProtection`."""
    held_by: tuple[str, ...] | None = None
    """The jobs with chips or GPUs on its nodes now. None if they were not read."""


def pools_at(path: Path, platform: Platform) -> Pools:
    """The node pools that the field at `path` affects: those of a pool, of a cluster, of a reservation, or all."""
    own = {(cluster.key, pool.name): pool for cluster in platform.plan.clusters for pool in cluster.node_pools}
    match path:
        case ("clusters", cluster, "pools" | "gpuPools", pool, *field):
            # Another pool can have had the new key of a renamed pool.
            pool = platform.renames.get((cluster, pool), pool) if field else pool
            return {key: plan for key, plan in own.items() if key[0] == cluster and plan.pool == pool}
        case ("clusters", cluster, "systemPool", *_):
            return {key: plan for key, plan in own.items() if key[0] == cluster and plan.pool == SYSTEM_POOL}
        case ("clusters", cluster, *_):
            return {key: plan for key, plan in own.items() if key[0] == cluster}
        case ("reservations", name, *_):
            return {key: plan for key, plan in own.items() if _uses(described(key, plan, platform), name)}
    return own


def described(key: tuple[str, str], pool: NodePoolPlan, platform: Platform) -> HostsSpec | SystemPoolSpec:
    """The description of a node pool."""
    cluster = platform.spec.clusters[key[0]]
    return cluster.pools.get(pool.pool) or cluster.gpu_pools.get(pool.pool) or cluster.system_pool


def unnamed(pool: HostsSpec | SystemPoolSpec, name: str | None = None) -> HostsSpec | SystemPoolSpec:
    """The description without the former name, or with another one."""
    return pool.model_copy(update={"formerly": name}) if isinstance(pool, HostsSpec) else pool


def _uses(pool: HostsSpec | SystemPoolSpec, reservation: str | int) -> bool:
    use = pool.reservation if isinstance(pool, HostsSpec) else None
    return use is not None and use.name == reservation


def planned_names(path: Path) -> tuple[str, ...]:
    """The values of a node pool's plan that come from the field at `path`; empty if the plan has only the field."""
    match path:
        case ("clusters", *_, "adopted", "names"):
            return ("name",)
        case ("clusters", _, "pools" | "gpuPools", _, "capacity"):
            return ("capacity", "flex_start", "reservation")
        case ("clusters", _, "pools" | "gpuPools", _, str(field), *_) | ("clusters", _, "systemPool", str(field), *_):
            name = _PLANNED.get(to_snake(field), to_snake(field))
            return (name,) if name in NodePoolPlan.__dataclass_fields__ else ()
        case ("reservations", _, "project"):
            return ("reservation",)
        case ("reservations", _, "maintenanceInterval"):
            return ("host_maintenance",)
    return ()


def stays(path: Path, before: NodePoolPlan, after: NodePoolPlan) -> bool:
    """Whether the planned values stay the same, for example because the new value is the former default."""
    if path[0] == "clusters" and "adopted" in path[3:5]:
        return set(before.kept) <= set(after.kept)
    names = planned_names(path)
    return bool(names) and all(_value(before, name) == _value(after, name) for name in names)


def _value(pool: NodePoolPlan, name: str) -> Any:
    """A planned value without what makes no difference, such as the order of zones or the unit of a duration."""
    value = getattr(pool, name)
    match name:
        case "zones":
            return set(value)
        case "capacity":  # the others are a flex start or a reservation
            return value == "spot"
        case "flex_start":
            return value and (value.max_run_seconds, value.queued)
    return value


def moved(path: Path, key: tuple[str, str], own: Platform, other: Platform) -> bool:
    """Whether the node pool is also in the other description, under another key of its pool."""
    pool, found = (pools_at(path[:2], platform).get(key) for platform in (own, other))
    if path[0] != "clusters" or pool is None or found is None:
        return False
    same = pool.workload_policy == found.workload_policy
    return same and unnamed(described(key, pool, own)) == unnamed(described(key, found, other))


def node_pool_changes(kind: str, path: Path, before: Platform, after: Platform) -> Iterator[NodePoolChange]:
    """The effects of a change of this class on each node pool."""
    olds, news = pools_at(path, before), pools_at(path, after)
    names_cluster = path[2:3] in ((), ("existing",), ("location",))
    if kind in WHOLE or (kind == "deletes-work" and names_cluster and in_existing_cluster(path, before)):
        yield from (_changed(before, key, pool, "replaced" if key in news else "deleted") for key, pool in olds.items())
        yield from (_changed(after, key, pool, "created") for key, pool in news.items() if key not in olds)
    # Other pools of the cluster have a change of their own.
    own = path[0] == "clusters" and (len(path) == 2 or path[2] in ("pools", "gpuPools", "systemPool"))
    touched: dict[str, Done] = {"replaces-pools": "replaced", "rolls-nodes": "rolled", "deletes-nodes": "resized"}
    if kind not in (*touched, "creates"):
        return
    whole = len(path) == 4 and path[2] in ("pools", "gpuPools")  # a former pool, or a new one with its key
    for key, old in olds.items() if not whole or kind != "creates" else ():
        if (new := news.get(key)) is None:
            yield from [_changed(before, key, old, "deleted")] * (own and not moved(path, key, before, after))
        elif kind == "deletes-nodes":
            yield from [_changed(before, key, old, "resized", new)] * bool(_fewer(old, new))
        elif kind in touched and not stays(path, old, new) and (kind != "rolls-nodes" or _rolls(path, new)):
            yield _changed(before, key, old, touched[kind])
    for key, new in news.items() if own and (not whole or kind == "creates") else ():
        if key not in olds and not moved(path, key, after, before):
            yield _changed(after, key, new, "created")


def in_existing_cluster(path: Path, platform: Platform) -> bool:
    """Whether the field at `path` belongs to an existing cluster, or is that cluster."""
    cluster = platform.spec.clusters.get(str(path[1])) if path[0] == "clusters" and len(path) > 1 else None
    return cluster is not None and cluster.existing is not None


def _fewer(old: NodePoolPlan, new: NodePoolPlan) -> int:
    """Nodes of a kept node pool that are deleted: of zones that it leaves, and of a smaller number in each zone."""
    return sum(max(0, old.max_nodes - (new.max_nodes if zone in new.zones else 0)) for zone in old.zones)


def _rolls(path: Path, pool: NodePoolPlan) -> bool:
    """Whether GKE recreates the nodes: with a new version of the cluster only those that it upgrades itself."""
    return pool.auto_upgrade or path[2:] not in (("version",), ("releaseChannel",))


def _changed(
    platform: Platform, key: tuple[str, str], pool: NodePoolPlan, done: Done, new: NodePoolPlan | None = None
) -> NodePoolChange:
    cluster = next(cluster for cluster in platform.plan.clusters if cluster.key == key[0])
    system = pool is cluster.system_pool
    every = system_nodes(cluster)[1] if system else pool.max_nodes * len(pool.zones)
    nodes = _fewer(pool, new) if new else every
    units = 0 if system else pool.node_accelerators * nodes
    chips, gpus = (units, 0) if pool.resource == TPU else (0, units)
    at_a_time = every if pool.placement_topology else pool.upgrade.max_surge + pool.upgrade.max_unavailable
    chosen = new is not None and 0 < new.max_nodes < pool.max_nodes
    protected = pool.imported and cluster.deletion_protection and done in ("deleted", "replaced")
    place = cluster.name, cluster.location
    return NodePoolChange(*place, pool.name, done, nodes, chips, gpus, every, at_a_time, chosen, protected)


def tainted(path: Path, before: Platform, after: Platform) -> list[str]:
    """The existing node pools that the field at `path` reserves for the pods of a class."""
    if path[0] != "classes" and path[-1] != "computeClass":
        return []
    olds, news = pools_at(path, before), pools_at(path, after)
    both = ((olds[key].compute_class, news[key]) for key in sorted(olds.keys() & news.keys()))
    reserved = [new for old, new in both if new.compute_class not in (None, old)]
    return [pool.name for pool in reserved if path[0] != "classes" or pool.compute_class == path[1]]


def tainting(path: Path, before: Platform, after: Platform) -> str:
    """A sentence if pods of no class, or of another one, can no longer start on existing node pools."""
    if not (names := tainted(path, before, after)):
        return ""
    return f" Outside of queues, pods that do not select the class no longer start on {', '.join(names)}."
