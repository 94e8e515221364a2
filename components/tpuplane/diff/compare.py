"""The fields in which two descriptions differ, each with what its docstring says of a change."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from tpuplane.diff.sentences import Consequence, UnknownConsequence, consequence
from tpuplane.spec.core.errors import Path, dotted

Event = Literal["as", "new", "removed"]


@dataclass(frozen=True, slots=True)
class Difference:
    """A field with another value, or an optional value, a part or an entry that is new or removed."""

    path: Path
    before: Any
    after: Any
    event: Event
    why: Consequence

    @property
    def by_event(self) -> str:
        """The class by the docstring alone. Raises `UnknownConsequence` if it names none for this event."""
        found = self.why.by_event.get(self.event) or self.why.by_event.get("as")
        if found is None:
            raise UnknownConsequence(f"{dotted(self.path)}: {self.why.text!r} does not say what this change does")
        return found


def differences(
    before: BaseModel, after: BaseModel, at: Path = (), of_holder: Consequence | None = None
) -> Iterator[Difference]:
    """Every difference between two parts of the same model, in the order of its fields."""
    for name, field in type(before).model_fields.items():
        path = (*at, field.alias or to_camel(name))
        yield from _differing(getattr(before, name), getattr(after, name), path, consequence(field, of_holder))


def _differing(before: Any, after: Any, at: Path, why: Consequence | None) -> Iterator[Difference]:
    if before == after:
        return
    if isinstance(before, BaseModel) and isinstance(after, BaseModel):
        yield from differences(before, after, at, why)
    elif _holds_parts(before, after):
        for key in dict.fromkeys((*before, *after)):
            if key in before and key in after:
                yield from _differing(before[key], after[key], (*at, key), why)
            else:
                yield _difference(
                    (*at, key), before.get(key), after.get(key), why, "new" if key in after else "removed"
                )
    else:
        event: Event = "new" if before is None else "removed" if after is None else "as"
        yield _difference(at, before, after, why, event)


def _difference(at: Path, before: Any, after: Any, why: Consequence | None, event: Event) -> Difference:
    if why is None:
        raise UnknownConsequence(f"{dotted(at)}: no docstring says what a change does")
    return Difference(at, before, after, event, why)


def value_at(part: Any, path: Path) -> Any:
    """The value of a description at a path."""
    for key in path:
        part = getattr(part, _field(part, key)) if isinstance(part, BaseModel) else part[key]
    return part


def with_value(part: Any, path: Path, value: Any) -> Any:
    """A part of a description with another value at a path; an entry of a mapping without a value is removed."""
    if not path:
        return value
    key, rest = path[0], path[1:]
    if isinstance(part, BaseModel):
        name = _field(part, key)
        return part.model_copy(update={name: with_value(getattr(part, name), rest, value)})
    changed = {**part, key: with_value(part.get(key), rest, value)}
    return {name: it for name, it in changed.items() if it is not None}


def _field(part: BaseModel, key: str | int) -> str:
    """The name of the field with this key in a stack file."""
    return next(name for name, it in type(part).model_fields.items() if key in (it.alias, to_camel(name)))


def _holds_parts(*values: Any) -> bool:
    """Whether these are mappings of parts; a mapping of plain values is one value."""
    return all(isinstance(it, Mapping) for it in values) and any(
        isinstance(item, BaseModel | Mapping) for it in values for item in it.values()
    )
