"""The annotations of the spec's fields, taken apart."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic.fields import FieldInfo


def unwrap(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """The type without None and `Annotated`, and the constraints and other marks that were around it."""
    if get_origin(annotation) is Annotated:
        inner, *around = get_args(annotation)
        marks = tuple(mark for it in around for mark in (it.metadata if isinstance(it, FieldInfo) else (it,)))
    elif get_origin(annotation) in (Union, UnionType):
        (inner,) = (arg for arg in get_args(annotation) if arg is not NoneType)
        marks = ()
    else:
        return annotation, ()
    plain, within = unwrap(inner)
    return plain, (*marks, *within)


def element(annotation: Any) -> Any:
    """The type of a mapping's values or of a list's items; None for all else."""
    inner, _ = unwrap(annotation)
    if get_origin(inner) is dict:
        return get_args(inner)[1]
    return get_args(inner)[0] if get_origin(inner) in (tuple, list) else None


def unwrap_all(annotation: Any) -> Any:
    """The type that mappings and lists hold in the end, or the type itself."""
    inner, _ = unwrap(annotation)
    item = element(inner)
    return inner if item is None else unwrap_all(item)
