"""The description as a tree of fields, set or not, with their documentation."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_camel, to_snake

from tpuplane.spec import PlatformSpec
from tpuplane.spec.core.changes import described
from tpuplane.spec.core.documentation import documented
from tpuplane.spec.core.errors import Path, dotted
from tpuplane.spec.core.fields import element, unwrap

_ITEM = re.compile(r"\[(\d+)\]")  # of a list, as mistakes are located


@dataclass(frozen=True, slots=True)
class Field:
    """A place in the description: a field, an entry of a mapping, an item of a list, or the whole description."""

    parts: Path
    """The path in the user's file; items of a list have their number."""
    value: Any
    of: Any
    """The type. A part that is not set also has fields to explain."""
    text: str = ""
    """The documentation; for an entry the documentation of its mapping."""
    written: bool = False
    """Whether the user's file sets it."""
    within: bool = True
    """Whether the part that contains it is set."""

    @property
    def path(self) -> str:
        """The same as text."""
        return dotted(self.parts)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return str(self.parts[-1])

    @property
    def children(self) -> tuple["Field", ...]:
        """The fields of a part, or the entries of a mapping or list of parts; otherwise nothing."""
        kind, _ = unwrap(self.of)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return tuple(self._field(name, kind) for name in kind.model_fields)
        if not _parts_in(kind):
            return ()
        items = self.value.items() if isinstance(self.value, Mapping) else enumerate(self.value or ())
        return tuple(Field((*self.parts, key), item, element(kind), self.text, self.written) for key, item in items)

    def _field(self, name: str, model: type[BaseModel]) -> "Field":
        known = documented(model)[name]
        return Field(
            (*self.parts, known.alias or to_camel(name)),
            None if self.value is None else getattr(self.value, name),
            known.annotation,
            described(known),
            # A part that is a default also has fields that are set.
            self.written and self.value is not None and name in self.value.model_fields_set,
            within=self.value is not None,
        )


def root(spec: PlatformSpec) -> Field:
    """The whole description."""
    return Field((), spec, PlatformSpec, written=True)


def find(start: Field, path: str) -> tuple[Field, str]:
    """The last existing place on a path from `start`, and the rest of the path.

    Names of entries can contain dots: the longest matching name counts.
    """
    place, rest = start, _ITEM.sub(r".\1", path)
    while rest:
        fitting = (child for child in place.children if _front(child, rest) is not None)
        if (following := max(fitting, key=lambda child: len(child.name), default=None)) is None:
            break
        place, rest = following, rest[len(_front(following, rest) or "") :].removeprefix(".")
    return place, rest


def _front(field: Field, rest: str) -> str | None:
    """The part of the path that names the field."""
    names = (field.name, to_snake(field.name))
    return next((name for name in names if rest == name or rest.startswith(f"{name}.")), None)


def _parts_in(kind: Any) -> bool:
    """Whether the type is a mapping or list of parts, also nested; a mapping of plain values is a value."""
    item, _ = unwrap(element(kind))
    return item is not None and ((isinstance(item, type) and issubclass(item, BaseModel)) or _parts_in(item))
