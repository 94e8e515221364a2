"""Clusters, pools and work that a plan replaces or deletes, with the classes of `tpuplane diff` if they are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tpuplane.labels import POOL_LABEL
from tpuplane.quantities import counted
from tpuplane.spec.core.errors import dotted

from tpuplane_policies.core.judging import UNREADABLE, Demands, Options, demand, separately
from tpuplane_policies.core.plans import Plan, Step
from tpuplane_policies.core.registry import data, plan_rule
from tpuplane_policies.core.resources import CLUSTER, POOL, Resource, inline_pools, matches
from tpuplane_policies.core.values import UNKNOWN, Truth, UndecidedError, Value, all_of
from tpuplane_policies.rules import kinds
from tpuplane_policies.rules.places import cluster_home, home, may_be, may_equal
from tpuplane_policies.rules.pools import gpus_per_node, node_range, tpu_hosts, zone_count

if TYPE_CHECKING:
    from tpuplane.diff import Change

REPLACING = ("replace", "create-replacement", "delete-replaced")
WORK = (kinds.NAMESPACE, kinds.COMPUTE_CLASS, kinds.CLUSTER_QUEUE, kinds.LOCAL_QUEUE)
"""The resources of which teams, classes and queues consist."""
OPERATOR = "tpuplane:index:Operator$"
"""Part of the URN of an add-on's chart. If the description removes the add-on, its change is judged instead."""
REFRESH = "run `pulumi refresh`, after which the state names the zones"
CLUSTERS, POOLS = ("replaces-cluster", "replaces-everything"), ("replaces-pools",)
DELETED = ("deletes-nodes", "deletes-work", "deletes-cluster")
"""The classes of `tpuplane diff` that REP001, REP002 and REP009 judge."""


def _lost(plan: Plan, *types: str) -> Iterator[Step]:
    """Each replaced or deleted resource once: of its steps, the last that names fields, as only some of them do."""
    found: dict[str, Step] = {}
    for step in plan.steps:
        lost = step.op in (*REPLACING, "delete") and not step.before_options.get("retainOnDelete")
        if lost and matches(types, step.resource.type) and (step.fields or step.resource.urn not in found):
            found[step.resource.urn] = step
    yield from found.values()


def _included(plan: Plan) -> Callable[[Step], bool]:
    """A test of whether the cluster of a pool or an object is lost too, or the namespace of a queue."""
    clusters = [step.before for step in _lost(plan, CLUSTER)]
    urns = {cluster.urn for cluster in clusters}
    namespaces = {_in_cluster(step, "metadata.name") for step in _lost(plan, kinds.NAMESPACE)}

    def included(step: Step) -> bool:
        if matches((kinds.LOCAL_QUEUE,), step.resource.type) and _in_cluster(step, "metadata.namespace") in namespaces:
            return True
        return step.before_options.get("deletedWith") in urns or any(_in(step.before, cluster) for cluster in clusters)

    return included


def _in(pool: Resource, cluster: Resource) -> bool:
    """Whether a node pool is of a cluster. Clusters of one name differ in location or project."""
    known = all(name not in (None, UNKNOWN) for name in (pool["cluster"].raw, cluster["name"].raw))
    return known and may_be(home(pool), cluster_home(cluster))


def _in_cluster(step: Step, path: str) -> tuple[object, object]:
    """The provider, which identifies the cluster, and the value of a property."""
    return step.before_options.get("provider"), step.before[path].raw


def _names(change: Change, pool: Resource, *done: str) -> bool:
    """Whether a change does one of these things to a node pool."""
    known = (pool["cluster"].raw, pool["name"].raw)
    found = (lost for lost in change.node_pools if (lost.cluster, lost.name) == known and lost.done in done)
    return any(may_equal(pool["location"].raw, lost.location) for lost in found)


def _changes(plan: Plan, classes: Sequence[str]) -> Iterator[Change]:
    yield from (change for change in (plan.changes.changes if plan.changes else ()) if change.kind in classes)


def _forcing(step: Step) -> str:
    """The beginning of the sentence: what forces the replacement, with its verb.

    For a resource that the user selects, the engine names the id.
    """
    if step.fields == ("id",):
        return "--target-replace or pulumi state taint forces the replacement of"
    return f"a change to {', '.join(step.fields) or 'a dependency'} replaces"


def _replacing(plan: Plan, step: Step) -> str | None:
    """The cause of a replacement of a pool: its properties, or the field whose change deletes it and creates others."""
    if step.op in REPLACING:
        return _forcing(step)
    if plan.changes:
        changes = (change for change in _changes(plan, POOLS) if _names(change, step.before, "replaced", "deleted"))
        return next((f"a change to {dotted(change.path)} replaces" for change in changes), None)
    place, created = _place(step.before), (new.resource for new in plan.steps if new.op == "create")
    pools = (resource for resource in created if resource.type == POOL)
    others = [str(pool["name"].raw) for pool in pools if place is not None and _place(pool) == place]
    return f"a change to the pool's node pools, to {', '.join(sorted(others))}, replaces" if others else None


def _place(pool: Resource) -> tuple[object, ...] | None:
    """The cluster of a node pool, the pool of the description that it belongs to, and the location."""
    place = pool["cluster"].raw, pool["nodeConfig.labels"].child(POOL_LABEL).raw
    return None if None in place or UNKNOWN in place else (*place, pool["location"].raw)


def _without_steps(plan: Plan, classes: Sequence[str], *types: str) -> Demands:
    """Changes to the description that no single step shows, such as the removal of an operator."""
    lost = [step.before for step in _lost(plan, *types)]
    pools = [step.before for step in plan.steps if step.resource.type == POOL and step.op != "same"]
    for change in _changes(plan, classes):
        ends = tuple(f"-{part}" for part in change.path[1:])
        shown = any(_names(change, pool, "replaced", "deleted", "resized") for pool in pools)
        if not shown and not any(not ends or resource.name.endswith(ends) for resource in lost):
            path = dotted(change.path)
            described = Resource("a change to the description", path, path, dict)  # approvals name its path
            yield demand(False, described.props, f"{change.kind}: {change.why.rstrip('.')}")


@plan_rule("REP001")
def no_cluster_is_replaced(plan: Plan, options: Options) -> Demands:
    """The replacement of a cluster deletes everything in it."""
    for step in _lost(plan, CLUSTER):
        if step.op in REPLACING:
            pools = sum(lost.op in REPLACING for lost in _lost(plan, POOL))
            text = f"{_forcing(step)} this cluster and deletes all workloads in it; replaced node pools: {pools}"
            yield demand(False, step.resource.props, text)
    yield from _without_steps(plan, CLUSTERS, CLUSTER)


@plan_rule("REP002")
def replaced_pools_are_approved(plan: Plan, options: Options) -> Demands:
    """The replacement of a pool ends the workloads on its nodes. New nodes may not be available."""
    for step in _lost(plan, POOL):
        if cause := _replacing(plan, step):
            text = (
                f"{cause} this pool: {_capacity(step.before)} are "
                f"unavailable for at least {options['minutes']:g} minutes, or longer if Google has no capacity"
            )
            yield demand(False, step.resource.props, text)
    yield from _without_steps(plan, POOLS, POOL)


@plan_rule("REP009")
def deletions_are_approved(plan: Plan, options: Options) -> Demands:
    """A deleted cluster counts once, without its contents. REP001 and REP002 judge replacements."""
    included = _included(plan)
    for step in _lost(plan, CLUSTER):
        if step.op not in REPLACING:
            pools = sum(_in(lost.before, step.before) for lost in _lost(plan, POOL))
            text = f"the cluster is deleted with everything in it; node pools: {pools}"
            yield demand(False, step.resource.props, text)
    for step in _lost(plan, POOL):
        if not included(step) and not _replacing(plan, step):
            text = f"the pool is deleted with the work on it: {_capacity(step.before)}"
            yield demand(False, step.resource.props, text)
    removed = any("addons" in change.path for change in _changes(plan, DELETED))
    for kind, effect in data("losses").items():
        for step in _lost(plan, kinds.KINDS[kind]):
            described = removed and kind == "TEMPLATES" and OPERATOR in step.resource.urn
            if not included(step) and not described:
                done = "replaced" if step.op in REPLACING else "deleted"
                text = f"{step.resource.type.rpartition(':')[2]} is {done}, and {effect}"
                yield demand(False, step.resource.props, text)
    for change in _changes(plan, DELETED):
        for step in plan.steps:
            if step.op == "update" and step.resource.type == POOL and _names(change, step.before, "resized"):
                text = f"a change to {dotted(change.path)} deletes nodes of this pool with the work on them"
                yield demand(False, step.resource.props, text)
    yield from _without_steps(plan, DELETED, CLUSTER, POOL, *WORK)
    if plan.unread:
        raise UndecidedError(Value(UNKNOWN, plan.unread, remedy=plan.remedy))


@plan_rule("REP009")
def updates_delete_no_nodes(plan: Plan, options: Options) -> Demands:
    """A description, if there is one, says what an update does to the nodes, except those of a default pool."""
    for step in plan.steps:
        if step.op == "update" and step.resource.type == CLUSTER:
            former, removed = (cluster["removeDefaultNodePool"] for cluster in (step.before, step.resource))
            text = "the default pool of this cluster is deleted with the work on it"
            yield demand(former.is_true | ~removed.is_true, removed, text)
    if plan.changes is None:
        yield from separately(_updated(plan), _keeps_its_nodes)


def _updated(plan: Plan) -> Iterator[tuple[Resource, Resource]]:
    """Each updated cluster and pool before and after, with the node pools inside clusters and the zones of both.

    The provider reports the zones that GKE chose. GKE keeps them if the new description names none.
    """
    for step in plan.steps:
        if step.op == "update" and step.resource.type in (CLUSTER, POOL):
            outputs = replace(step.before, load=partial(dict, step.before_options.get("outputs") or {}))
            former, existing, new = ((whole, *inline_pools(whole)) for whole in (step.before, outputs, step.resource))
            named = ((part.path, part["nodeLocations"].raw) for part in (*former, *existing))
            zones = {path: raw for path, raw in named if raw is not None}
            for before, after in zip(former, new, strict=False):
                known = zones.get(before.path)
                yield _in_zones(before, known), _in_zones(after, after["nodeLocations"].raw or known)


def _in_zones(resource: Resource, zones: object) -> Resource:
    if resource.props.is_unknown:
        return resource
    return replace(resource, load=lambda: {**resource.props.raw, "nodeLocations": zones})


def _keeps_its_nodes(update: tuple[Resource, Resource]) -> Demands:
    """Without a description, only the cluster and the pool show that they get smaller.

    The autoscaler deletes only idle nodes, also above a lower maximum. GKE deletes the nodes of removed zones, in all
    pools if they are zones of the cluster. The number of nodes stays if the new description sets none.
    """
    former, new = update
    kept, lost = _keeps_its_zones(former, new), "nodes are deleted with the work on them"
    text = f"zones of the {'cluster' if new.type == CLUSTER else 'pool'} are removed, and their {lost}"
    if new["autoscaling"].is_set | new["nodeCount"].is_set:
        before, after = (node_range(pool)[1] for pool in update)
        if after < before:
            kept &= new["autoscaling"].is_set & Truth(zone_count(new) >= zone_count(former))
            text = f"the pool shrinks from {before} to {counted(after, 'node')}, and {lost}"
    yield demand(kept, new.props, text)


def _keeps_its_zones(former: Resource, new: Resource) -> Truth:
    """Whether each zone is kept that is known. It is unknown if the old state does not name the zones."""
    before, after = former["nodeLocations"], new["nodeLocations"]
    if before.raw is None and after.raw:
        return Truth(None, (Value(UNKNOWN, f"{before.path}, the zones that GKE chose", former, remedy=REFRESH),))
    return all_of(after.contains(zone.raw) for zone in before.each() if not zone.is_unknown)


def _capacity(pool: Resource) -> str:
    try:
        hosts, nodes = tpu_hosts(pool), node_range(pool)[1]
    except (UndecidedError, *UNREADABLE):
        return "an unknown number of nodes"
    if hosts is not None:
        return counted(nodes * hosts.machine.chips, "TPU chip")
    gpus = nodes * gpus_per_node(pool)
    return counted(gpus, "GPU") if gpus else counted(nodes, "node")
