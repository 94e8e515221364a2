"""The docstrings of the fields of models. Few commands need them, so they are read from the source on first use."""

import ast
import functools
import inspect
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import pairwise

from pydantic import BaseModel
from pydantic.fields import FieldInfo


@functools.cache
def documented(model: type[BaseModel]) -> Mapping[str, FieldInfo]:
    """The fields of a model. The description of a field is the docstring below it."""
    for base in reversed(model.__mro__[: model.__mro__.index(BaseModel)]):
        for name, text in _docstrings(base.__module__).get(base.__name__, {}).items():
            model.model_fields[name].description = text
    return model.model_fields


@functools.cache
def _docstrings(module: str) -> dict[str, dict[str, str]]:
    """The docstrings of the fields of each class in a module."""
    try:
        tree = ast.parse(inspect.getsource(import_module(module)))
    except OSError:  # an installation without sources has no descriptions
        return {}
    return {own.name: dict(_below_fields(own)) for own in tree.body if isinstance(own, ast.ClassDef)}


def _below_fields(model: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for pair in pairwise(model.body):
        match pair:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, inspect.cleandoc(text)
