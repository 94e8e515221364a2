"""Values instead of a rejected one, so that the rest can be checked."""

import itertools
import re
from datetime import date
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from tpuplane.spec.core.errors import Path, shown
from tpuplane.spec.core.fields import element, is_model
from tpuplane.spec.core.pydantic_messages import annotation_at, bounds, plain, suggested
from tpuplane.spec.core.rules import spec_data

Edit = tuple[Path, object]
"""A place, and its new value."""
GONE = object()
"""The value is removed."""

_MOST_NAMES = 1000
_MOST_VALUES = 10**6


class Substitutes:
    """Values for a place, a different one in each turn. The first is nothing."""

    def __init__(self, names: list[str], turn: int) -> None:
        self.names = names
        """Every name in the description. One of them can be the missing one."""
        self.turn = turn

    def of(self, annotation: Any, name: str, within: bool = False) -> object:
        """A value of the type for the field `name`. A value `within` another one is as small as possible."""
        inner, rich = plain(annotation), self.turn % 2 == 0 and not within
        low, high = bounds(annotation)
        if inner is bool:
            return self.turn % 2 == 0
        if inner is int:
            return (10**6 if high is None else high) if self.turn % 2 == 0 else low or 1
        if is_model(inner):
            fields = {field.alias or key: field for key, field in inner.model_fields.items()}
            wanted = [alias for alias, field in fields.items() if field.is_required() or (rich and self._more(field))]
            return {alias: self.of(annotation_at(inner, (alias,)), alias, within=True) for alias in wanted}
        if get_origin(inner) is dict:
            return {} if within and not rich else {key: self.of(element(inner), key, within=True) for key in self.names}
        if get_origin(inner) in (tuple, list):
            return list(self.names) if rich else []
        examples = spec_data("mistakes")["examples"].get(name, ("one", "placeholder"))
        one_of = get_args(inner) if get_origin(inner) is Literal else examples
        return one_of[self.turn % len(one_of)]

    @staticmethod
    def _more(field: FieldInfo) -> bool:
        """Whether an optional field can still get a name."""
        inner = plain(field.annotation)
        return inner is bool or get_origin(inner) is dict or is_model(inner)


def edits(detail: ErrorDetails, model: type[BaseModel], substitutes: Substitutes | None) -> list[Edit]:
    """The edits because of an error: the removal of the value, or another value."""
    path, kind = path_of(detail), detail["type"]
    if text := as_text(detail):
        return list(text)
    turn = substitutes.turn if substitutes else 0
    if substitutes is None and isinstance(path[-1], int):
        return [(path, GONE)]
    if substitutes is None or not (turn or len(path) == 1):
        return [(removed(path[:-1] if kind == "missing" and detail["input"] is not None else path), GONE)]
    if kind == "extra_forbidden":
        other = meant(detail, model)
        return [(path, GONE), *([(other, detail.get("input"))] if other and turn % 2 else [])]
    if isinstance(path[-1], int) and turn % 2:
        return [(path, GONE)]
    return [(path, substitutes.of(annotation_at(model, path), str(path[-1])))]


def meant(detail: ErrorDetails, model: type[BaseModel]) -> Path | None:
    """The place of the field that an unknown one probably means."""
    *around, name = detail["loc"]
    other = suggested(str(name), model, tuple(around))
    return (*around, other.partition(":")[0]) if other else None


def as_text(detail: ErrorDetails) -> tuple[Edit, ...]:
    """The text that the user means by a value that YAML does not read as text."""
    value = detail.get("input")
    # The spelling of a program's 1.3 in its file is unknown; the reader of files keeps it.
    if detail["type"] != "string_type" or type(value) is float or not isinstance(value, bool | int | float | date):
        return ()
    return ((path_of(detail), shown(value)),)


def copied(value: object, around: dict[int, object] | None = None) -> object:
    """A copy that can be changed in one place, also if several places share a value. Other values than mappings and
    lists stay the same, because an output cannot be copied."""
    around = {} if around is None else around  # a program's value may contain itself
    if not isinstance(value, dict | list):
        return value
    if id(value) in around:
        return around[id(value)]
    copy: Any = {} if isinstance(value, dict) else [None] * len(value)
    around[id(value)] = copy
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        copy[key] = copied(item, around)
    del around[id(value)]
    return copy


def size_of(value: object) -> int:
    """The number of values in a description; a large number if it contains itself."""
    size, open_ = 0, [value]
    while open_ and size < _MOST_VALUES:
        inner = open_.pop()
        size += 1
        if isinstance(inner, dict | list):
            open_.extend(inner.values() if isinstance(inner, dict) else inner)
    return size


def removed(path: Path) -> Path:
    """The part that is removed because of a mistake at `path`: the field, or the list that contains it."""
    return tuple(itertools.takewhile(lambda part: isinstance(part, str), path))


def put(value: Any, path: Path, new: object) -> None:
    """Change or remove the value at the path, if there is one."""
    around, last = at_path(value, path[:-1]), path[-1] if path else ""
    if isinstance(around, dict) and new is GONE:
        around.pop(last, None)
    elif isinstance(around, list) and isinstance(last, int) and new is GONE:
        del around[last : last + 1]
    elif isinstance(around, dict | list):
        around[last] = new  # type: ignore[index]


def at_path(value: Any, path: Path) -> Any:
    """The value at the path; None if there is none."""
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def names_in(value: object) -> list[str]:
    """Every text of a description that can be a name."""
    return [text for text in _texts_in(value) if re.fullmatch("[a-z][a-z0-9-]{0,62}", text)][:_MOST_NAMES]


def _texts_in(value: object) -> dict[str, None]:
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        return {text: None for item in value for text in _texts_in(item)}
    return {value: None} if isinstance(value, str) else {}


def path_of(detail: ErrorDetails) -> Path:
    """The path of the error."""
    # "[key]" is pydantic's mark for an error in a mapping's key.
    return tuple(part for part in detail["loc"] if part != "[key]")
