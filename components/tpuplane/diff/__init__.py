"""What a change of a description does to what exists, by the docstrings of its fields and both plans. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from tpuplane.diff.compare import differences
from tpuplane.diff.judges import class_of
from tpuplane.diff.node_pools import NodePoolChange, Platform, node_pool_changes
from tpuplane.diff.opens import Opening, openings
from tpuplane.diff.sentences import UnknownConsequence, citation, classes, draining_hours
from tpuplane.plan import plan
from tpuplane.spec import PlatformSpec
from tpuplane.spec.core.errors import Path, dotted

__all__ = [
    "Change",
    "Diff",
    "NodePoolChange",
    "Opening",
    "UnknownConsequence",
    "citation",
    "classes",
    "diff",
    "draining_hours",
]


@dataclass(frozen=True, slots=True)
class Change:
    """One changed field, or a new or removed part."""

    path: Path
    before: object
    """None if it is new."""
    after: object
    """None if it is removed."""
    kind: str
    """Its class, a key of `classes`."""
    why: str
    """The sentence of the field's docstring."""
    source: str
    node_pools: tuple[NodePoolChange, ...]


@dataclass(frozen=True, slots=True)
class Diff:
    """All changes between two descriptions."""

    before: Platform
    after: Platform
    changes: tuple[Change, ...]
    """Those first that interrupt most."""
    opens: tuple[Opening, ...]

    def reaches(self, kind: str) -> bool:
        """Whether a change is of this class or of one that interrupts more."""
        order = list(classes())
        return any(order.index(it.kind) >= order.index(kind) for it in self.changes)


def diff(before: PlatformSpec, after: PlatformSpec) -> Diff:
    """Every change, with its class. Raises `UnknownConsequence` if a docstring names none."""
    old, new = (Platform(it, plan(_sorted(it))) for it in (before, after))
    found = []
    for it in differences(before, after):
        kind = class_of(it, old, new)
        pools = tuple(node_pool_changes(kind, it.path, old, new))
        found.append(Change(it.path, it.before, it.after, kind, it.why.text, it.why.source, pools))
    order = list(classes())
    found.sort(key=lambda it: (-order.index(it.kind), dotted(it.path)))
    return Diff(old, new, tuple(found), tuple(openings(before, after)))


def _sorted(part: Any) -> Any:
    """The same with every mapping in the order of its keys, which no resource depends on."""
    if isinstance(part, BaseModel):
        return part.model_copy(update={name: _sorted(getattr(part, name)) for name in part.model_fields_set})
    if isinstance(part, Mapping):
        return {key: _sorted(part[key]) for key in sorted(part)}
    return part
