"""The effect of a change to a field on existing resources: the class in the field's type, and its sentence."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tpuplane.spec.core.fields import is_model, unwrap, unwrap_all
from tpuplane.spec.core.rules import spec_data

T = TypeVar("T")
ChangeClass = Literal[
    "nothing",
    "in-place",
    "creates",
    "deletes",
    "rolls-nodes",
    "replaces-pools",
    "deletes-nodes",
    "deletes-work",
    "replaces-cluster",
    "deletes-cluster",
    "replaces-everything",
]
"""The classes of changes, from the least to the most that a change interrupts."""
Event = Literal["change", "new", "removed", "on", "off"]
"""Another value, a value or name that is new or removed, a boolean that is switched on or off."""


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """The effect of a change to a field: one class, or one for each direction, or the answer of a judge."""

    change: ChangeClass | None = None
    """The class of every change without a class of its own."""
    words: str = ""
    """The sentence about it, instead of a generated one."""
    source: str = field(kw_only=True)
    """Key of `citation`."""
    new: ChangeClass | None = None
    removed: ChangeClass | None = None
    on: ChangeClass | None = None
    off: ChangeClass | None = None
    judge: str | None = None
    """The function of `tpuplane.diff.judges` that finds the class, if it depends on the values."""
    named: str = ""
    """The kind of the values of a mapping with names, such as pool."""
    says: Mapping[Event | ChangeClass, str] = field(default_factory=dict)
    """Sentences for a direction or class, instead of generated ones. Those about a judge are in `data/changes.yaml`."""

    def __post_init__(self) -> None:
        """Reject a change with a direction that has no class."""
        if not (self.change or self.judge or (self.new and self.removed) or (self.on and self.off)):
            raise TypeError(f"{self} has no class for some changes")

    def of(self, event: Event) -> ChangeClass:
        """The class in this direction, if no judge finds another one."""
        found: ChangeClass | None = getattr(self, event) or self.change
        if found is None:
            raise LookupError(f"{self} has no class for {event!r}")
        return found

    def clause(self, event: Event, kind: ChangeClass) -> str:
        """The sentence about a change of this class in this direction."""
        declared = getattr(self, event) or self.change
        other = spec_data("changes")["otherwise"].get(kind) if kind != declared else None
        keys: tuple[str, ...] = (kind,) if other else (event, kind)
        if words := next((self._said[key] for key in keys if key in self._said), other):
            return str(words)
        event = event if getattr(self, event) else "change"
        if event == "change" and kind == declared and self.words:
            return self.words
        begins, does = spec_data("changes")["events"][event], str(spec_data("changes")["classes"][kind]["does"])
        if kind == "in-place":
            return f"{begins['in-place']} {does}."
        it = f"the {self.named}" if self.named else "its resources"
        return f"{begins['named' if self.named else 'other']} {does.format(it=it)}."

    @property
    def _said(self) -> Mapping[str, str]:
        """The sentences that are not generated."""
        return {**self.says, **(spec_data("changes")["judges"][self.judge] if self.judge else {})}

    @property
    def sentence(self) -> str:
        """The effects of all changes."""
        known = [self.clause(event, kind) for event in spec_data("changes")["events"] if (kind := getattr(self, event))]
        return " ".join(dict.fromkeys((*known, *self._said.values())))

    @property
    def cell(self) -> str:
        """The same in a table, below "a change"."""
        every = self.sentence.removesuffix(".")
        one = self.change and not any((self.judge, self.new, self.removed, self.on, self.off))
        return every.removeprefix("Changed ").removeprefix("A change ") if one else every


def change_of(field: FieldInfo, holder: Change | None = None) -> Change | None:
    """The effect of a change to a field: that of its type, or else that of a change to the field that holds it.

    A part that is new or removed inside of the holder changes the holder, which is neither new nor removed.
    """
    own = next((mark for mark in field.metadata if isinstance(mark, Change)), None)
    if own is not None or holder is None or not (holder.change or holder.judge):
        return own
    return replace(holder, new=None, removed=None, on=None, off=None, says={})


def described(field: FieldInfo) -> str:
    """The docstring of a field, and the sentence about its changes."""
    change = change_of(field)
    return " ".join((*(field.description or "").split(), *([change.sentence] if change else ())))


def unclassed(model: type[BaseModel], holder: Change | None = None) -> Iterator[str]:
    """Each field, also of a part, whose type has no class of a change. A part that always exists needs none."""
    for name, known in model.model_fields.items():
        change, part = change_of(known, holder), unwrap_all(known.annotation)
        holds = is_model(part)
        always = holds and unwrap(known.annotation)[0] is part and known.default is not None
        if change is None and not always:
            yield f"{model.__name__}.{name}"
        if holds:
            of_names = change is not None and change.named and not change.change  # a judge of names knows no fields
            yield from unclassed(part, None if of_names else change)


def classes() -> dict[ChangeClass, str]:
    """Each class with its meaning, from the least to the most that a change interrupts."""
    return {kind: row["means"] for kind, row in spec_data("changes")["classes"].items()}


def citation(source: str) -> str:
    """The citation of a source."""
    return str(spec_data("changes")["sources"][source])


def kept_after_removal(message: str) -> Change:
    """In place. Without a value, the resource keeps the former one, and the message says so."""
    return Change("in-place", removed="in-place", says={"removed": message}, source="provider")


InPlace = Annotated[T, Change("in-place", source="provider")]
ChecksOnly = Annotated[T, Change("nothing", source="spec")]
RollsNodes = Annotated[T, Change("rolls-nodes", source="rolling")]
ReplacesPool = Annotated[T, Change("replaces-pools", source="node_pool")]
ReplacesPools = Annotated[T, Change("replaces-pools", "A change replaces the pools.", source="node_pool")]
ReplacesCluster = Annotated[T, Change("replaces-cluster", source="cluster")]
ReplacesEverything = Annotated[T, Change("replaces-everything", source="cluster")]
Namespaces = Annotated[T, Change(judge="namespaces", source="namespaces")]
