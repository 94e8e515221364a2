"""Every field of the spec with another value, one field at a time: of two platforms, and of the same platforms turned.

A turned platform has another value of every boolean and enum, so that each of them also changes back.
"""

from __future__ import annotations

import copy
import fcntl
import functools
import os
import pickle
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel
from tpuplane.diff import diff
from tpuplane.spec import PlatformSpec, parse_platform
from tpuplane.spec.checks import check
from tpuplane.spec.core.errors import dotted
from tpuplane.spec.core.fields import STRICT, element, unwrap

from tests.support import REPOSITORY, TESTS

Described = dict[str, Any]
Place = tuple[str, ...]
PLATFORMS: Mapping[str, Described] = {
    name: yaml.safe_load((TESTS / "unit/diff" / f"{name}.yaml").read_text()) for name in ("lab", "company")
}
_TURNED = " turned"
NAMES = (*PLATFORMS, *(f"{name}{_TURNED}" for name in PLATFORMS))
SHARED: Described = yaml.safe_load((TESTS / "unit/diff" / "shared.yaml").read_text())
VALUES: Mapping[str, list[Any]] = yaml.safe_load((TESTS / "unit/diff" / "values.yaml").read_text())


@dataclass(frozen=True)
class Changed:
    """A platform with another value at one place: as a user writes it, and as the spec has it."""

    platform: str
    place: Place
    after: Described
    spec: PlatformSpec

    def __str__(self) -> str:
        return f"{self.platform}.{dotted(self.place)}: {self.value!r}"

    @property
    def before(self) -> Described:
        """The platform as it is."""
        return platform(self.platform)

    @property
    def value(self) -> Any:
        return value_at(self.after, self.place)


@functools.cache
def platform(name: str) -> Described:
    """A platform of `NAMES`."""
    return PLATFORMS[name] if name in PLATFORMS else _turned(PLATFORMS[name.removesuffix(_TURNED)])


@functools.cache
def platform_spec(name: str) -> PlatformSpec:
    """The same as the spec has it."""
    return parse_platform(platform(name))


def _turned(described: Described) -> Described:
    """The platform with another value of every boolean and enum, as far as the spec accepts them together."""
    for place, _, value, written in list(other_values(described)):
        # The release channel of an existing cluster only describes it.
        turns = not written and _is_switch(value) and place[-1] != "releaseChannel"
        if turns and valid(after := with_value(described, place, value)):
            described = after
    return described


def _is_switch(value: Any) -> bool:
    """Whether this value, unless it is written in `values.yaml`, is one of a boolean or an enum."""
    return isinstance(value, bool | str)


def switches(model: type[BaseModel] = PlatformSpec) -> set[tuple[str, Any]]:
    """Every boolean and enum with each of its values."""
    found: set[tuple[str, Any]] = set()
    for name, field in model.model_fields.items():
        inner, _ = unwrap(field.annotation)
        values = get_args(inner) if get_origin(inner) is Literal else (False, True) if inner is bool else ()
        found |= {(f"{model.__name__}.{name}", value) for value in values}
        if (below := _model_in(inner)) is not None and not _in_list(inner):
            found |= switches(below)
    return found


def fields(model: type[BaseModel] = PlatformSpec) -> set[str]:
    """Every field that has a value of its own: no field that is always a part."""
    found: set[str] = set()
    for name, field in model.model_fields.items():
        inner, _ = unwrap(field.annotation)
        below = _model_in(inner)
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)) or _optional(field.annotation):
            found.add(f"{model.__name__}.{name}")
        if below is not None and not _in_list(inner):
            found |= fields(below)
    return found


def field_at(path: Iterable[str | int]) -> str:
    """The model and the name of the field at a place of the description, such as PoolSpec.topology."""
    found, model = "", PlatformSpec
    for part in path:
        names = {field.alias or to_camel(name): name for name, field in model.model_fields.items()}
        if part in names:  # else it is the key of a mapping
            found = f"{model.__name__}.{names[str(part)]}"
            inner, _ = unwrap(model.model_fields[names[str(part)]].annotation)
            model = _model_in(inner) or model
    return found


def _optional(annotation: Any) -> bool:
    return type(None) in get_args(annotation) or any(
        _optional(choice) for choice in get_args(annotation) if get_origin(choice) in (Union, UnionType)
    )


def _in_list(inner: Any) -> bool:
    return get_origin(inner) in (tuple, list)


def _model_in(inner: Any) -> type[BaseModel] | None:
    plain, _ = unwrap(inner)
    if isinstance(plain, type) and issubclass(plain, BaseModel):
        return plain
    item = element(plain)
    return None if item is None else _model_in(item)


@functools.cache
def changes() -> tuple[Changed, ...]:
    """Every change that the spec accepts. The workers of one run find them once, because it takes 15 seconds."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    if run is None:
        return tuple(_found())
    cache = REPOSITORY / ".pytest_cache" / "changes"
    cache.parent.mkdir(exist_ok=True)
    with cache.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        mark = f"{run}\n".encode()
        if file.readline() == mark:
            found: tuple[Changed, ...] = pickle.load(file)
            return found
        found = tuple(_found())
        file.truncate(0)
        file.write(mark + pickle.dumps(found))
        return found


def _found() -> Iterator[Changed]:
    tried: Counter[object] = Counter()
    return (new_value for name in NAMES for new_value in _accepted(name, tried))


def _accepted(name: str, tried: Counter[object]) -> Iterator[Changed]:
    described = platform(name)
    for place, field, value, written in other_values(described):
        switch = not written and _is_switch(value)
        case, enough = ((field, value), 1) if switch else (field, 2)
        if (not written and tried[case] >= enough) or (name not in PLATFORMS and not switch):
            continue
        if value is None and value_at(described, place) is None:  # a default cannot be removed
            continue
        after = with_value(described, place, value)
        if (spec := valid(after)) and spec != platform_spec(name):
            tried[case] += not written
            yield Changed(name, place, after, spec)


def other_values(
    described: Described, values: Mapping[str, list[Any]] = VALUES
) -> Iterator[tuple[Place, str, Any, bool]]:
    """Other values of a platform, also invalid ones: each with its place, its field, and whether `values` has it."""
    return _of_part(PlatformSpec, parse_platform(described), (), values)


def with_value(described: Described, place: Place, value: Any) -> Described:
    """The description with another value at one place; None removes what is there."""
    after = copy.deepcopy(described)
    _put(after, place, value)
    return after


def valid(described: Described) -> PlatformSpec | None:
    """The description as the spec has it, if it has no mistake."""
    try:
        spec = PlatformSpec.model_validate(described, context=STRICT)
    except ValidationError:
        return None
    return None if any(check(spec)) else spec


def value_at(described: Any, place: Place) -> Any:
    """What the description has at a place; None if nothing."""
    for part in place:
        described = described.get(part) if isinstance(described, dict) else None
    return described


def _put(described: Described, place: Place, value: Any) -> None:
    for part in place[:-1]:
        described = described.setdefault(part, {})
    if value is None:
        described.pop(place[-1], None)
    else:
        described[place[-1]] = copy.deepcopy(value)  # another change can be within it


def _of_part(
    model: type[BaseModel], part: Any, at: Place, values: Mapping[str, list[Any]]
) -> Iterator[tuple[Place, str, Any, bool]]:
    for name, field in model.model_fields.items():
        place = (*at, field.alias or to_camel(name))
        value = None if part is None else getattr(part, name)
        inner, _ = unwrap(field.annotation)
        field_name = f"{model.__name__}.{name}"
        yield from ((place, field_name, new_value, True) for new_value in _written(values, place, field_name))
        yield from ((place, field_name, new_value, False) for new_value in _others(inner, value))
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            if _optional(field.annotation):
                yield place, field_name, (None if value is not None else {}), False
            if value is not None:
                yield from _of_part(inner, value, place, values)
        elif isinstance(value, Mapping) and (item := _model_in(inner)) is not None:
            for key, entry in value.items():
                if isinstance(entry, BaseModel):
                    written = (None, *_written(values, (*place, key)))
                    yield from (((*place, key), field_name, new_value, True) for new_value in written)
                    yield from _of_part(item, entry, (*place, key), values)


def _written(values: Mapping[str, list[Any]], place: Place, field_name: str | None = None) -> Iterator[Any]:
    """The values for a place."""
    for pattern, written in values.items():
        if pattern == field_name or matches(pattern, place):
            yield from written


def matches(pattern: str, place: Place) -> bool:
    """Whether a pattern names a place; * stands for any key."""
    parts = pattern.split(".")
    return len(parts) == len(place) and all(part in ("*", key) for part, key in zip(parts, place, strict=True))


def _others(inner: Any, value: Any) -> Iterator[Any]:
    """Other values of a plain type."""
    if get_origin(inner) is Literal:
        yield from (new_value for new_value in get_args(inner) if new_value != value)
    elif inner is bool:
        yield not value
    elif inner in (int, float):
        yield from ((value or 0) + step for step in (1, -1))


def together(batch: Sequence[Changed]) -> Described:
    """The platform with all of these changes."""
    after = copy.deepcopy(batch[0].before)
    for change in batch:
        _put(after, change.place, change.value)
    return after


@functools.cache
def batches(name: str) -> tuple[tuple[Changed, ...], ...]:
    """The changes of a platform in groups whose effects can be told apart: a preview of each alone would take hours."""
    open_: dict[object, list[list[Changed]]] = defaultdict(list)
    for change in (each for each in changes() if each.platform == name):
        kind = diff(platform_spec(name), change.spec).changes[0].kind
        group = kind if kind in ("nothing", "in-place", "deletes-work") else "pools"
        alone = kind in ("replaces-cluster", "replaces-everything", "deletes-cluster")
        # Whether a value stays the same is judged by what is planned of its part of the description.
        key = (group, str(change) if alone else change.place[0] if kind == "nothing" else "")
        batch = next(filter(partial(_fits, change), islice(filter(partial(apart, change), open_[key]), 3)), None)
        if batch is None:
            open_[key].append(batch := [])
        batch.append(change)
    return tuple(tuple(batch) for group_batches in open_.values() for batch in group_batches)


def apart(change: Changed, batch: list[Changed]) -> bool:
    """Whether no change of the batch is of the same pool or of a field around or within."""
    size = 4 if change.place[2:3] in (("pools",), ("gpuPools",)) else len(change.place)
    return all(other.place[: len(change.place)][:size] != change.place[: len(other.place)][:size] for other in batch)


def _fits(change: Changed, batch: list[Changed]) -> bool:
    """Whether the spec accepts all of them together."""
    return valid(together([*batch, change])) is not None
