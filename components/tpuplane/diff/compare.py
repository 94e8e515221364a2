"""The fields in which two descriptions differ, each with the class in its type."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from tpuplane.spec.core.changes import Change, ChangeClass, Event, change_of
from tpuplane.spec.core.errors import Path, dotted

_NONE = (None, "UNSPECIFIED")
"""No value, in a stack file and as Google writes it."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A field with another value, or an optional value, a part or an entry that is new or removed."""

    path: Path
    before: Any
    after: Any
    event: Event
    change: Change

    @property
    def declared(self) -> ChangeClass:
        """The class by the type of the field alone."""
        return self.change.of(self.event)


def differences(
    before: BaseModel, after: BaseModel, at: Path = (), holder: Change | None = None
) -> Iterator[Difference]:
    """Every difference between two parts of the same model, in the order of its fields."""
    for name, field in type(before).model_fields.items():
        path = (*at, field.alias or to_camel(name))
        yield from _differing(getattr(before, name), getattr(after, name), path, change_of(field, holder))


def _differing(before: Any, after: Any, at: Path, change: Change | None) -> Iterator[Difference]:
    if before == after:
        return
    if isinstance(before, BaseModel) and isinstance(after, BaseModel):
        yield from differences(before, after, at, change)
    elif _holds_parts(before, after):
        for key in dict.fromkeys((*before, *after)):
            yield from _differing(before.get(key), after.get(key), (*at, key), change)
    elif change is None:
        raise LookupError(f"{dotted(at)}: its type has no class of a change")
    else:
        yield Difference(at, before, after, _event(before, after), change)


def _event(before: Any, after: Any) -> Event:
    if isinstance(after, bool):
        return "on" if after else "off"
    return "new" if before in _NONE else "removed" if after in _NONE else "change"


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
    return {name: value for name, value in changed.items() if value is not None}


def _field(part: BaseModel, key: str | int) -> str:
    """The name of the field with this key in a stack file."""
    return next(name for name, field in type(part).model_fields.items() if key in (field.alias, to_camel(name)))


def _holds_parts(*values: Any) -> bool:
    """Whether these are mappings of parts; a mapping of plain values is one value."""
    return all(isinstance(value, Mapping) for value in values) and any(
        isinstance(item, BaseModel | Mapping) for value in values for item in value.values()
    )
