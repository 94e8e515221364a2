"""Every field with a value just outside of each of its bounds; a field without a bound has a reason in bounds.yaml."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
import yaml
from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from tpuplane.spec import PlatformSpec
from tpuplane.spec.core.fields import element
from tpuplane.spec.core.pydantic_messages import message, plain
from tpuplane.spec.core.rules import spec_data

from tests.support.diff.every_field import field_at

pytestmark = pytest.mark.unit

HERE = Path(__file__).parent
BOUNDS: dict[str, dict[str, Any]] = yaml.safe_load((HERE / "bounds.yaml").read_text())
TABLES = [yaml.safe_load((HERE / f"{name}.yaml").read_text()) for name in ("rules", "class_rules", "mistakes")]
TEXTS = {"texts": spec_data("texts"), "nodeSystem": spec_data("node_system")["texts"]}
PATTERNS = {
    f"^(?:{text['pattern'].removeprefix('(?s)')})$": BOUNDS[kind][name]
    for kind, texts in TEXTS.items()
    for name, text in texts.items()
}


def _below(annotation: Any) -> type[BaseModel] | None:
    """The model that mappings and lists hold in the end, or the type itself if it is one."""
    inner = plain(annotation)
    if isinstance(inner, type) and issubclass(inner, BaseModel):
        return inner
    item = element(inner)
    return None if item is None else _below(item)


def _models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    found = [model]
    for part in found:  # grows within
        for field in part.model_fields.values():
            below = _below(field.annotation)
            if below is not None and below not in found:
                found.append(below)
    yield from found


def _fields() -> Iterator[tuple[str, Any]]:
    """Every field that holds no other fields, by its model and name, with its type."""
    for model in _models(PlatformSpec):
        for name, field in model.model_fields.items():
            if _below(field.annotation) is None:
                alias = name if model.__module__ != "tpuplane.spec.classes.node_system" else str(field.alias)
                pattern = Field(json_schema_extra=field.json_schema_extra)
                yield f"{model.__name__}.{alias}", Annotated[(field.annotation, *field.metadata, pattern)]


FIELDS = dict(_fields())


def _schema(annotation: Any) -> dict[str, Any]:
    found: dict[str, Any] = TypeAdapter(annotation).json_schema()
    return next((choice for choice in found.get("anyOf", ()) if choice.get("type") != "null"), found)


# How a value is written into what holds it.
_AROUND: dict[str, Callable[[Any], Any]] = {
    "items": lambda value: [value],
    "additionalProperties": lambda value: {"some": value},
    "propertyNames": lambda value: {value: "some"},
}


def _outside(schema: dict[str, Any]) -> Iterator[Any]:
    """Values just outside of each bound of the schema."""
    for bound, step in (("minimum", -1), ("maximum", 1), ("exclusiveMinimum", 0)):
        if bound in schema:
            yield schema[bound] + step
    if "enum" in schema or "const" in schema:
        yield "OTHER"
    if schema.get("minLength"):
        yield "x" * (schema["minLength"] - 1)
    if "maxLength" in schema:
        yield "x" * (schema["maxLength"] + 1)
    if schema.get("minItems"):
        yield []
    if "pattern" in schema:
        yield from PATTERNS.get(schema["pattern"], ())
    for key, around in _AROUND.items():
        if isinstance(inner := schema.get(key), dict):
            yield from map(around, _outside(inner))


def _values(name: str, annotation: Any) -> list[Any]:
    return [*_outside(_schema(annotation)), *BOUNDS["outside"].get(name, ())]


CASES = [(name, value) for name, annotation in FIELDS.items() for value in _values(name, annotation)]


@pytest.mark.parametrize(("name", "value"), CASES, ids=[f"{name}: {str(value)[:40]}" for name, value in CASES])
def test_a_value_outside_of_a_bound_is_rejected(name: str, value: Any) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(FIELDS[name]).validate_python(value)


OTHERS: tuple[Any, ...] = (1.5, "x", "", True, -1, 10**12, [1], [None], {"a": 1}, {"a": None})
MODELS = [pytest.param(model, id=model.__name__) for model in _models(PlatformSpec)]


@pytest.mark.parametrize("model", MODELS)
def test_no_message_about_a_value_is_the_librarys_own(model: type[BaseModel]) -> None:
    for name, field in model.model_fields.items():
        for value in OTHERS:
            try:
                model.model_validate({field.alias or name: value})
            except ValidationError as error:
                said = [message(detail, model) for detail in error.errors() if detail["loc"]]
                assert not [line for line in said if "is rejected: " in line], (name, value)


def _in_tables() -> set[str]:
    """Fields of which a row of the tables has a value that is rejected."""
    lines = (row["line"] for table in TABLES for row in table if "line" in row)
    found = (line.partition(": ") for line in lines)
    return {
        field_at(re.findall(r"[^.\[\]]+", path))
        for path, _, message in found
        if not message.startswith(("required", "unknown field", "is empty"))
    }


def _open(name: str, annotation: Any) -> bool:
    """Whether the field's type lets every number or text pass on one side."""
    schema = _schema(annotation)
    while "items" in schema or isinstance(schema.get("additionalProperties"), dict):
        schema = schema.get("items") or schema["additionalProperties"]
    if {"enum", "const"} & schema.keys():
        return False
    if schema.get("type") in ("integer", "number"):
        return "maximum" not in schema or not {"minimum", "exclusiveMinimum"} & schema.keys()
    return schema.get("type") == "string" and "pattern" not in schema


def test_every_field_has_a_bound_or_a_reason() -> None:
    known = _in_tables() | set(BOUNDS["outside"])
    without = {name for name, annotation in FIELDS.items() if _open(name, annotation) and name not in known}
    assert without == set(BOUNDS["free"])


def test_a_pattern_is_the_same_in_python_and_in_json_schema() -> None:
    """Python reads digits of every script as \\d."""
    assert not [pattern for pattern in PATTERNS if re.search(r"\\[dDwW]", pattern)]


def test_every_pattern_has_values_that_it_rejects() -> None:
    assert {kind: set(BOUNDS[kind]) for kind in TEXTS} == {kind: set(texts) for kind, texts in TEXTS.items()}
    found = {name: _schema(annotation).get("pattern") for name, annotation in FIELDS.items()}
    other = {name for name, pattern in found.items() if pattern is not None and pattern not in PATTERNS}
    assert other <= set(BOUNDS["outside"])
