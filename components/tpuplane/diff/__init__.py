"""The effects of a change to a description on existing resources, by the types of its fields and both plans. Pure."""

from dataclasses import dataclass, replace
from itertools import chain

from tpuplane.diff.addresses import conflicts, described
from tpuplane.diff.advice import Advice, advice
from tpuplane.diff.compare import differences
from tpuplane.diff.judges import class_of
from tpuplane.diff.kept import certain, updated, without_effect
from tpuplane.diff.namespaces import deleted_namespaces
from tpuplane.diff.node_pools import NodePoolChange, Platform, node_pool_changes, planned, rekeyed, tainting
from tpuplane.diff.opens import Opening, closings, openings
from tpuplane.diff.rejections import Rejection, of_node_pools, rejections
from tpuplane.diff.slices import switching_off
from tpuplane.diff.storage import ClaimChange, aging, claim_changes
from tpuplane.spec import PlatformSpec
from tpuplane.spec.core.changes import ChangeClass, citation, classes
from tpuplane.spec.core.errors import Path, dotted

__all__ = ["MARKS", "Change", "Diff", "NodePoolChange", "Opening", "Rejection", "citation", "classes", "diff"]


MARKS = ("opens", "closes", "rejected")
"""Marks of changes, whatever their class."""


@dataclass(frozen=True, slots=True)
class Change:
    """One changed field, or a new or removed part."""

    path: Path
    before: object
    """None if it is new."""
    after: object
    """None if it is removed."""
    kind: ChangeClass
    """Its class."""
    why: str
    """The sentence about this change."""
    source: str
    node_pools: tuple[NodePoolChange, ...]
    claims: tuple[ClaimChange, ...]
    namespaces: tuple[tuple[str, str], ...] = ()
    """The key of the cluster and the name of each namespace that it deletes."""
    held_by: tuple[str, ...] | None = None
    """The jobs in these namespaces now. None if it deletes none, or a cluster was not read."""


@dataclass(frozen=True, slots=True)
class Diff:
    """All changes between two descriptions."""

    before: Platform
    after: Platform
    changes: tuple[Change, ...]
    """Those first that interrupt most."""
    opens: tuple[Opening, ...]
    closes: tuple[Opening, ...]
    rejected: tuple[Rejection, ...]
    """Why the update fails, or can fail."""
    advice: tuple[Advice, ...]
    """How no work or node pool is lost, or how GKE's slice controller is switched off."""

    @property
    def marks(self) -> dict[str, tuple[Opening, ...]]:
        """The openings and closings, by the name of the mark; only marks that this diff has."""
        return {mark: those for mark, those in (("opens", self.opens), ("closes", self.closes)) if those}

    def reaches(self, kind: str) -> bool:
        """Whether a change is of this class or of one that interrupts more; or has this mark: opens, closes, rejected.

        If no work is known to hold the quota, nothing is rejected.
        """
        if kind in MARKS:
            return any(kind != "rejected" or item.held_by != () for item in getattr(self, kind))
        order: list[str] = list(classes())
        return any(order.index(change.kind) >= order.index(kind) for change in self.changes)


def diff(before: PlatformSpec, after: PlatformSpec) -> Diff:
    """Every change, with its class."""
    without, keyed, renames = rekeyed(before, after)
    old = planned(before)._replace(renames=renames)
    new = updated(old, planned(after))
    found, sure, inert = [], [], set[Path]()
    for difference in chain.from_iterable(map(differences, (before, without, keyed), (without, keyed, after))):
        ignored = without_effect(difference, old, new)
        kind: ChangeClass = "nothing" if ignored else class_of(difference, old, new)
        path, clause = difference.path, ignored or difference.change.clause(difference.event, kind)
        inert |= {path} if ignored else set()
        clause += aging(path, old, new) + tainting(path, old, new) if kind == "in-place" else ""
        pools = tuple(node_pool_changes(kind, path, old, new))
        if certain(difference, old, new):
            sure.append((path, kind))
        else:  # no advice to give up the protection
            pools = tuple(replace(pool, protected=False) for pool in pools)
        claims = tuple(sorted(claim_changes(path, old.plan, new.plan), key=lambda claim: (claim.cluster, claim.done)))
        values = (difference.before, difference.after)
        gone = tuple(deleted_namespaces(path, old, new)) if kind == "deletes-work" else ()
        found.append(Change(path, *values, kind, clause, difference.change.source, pools, claims, gone))
    order = list(classes())
    found.sort(key=lambda change: (-order.index(change.kind), dotted(change.path)))
    reached = [(change.path, change.kind, change.node_pools) for change in found]
    rejected = tuple(rejections(sure, old, new))
    rejected += tuple(of_node_pools(reached, {rejection.path for rejection in rejected}))
    if (before.name, before.project) == (after.name, after.project):  # else it is another VPC
        rejected += tuple(conflicts(described(before), after))
    advised = *advice(reached, old, after), *switching_off(old, new)
    # An opening counts even without effect yet. Kept properties close when they leave the list, which is a rule too.
    opened = tuple(openings(keyed, after))
    closed = tuple(closing for closing in closings(keyed, after) if closing.path not in inert)
    return Diff(old, new, tuple(found), opened, closed, rejected, advised)
