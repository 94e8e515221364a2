"""From pydantic's errors to the user's mistakes, and to what can still be checked beside them."""

from __future__ import annotations

import copy
import types
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_snake
from pydantic_core import ErrorDetails

from tpuplane.spec.errors import Mistake, Path, choice, shown
from tpuplane.tpu.nearest import nearest_names

# Stand-ins for the platform's own required names, so that a mistake there does not hide those in the clusters.
_PLACEHOLDERS = {"name": "p", "project": "placeholder"}

_KEY = "[key]"  # pydantic's mark for an error in a mapping's key


def mistakes_of(error: ValidationError, model: type[BaseModel]) -> list[Mistake]:
    """One mistake for each of pydantic's errors."""
    return [Mistake(_path(detail), _message(detail, model)) for detail in error.errors(include_url=False)]


def without(value: object, error: ValidationError) -> object:
    """A copy of `value` without what `error` refuses, so that the rest can be checked; None when nothing is left.

    An optional field falls back to its default. A required one takes the pool or cluster that needs it with it.
    """
    rest = copy.deepcopy(value)
    for detail in error.errors(include_url=False):
        path = _path(detail)
        if path == ("clusters",) or not path:
            return None
        if len(path) == 1 and path[0] in _PLACEHOLDERS and isinstance(rest, dict):
            rest.pop(to_snake(str(path[0])), None)
            rest[path[0]] = _PLACEHOLDERS[str(path[0])]
            continue
        _remove(rest, path[:-1] if detail["type"] == "missing" else path)
    return rest


def _remove(value: Any, path: Path) -> None:
    for part in path[:-1]:
        value = _step(value, part)
    last = path[-1]
    if isinstance(value, dict):
        value.pop(last, None)
        value.pop(to_snake(str(last)), None)
    elif isinstance(value, list):
        # Emptied, not shortened: the places of the other items are still being reported.
        value[last] = None
        if all(item is None for item in value):
            value.clear()


def _step(value: Any, part: str | int) -> Any:
    if isinstance(value, Mapping):
        return value[part] if part in value else value.get(to_snake(str(part)), {})
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return value[part]
    return {}


def _path(detail: ErrorDetails) -> Path:
    return tuple(part for part in detail["loc"] if part != _KEY)


def _message(detail: ErrorDetails, model: type[BaseModel]) -> str:
    kind, value, context = detail["type"], detail.get("input"), detail.get("ctx", {})
    match kind:
        case "tpuplane":
            return detail["msg"]
        case "missing":
            return f"required{_purpose(detail, model)}"
        case "extra_forbidden":
            return _unknown_field(detail, model)
        case "literal_error":
            return _literal(detail, model)
        case "string_type" if isinstance(value, int | float):
            return f'{shown(value)} is not text for YAML; write it in quotes, as "{shown(value)}"{_float_hint(value)}'
        case "greater_than_equal":
            return f"{shown(value)} is too small; allowed: {context['ge']} or more"
        case "less_than_equal":
            return f"{shown(value)} is too large; allowed: {context['le']} or less"
        case "too_short" | "string_too_short":
            return f"{shown(value)} is empty; at least one is needed"
        case "string_too_long":
            return f"{shown(value)} is too long; allowed: at most {context['max_length']} characters"
    wanted = _WANTED.get(kind)
    return f"{shown(value)} is not {wanted}" if wanted else f"{shown(value)} is refused: {detail['msg']}"


_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "dict_type": "a mapping of names to values",
    "model_type": "a mapping of fields",
    "tuple_type": "a list",
}


def _float_hint(value: object) -> str:
    return " (unquoted, 1.30 is the number 1.3)" if isinstance(value, float) else ""


def _unknown_field(detail: ErrorDetails, root: type[BaseModel]) -> str:
    name = str(detail["loc"][-1])
    model = _model_at(root, detail["loc"][:-1])
    allowed = [field.alias or key for key, field in model.model_fields.items()] if model else []
    close = nearest_names(name, allowed, count=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"unknown field{hint}; allowed: {', '.join(allowed)}"


def _literal(detail: ErrorDetails, root: type[BaseModel]) -> str:
    model = _model_at(root, detail["loc"][:-1])
    field = _field(model, detail["loc"][-1]) if model else None
    allowed = [str(word) for word in _literals(field.annotation)] if field else []
    return choice(str(detail.get("input")), "allowed", allowed) if allowed else str(detail["msg"])


def _purpose(detail: ErrorDetails, root: type[BaseModel]) -> str:
    model = _model_at(root, detail["loc"][:-1])
    field = _field(model, detail["loc"][-1]) if model else None
    if field is None or not field.description:
        return ""
    sentence = " ".join(field.description.split()).split(". ", maxsplit=1)[0].rstrip(".")
    return f": {sentence[0].lower() if not sentence[:2].isupper() else sentence[0]}{sentence[1:]}"


def _model_at(model: type[BaseModel], path: tuple[str | int, ...]) -> type[BaseModel] | None:
    """The model whose fields stand at `path`."""
    at: Any = model
    for part in path:
        if isinstance(at, type) and issubclass(at, BaseModel):
            field = _field(at, part)
            at = _plain(field.annotation) if field else None
        elif get_origin(at) in (dict, tuple):
            # A mapping's value type is its last argument, a homogeneous tuple's item type its first.
            at = _plain(get_args(at)[1 if get_origin(at) is dict else 0])
        else:
            return None
    return at if isinstance(at, type) and issubclass(at, BaseModel) else None


def _field(model: type[BaseModel], part: str | int) -> Any:
    names = (key for key, field in model.model_fields.items() if part in (key, field.alias))
    name = next(names, None)
    return model.model_fields[name] if name else None


def _plain(annotation: Any) -> Any:
    """The annotation without Optional and Annotated."""
    if get_origin(annotation) is Annotated:
        return _plain(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return next(_plain(arg) for arg in get_args(annotation) if arg is not types.NoneType)
    return annotation


def _literals(annotation: Any) -> Iterator[object]:
    yield from get_args(_plain(annotation))
