"""What a change of a field does: the sentences of its docstring, and their class in `data/changes.yaml`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from pydantic.fields import FieldInfo

from tpuplane.data_files import read_data

_SENTENCE = re.compile(r"(?<=\.) (?=[A-Z0-9`(])")
_CHANGE = re.compile(r"(?:A change|Changed|Cannot be changed|A new name|Removing) ?")


def sentences(field: FieldInfo) -> tuple[list[str], list[str]]:
    """The sentences of a field's docstring: those that say what a change does, and the others."""
    every = _SENTENCE.split(" ".join((field.description or "").split()))
    changes = [it for it in every if _CHANGE.match(it)]
    return changes, [it for it in every if it not in changes]


@dataclass(frozen=True, slots=True)
class Consequence:
    """What a change of a field does."""

    text: str
    source: str
    """Key of `citation`."""
    by_event: Mapping[str, str] = field(default_factory=dict)
    """The class of a change (`as`), of a new (`new`) and of a removed part (`removed`)."""
    judge: str | None = None
    """The function of `judges` that finds the class, if it depends on the values."""
    says: Mapping[str, str] = field(default_factory=dict)
    """What applies to an event or to a class, if the text is about several."""

    def clause(self, event: str, kind: str) -> str:
        """The part of the text that applies to a change of this class."""
        if kind == "nothing" and self.by_event.get("as") != kind:
            return str(_data()["stays"])
        return self.says.get(event) or self.says.get(kind) or self.text


class UnknownConsequence(LookupError):
    """A docstring whose sentence has no class, or a field for which no docstring says what a change does."""


@cache
def classes() -> dict[str, str]:
    """Each class with its meaning, from the least to the most that a change interrupts."""
    return dict(_data()["classes"])


def citation(source: str) -> str:
    """The citation of a source."""
    return str(_data()["sources"][source])


def draining_hours() -> int:
    """Hours for which GKE drains a node at most before it recreates it."""
    return int(_data()["draining_hours"])


@cache
def _data() -> dict[str, Any]:
    return dict(read_data("tpuplane.diff", "changes"))


@cache
def consequences() -> dict[str, Consequence]:
    """Each sentence with its consequence. Raises `UnknownConsequence` for a class or a source that does not exist."""
    found: dict[str, Consequence] = {}
    for text, row in _data()["sentences"].items():
        by_event = {event: row[event] for event in ("as", "new", "removed") if event in row}
        if unknown := [*(set(by_event.values()) - set(classes())), *({row["source"]} - set(_data()["sources"]))]:
            raise UnknownConsequence(f"{text!r}: {', '.join(unknown)} is not known")
        found[text] = Consequence(text, row["source"], by_event, row.get("judge"), row.get("says", {}))
    return found


def consequence(field: FieldInfo, of_holder: Consequence | None) -> Consequence | None:
    """What a change of a field does: as its docstring says, or else as a change of the field which holds it.

    A part that is new or removed inside of the holder changes the holder, which is neither new nor removed.
    """
    said = " ".join(sentences(field)[0])
    if said and said not in consequences():
        raise UnknownConsequence(f"{said!r} has no class in changes.yaml")
    if said or of_holder is None:
        return consequences().get(said)
    by_event = {event: it for event, it in of_holder.by_event.items() if event == "as"}
    says = {key: it for key, it in of_holder.says.items() if key not in ("new", "removed")}
    return replace(of_holder, by_event=by_event, says=says)
