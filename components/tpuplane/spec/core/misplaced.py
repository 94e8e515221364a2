"""Fields where a mapping has names: one indentation too little, or the name is missing."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from tpuplane.spec.core.changes import Change
from tpuplane.spec.core.errors import Mistake, Path
from tpuplane.spec.core.fields import element, unwrap
from tpuplane.spec.core.pydantic_messages import annotation_at, example, field_of, plain
from tpuplane.spec.core.substitutes import GONE, Edit, Substitutes, at_path, path_of


@dataclass(frozen=True, slots=True)
class Misplaced:
    """Fields in a mapping with names, which has them in place of a name, or next to its names."""

    around: Path
    """The mapping."""
    fields: Mapping[str, object]
    """The fields with their values."""
    names: tuple[str, ...]
    """The names next to them."""
    annotation: Any
    """The type of the mapping."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """The rejected parts of the description."""
        return tuple((*self.around, field) for field in self.fields) if self.names else (self.around,)

    def mistakes(self) -> Iterator[Mistake]:
        """One mistake for each field, or one if there are only fields."""
        kind = _kind(self.around, self.annotation)
        if self.names:
            for field, path in zip(self.fields, self.paths, strict=True):
                yield Mistake(path, f"{field!r} is a field of {kind}; indent it below {kind}")
        else:
            written = f"{self.around[-1]}: {example(self.annotation)}"
            yield Mistake(self.around, f"has fields of {kind}, but no name; write {written}")

    def has(self, detail: ErrorDetails) -> bool:
        """Whether an error is about these fields: in one, or about a name without one."""
        path, length = path_of(detail), len(self.around)
        if path[:length] != self.around:
            return False
        missing = detail["type"] == "missing" and len(path) == length + 2 and path[-1] in self.fields
        return missing or any(path[: len(own)] == own for own in self.paths)

    def edits(self, other: Substitutes | None) -> Iterator[Edit]:
        """The edits because of these fields: their removal, or names with them."""
        turn = other.turn if other is not None else 0
        if not self.names and other is not None and turn:
            yield self.around, other.of(self.annotation, str(self.around[-1]))
            return
        for path in self.paths:
            yield path, GONE
        for name in self.names if turn % 2 else ():
            for field, value in self.fields.items():
                yield (*self.around, name, field), value


def misplaced_in(value: object, details: Iterable[ErrorDetails], model: type[BaseModel]) -> list[Misplaced]:
    """The fields of a rejected description that stand in place of names."""
    rejected = (path_of(detail) for detail in details)
    mappings = dict.fromkeys(path[:length] for path in rejected for length in range(1, len(path)))
    found = (_in_mapping(path, at_path(value, path), annotation_at(model, path)) for path in mappings)
    return [fields for fields in found if fields is not None]


def _in_mapping(path: Path, written: object, annotation: Any) -> Misplaced | None:
    inner = plain(annotation)
    held = plain(element(inner)) if get_origin(inner) is dict else None
    if not isinstance(held, type) or not issubclass(held, BaseModel) or not isinstance(written, dict):
        return None
    fields = {key: part for key, part in written.items() if field_of(held, key) and not _fits(part, held)}
    others = {key: part for key, part in written.items() if key not in fields}
    if not fields:
        return None
    names = tuple(key for key, part in others.items() if part is None or isinstance(part, dict))
    return Misplaced(path, fields, names, annotation)


def _fits(value: object, model: type[BaseModel]) -> bool:
    """Whether a value can be of the model: empty, or a mapping with a required field, if it has required ones."""
    if not value or not isinstance(value, dict):
        return value is None or value == {}
    known = [field for key in value if (field := field_of(model, key)) is not None]
    required = any(field.is_required() for field in model.model_fields.values())
    return any(field.is_required() for field in known) if required else bool(known)


def _kind(path: Path, annotation: Any) -> str:
    """The kind of the values of a mapping, with its article."""
    marks = unwrap(annotation)[1]
    named = next((mark.named for mark in marks if isinstance(mark, Change) and mark.named), None)
    mapping = str(path[-1])
    kind = named or (mapping.removesuffix("s") if mapping.endswith("s") else "entry")
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
