"""From pydantic's errors to the user's mistakes, and to what can still be checked beside them."""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from tpuplane.spec.errors import Mistake, Path, choice, shown
from tpuplane.spec.node_system import Described
from tpuplane.tpu.nearest import nearest_names

# Stand-ins for the platform's own required names, so that a mistake there does not hide those in the clusters.
_PLACEHOLDERS: dict[Path, str] = {("name",): "name", ("project",): "placeholder"}

_KEY = "[key]"  # pydantic's mark for an error in a mapping's key


def mistakes_of(error: ValidationError, model: type[BaseModel]) -> list[Mistake]:
    """One mistake for each of pydantic's errors."""
    details = error.errors(include_url=False)
    return [Mistake(_path(detail), _message(detail, model)) for detail in details if not _left_empty(detail)]


def _left_empty(detail: ErrorDetails) -> bool:
    """Whether a list is too short only because pydantic left out the items that it refuses itself."""
    return detail["type"] == "too_short" and bool(detail.get("input"))


def without(value: object, error: ValidationError) -> object:
    """A copy of `value` without what `error` refuses, so that the rest can be checked; None when nothing is left.

    An optional field falls back to its default; a required one takes the pool or cluster that needs it with it.
    """
    rest = _copied(value)
    for detail in error.errors(include_url=False):
        path = _path(detail)
        if path in _PLACEHOLDERS and isinstance(rest, dict):
            rest[path[0]] = _PLACEHOLDERS[path]
        else:
            _remove(rest, path[:-1] if detail["type"] == "missing" else path)
    # Nothing was found to remove: what is left will not get better.
    return None if rest == value else rest


def _copied(value: object, copies: dict[int, object] | None = None) -> object:
    """A copy that may be changed. What is neither a mapping nor a list stays what it is: an output cannot be copied."""
    copies = {} if copies is None else copies  # YAML's anchors let a value contain itself
    if not isinstance(value, dict | list):
        return value
    if id(value) in copies:
        return copies[id(value)]
    copy: dict[object, object] | list[object]
    if isinstance(value, dict):
        copies[id(value)] = copy = {}
        copy.update((key, _copied(item, copies)) for key, item in value.items())
    else:
        copies[id(value)] = copy = []
        copy.extend(_copied(item, copies) for item in value)
    return copy


def removed(path: Path) -> Path:
    """What goes away with a mistake at `path`: the field itself, or the list that it is in."""
    return tuple(itertools.takewhile(lambda part: isinstance(part, str), path))


def _remove(value: Any, path: Path) -> None:
    names = removed(path)
    for name in names[:-1]:
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, dict) and names:
        value.pop(names[-1], None)


def _path(detail: ErrorDetails) -> Path:
    return tuple(part for part in detail["loc"] if part != _KEY)


def _message(detail: ErrorDetails, model: type[BaseModel]) -> str:
    kind = detail["type"]
    if type(detail.get("input")).__module__.startswith("pulumi."):
        return "is known only while the engine runs; what shapes the plan must be a plain value, known before"
    if "input" in detail and detail["input"] is None:
        return "is empty; give it a value, or remove it for the default"
    if kind in _EXPLAINED:
        return _EXPLAINED[kind](detail, model)
    template = _TEXTS.get(kind, "{value} is refused: {message}")
    return template.format(**{"message": detail["msg"], **detail.get("ctx", {}), "value": shown(detail.get("input"))})


# By pydantic's error types, https://docs.pydantic.dev/latest/errors/validation_errors
_TEXTS = {
    "tpuplane": "{message}",
    "int_type": "{value} is not a whole number",
    "int_parsing": "{value} is not a whole number",
    "int_from_float": "{value} is not a whole number",
    "bool_type": "{value} is not true or false",
    "bool_parsing": "{value} is not true or false",
    "dict_type": "{value} is not a mapping of names to values",
    "model_type": "{value} is not a mapping of fields",
    "tuple_type": "{value} is not a list",
    "list_type": "{value} is not a list",
    "greater_than_equal": "{value} is too small; allowed: {ge} or more",
    "less_than_equal": "{value} is too large; allowed: {le} or less",
    "too_short": "{value} is empty; at least one is needed",
    "too_long": "{value} has too many entries; allowed: at most {max_length}",
    "string_too_short": "{value} is empty; at least one character is needed",
    "string_too_long": "{value} is too long; allowed: at most {max_length} characters",
}


def _not_text(detail: ErrorDetails, _: type[BaseModel]) -> str:
    value = detail.get("input")
    if not isinstance(value, int | float):
        return f"{shown(value)} is not text"
    hint = "; unquoted, 1.30 is the number 1.3" if isinstance(value, float) else ""
    kind = "a truth value" if isinstance(value, bool) else "a number"
    return f"{shown(value)} is {kind} to YAML, not text; put it in quotes{hint}"


def _unknown_field(detail: ErrorDetails, root: type[BaseModel]) -> str:
    name = str(detail["loc"][-1])
    model = _model_at(root, detail["loc"][:-1])
    allowed = [field.alias or key for key, field in model.model_fields.items()] if model else []
    close = nearest_names(name, allowed, count=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"unknown field{hint}; allowed: {', '.join(allowed)}"


def _not_allowed(detail: ErrorDetails, root: type[BaseModel]) -> str:
    # An item's field is its list's.
    place = detail["loc"][:-1] if isinstance(detail["loc"][-1], int) else detail["loc"]
    field = _field(_model_at(root, place[:-1]), place[-1])
    wanted = _plain(field.annotation) if field else None
    if get_origin(wanted) is tuple:
        wanted = _plain(get_args(wanted)[0])
    return choice(detail.get("input"), "allowed", map(str, get_args(wanted)))


def _required(detail: ErrorDetails, root: type[BaseModel]) -> str:
    field = _field(_model_at(root, detail["loc"][:-1]), detail["loc"][-1])
    description = " ".join(field.description.split()) if field and field.description else ""
    # The first sentence of the field's docstring says what is wanted.
    return f"required: {description.partition('. ')[0].rstrip('.')}" if description else "required"


_EXPLAINED: dict[str, Callable[[ErrorDetails, type[BaseModel]], str]] = {
    "missing": _required,
    "extra_forbidden": _unknown_field,
    "literal_error": _not_allowed,
    "string_type": _not_text,
}


def _model_at(model: type[BaseModel], path: tuple[str | int, ...]) -> type[BaseModel] | None:
    """The model whose fields stand at `path`."""
    at: Any = model
    for part in path:
        if isinstance(at, type) and issubclass(at, BaseModel):
            field = _field(at, part)
            at = _plain(field.annotation) if field else None
        elif get_origin(at) in (dict, tuple, list):
            # A mapping's value type is its last argument, a list's item type its first.
            at = _plain(get_args(at)[1 if get_origin(at) is dict else 0])
        else:
            return None
    return at if isinstance(at, type) and issubclass(at, BaseModel) else None


def _field(model: type[BaseModel] | None, part: str | int) -> FieldInfo | None:
    fields = model.model_fields.items() if model else ()
    return next((field for key, field in fields if part in (key, field.alias)), None)


def _plain(annotation: Any) -> Any:
    """The annotation without Optional and Annotated; the model of what is described by data."""
    if get_origin(annotation) is Annotated:
        described = next((mark for mark in get_args(annotation) if isinstance(mark, Described)), None)
        if described is not None:
            return described.model
        return _plain(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return next(_plain(arg) for arg in get_args(annotation) if arg is not types.NoneType)
    return annotation
