"""The typed boundary: the same fields as the spec, in types that Pulumi's analyzer can offer to other languages."""

from __future__ import annotations

import collections.abc
import json
import typing
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest
from pulumi.provider.experimental.analyzer import Analyzer, PropertyType
from pydantic import BaseModel
from tpuplane import Platform, PlatformArgs, PlatformSpec
from tpuplane.plugin import PlatformProvider

pytestmark = pytest.mark.components


def boundary_type(annotation: Any) -> Any:
    """What a spec's annotation has to be in a TypedDict: no constraints, no Literal, no tuple, optional by key."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return boundary_type(args[0])
    if origin in (Union, type(int | None)):
        (plain,) = (arg for arg in args if arg is not type(None))
        return boundary_type(plain)
    if origin is Literal:
        return str
    if origin is dict:
        return collections.abc.Mapping[str, boundary_type(args[1])]  # type: ignore[misc]
    if origin is tuple:
        return collections.abc.Sequence[boundary_type(args[0])]  # type: ignore[misc]
    return annotation


def pairs(spec: type[BaseModel], args: type, seen: dict[type, type]) -> dict[type, type]:
    """Every spec model with the TypedDict that stands for it, found by walking both from the top."""
    if spec in seen:
        return seen
    seen[spec] = args
    hints = typing.get_type_hints(args)
    for name, field in spec.model_fields.items():
        inner, outer = boundary_type(field.annotation), hints.get(name)
        while get_origin(inner) is not None:
            inner, outer = get_args(inner)[-1], get_args(outer)[-1]
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            pairs(inner, typing.cast(type, outer), seen)
    return seen


PAIRS = pairs(PlatformSpec, PlatformArgs, {})


@pytest.mark.parametrize(("spec", "args"), PAIRS.items(), ids=lambda it: it.__name__)
def test_args_and_spec_have_the_same_fields(spec: type[BaseModel], args: Any) -> None:
    def named(kind: Any) -> Any:
        """Put the TypedDict in the place of each spec model."""
        if get_origin(kind) is None:
            return PAIRS.get(kind, kind)
        return get_origin(kind)[*(named(arg) for arg in get_args(kind))]

    wanted = {name: named(boundary_type(field.annotation)) for name, field in spec.model_fields.items()}
    assert typing.get_type_hints(args) == wanted
    assert args.__required_keys__ == {name for name, field in spec.model_fields.items() if field.is_required()}


def test_every_part_of_the_spec_is_compared() -> None:
    assert {"PlatformSpec", "ClusterSpec", "PoolSpec", "PoolAutoscalingSpec"} < {it.__name__ for it in PAIRS}


def test_the_descriptions_are_those_of_the_spec() -> None:
    schema = json.loads(PlatformProvider().schema or "")
    described = {name.rpartition(":")[2]: it.get("properties", {}) for name, it in schema["types"].items()}
    described["PlatformArgs"] = schema["resources"]["tpuplane:index:Platform"]["inputProperties"]
    for spec, args in PAIRS.items():
        fields = {field.alias: field for field in spec.model_fields.values()}
        assert described[args.__name__].keys() == fields.keys()
        for wire_name, definition in described[args.__name__].items():
            assert definition["description"].split() == (fields[wire_name].description or "").split(), wire_name


def test_the_platform_can_be_offered_to_other_languages() -> None:
    platform = Analyzer("tpuplane").analyze([Platform])["component_definitions"]["Platform"]
    required = {"name", "clusters"}
    assert platform.inputs.keys() == set(PlatformSpec.model_fields)
    assert {name for name, it in platform.inputs.items() if not it.optional} == required
    assert platform.outputs.keys() == {"clusters", "nodePools", "gpuNodePools", "kubeconfigs"}
    assert platform.inputs["clusters"].type is PropertyType.OBJECT
    assert all(it.plain for it in platform.inputs.values()), "what shapes the plan is known before the engine starts"
