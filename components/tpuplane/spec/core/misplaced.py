"""Fields where a mapping has names: one indentation too little, or the name is missing."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from tpuplane.spec.core.errors import Mistake, Path, listing
from tpuplane.spec.core.fields import element, is_model
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
    empty: tuple[str, ...]
    """Those of the names that have no value."""
    annotation: Any
    """The type of the mapping."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """The rejected parts of the description."""
        return tuple((*self.around, key) for key in (*self.fields, *self.empty)) if self.names else (self.around,)

    def mistakes(self) -> Iterator[Mistake]:
        """One mistake for each field, or one if there are only fields."""
        if not self.names:
            written = f"{self.around[-1]}: {example(self.annotation)}"
            yield Mistake(self.around, f"has fields in place of names; write {written}")
            return
        names = self.empty or self.names
        below = names[0] if len(names) == 1 else f"one of {listing(names)}"
        below += "" if self.empty else ", or below a new name"
        for field in self.fields:
            yield Mistake((*self.around, field), f"is a field in place of a name; indent it below {below}")

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
        moved = turn % 2 == 1
        for path in self.paths:
            yield path, dict(self.fields) if moved and path[-1] in self.empty else GONE
        for name in self.names if moved and not self.empty else ():
            for field, value in self.fields.items():
                yield (*self.around, name, field), value


def misplaced_in(
    value: object, details: Iterable[ErrorDetails], model: type[BaseModel]
) -> tuple[list[Misplaced], list[ErrorDetails]]:
    """The fields of a rejected description that stand in place of names, and the errors that are not about them."""
    details = list(details)
    rejected = map(path_of, details)
    mappings = dict.fromkeys(path[:length] for path in rejected for length in range(1, len(path)))
    parts = (_in_mapping(path, at_path(value, path), annotation_at(model, path)) for path in mappings)
    found = [fields for fields in parts if fields is not None]
    return found, [detail for detail in details if not any(fields.has(detail) for fields in found)]


def _in_mapping(path: Path, written: object, annotation: Any) -> Misplaced | None:
    inner = plain(annotation)
    held = plain(element(inner)) if get_origin(inner) is dict else None
    if not is_model(held) or not isinstance(written, dict):
        return None
    texts = {key: part for key, part in written.items() if isinstance(key, str)}  # a program can have other keys
    fields = {key: part for key, part in texts.items() if _is_field(part, key, held)}
    names = [key for key, part in texts.items() if key not in fields and (part is None or isinstance(part, dict))]
    empty = tuple(name for name in names if written[name] is None)
    return Misplaced(path, fields, tuple(names), empty, annotation) if fields else None


def _is_field(value: object, key: str, model: type[BaseModel]) -> bool:
    """Whether a key of a mapping with names is a field of the model: its value fits the field, and not the model."""
    if field_of(model, key) is None or value is None or value == {}:
        return False
    if not isinstance(value, dict):
        return True
    inner = plain(annotation_at(model, (key,)))
    of_field = any(_fields_in(value, inner))
    if get_origin(inner) is dict:  # such as labels, whose values are texts
        of_field = is_model(plain(element(inner))) or not any(isinstance(part, dict) for part in value.values())
    known = _fields_in(value, model)
    required = any(field.is_required() for field in model.model_fields.values())
    return of_field and not (any(field.is_required() for field in known) if required else known)


def _fields_in(value: Mapping[str, object], model: Any) -> list[FieldInfo]:
    known = (field_of(model, key) for key in value) if is_model(model) else ()
    return [field for field in known if field is not None]
