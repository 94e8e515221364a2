"""Kubelet and Linux settings of a compute class's nodes: some 130 of them, described by `data/node_system.yaml`.

They have GKE's names. They are checked here, and GKE gets them unchanged.
"""

import functools
import operator
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetCoreSchemaHandler, create_model
from pydantic_core import CoreSchema, core_schema

from tpuplane.spec.core.errors import shown
from tpuplane.spec.core.fields import reject
from tpuplane.spec.core.rules import spec_data

_RANGE = re.compile(r"(-?\d+)\.\.(\d*)")
_AMOUNT = re.compile(r"([0-9.]+)([a-zA-Zµ%]+)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
_MIB = {"Ki": 1 / 1024, "Mi": 1, "Gi": 1024}
_UNITS: Mapping[str, float] = {**_SECONDS, **_MIB, "%": 1}
_BOUNDS: Mapping[str, Callable[[float, float], bool]] = {
    "more than": operator.gt,
    "at least": operator.ge,
    "less than": operator.lt,
    "at most": operator.le,
}


class _Fields(BaseModel):
    """The base of models that data describes: read-only, no unknown fields, GKE's spelling only."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Described:
    """Annotates a mapping whose fields are described by data."""

    @property
    def model(self) -> type[BaseModel]:
        """The model of the mapping's fields."""
        return _settings()

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Check like the model, and keep the values of the file."""
        written = core_schema.plain_serializer_function_ser_schema(dict)
        as_written = functools.partial(BaseModel.model_dump, mode="json", by_alias=True, exclude_unset=True)
        return core_schema.no_info_after_validator_function(as_written, handler(self.model), serialization=written)


NodeSystem = Annotated[dict[str, Any], Described()]


@functools.cache
def _settings() -> type[BaseModel]:
    data = spec_data("node_system")
    return _model("NodeSystemSpec", data["settings"], data["texts"])


def _model(name: str, fields: Mapping[str, Any], texts: Mapping[str, Any]) -> type[BaseModel]:
    every = {"all": None, "of": (), **fields}
    named = dict.fromkeys(every.pop("of"), every["all"]) | {key: kind for key, kind in every.items() if key != "all"}
    made: dict[str, Any] = {}
    for index, (key, kind) in enumerate(named.items()):
        alias = key.removesuffix("!")
        annotation = _kind(f"{name}{alias[0].upper()}{alias[1:]}", kind, texts)
        # Some are not Python names: fs.aio-max-nr.
        said = Field(... if key.endswith("!") else None, alias=alias, description=_in_words(alias, kind, texts))
        made[f"setting{index}"] = (annotation, said)
    return create_model(name, __base__=_Fields, **made)


def _kind(name: str, kind: Any, texts: Mapping[str, Any]) -> Any:
    """The annotation for a value of the data."""
    if isinstance(kind, list):
        return Literal[tuple(kind)]
    if isinstance(kind, Mapping):
        if "list" not in kind:
            return _model(name, kind, texts)
        return Annotated[list[_kind(name, kind["list"], texts)], Field(max_length=kind.get("most"))]  # type: ignore[misc]
    if kind in ("bool", "int"):
        return {"bool": bool, "int": int}[kind]
    if found := _RANGE.fullmatch(kind):
        return Annotated[int, Field(ge=int(found[1]), le=int(found[2]) if found[2] else None)]
    pattern = texts[kind]["pattern"].removeprefix("(?s)")  # JSON schema's patterns have no flags
    schema = Field(json_schema_extra={"pattern": f"^(?:{pattern})$"})
    return Annotated[str, AfterValidator(functools.partial(_text, texts[kind])), schema]


def _in_words(name: str, kind: Any, texts: Mapping[str, Any]) -> str:
    """The description for editors."""
    if isinstance(kind, list):
        return f"One of {', '.join(map(str, kind))}."
    if isinstance(kind, Mapping):
        return f"Settings of {name}."
    plain = {"bool": "true or false.", "int": "A whole number."}
    if kind in plain:
        return plain[kind]
    return f"A whole number, {kind}." if _RANGE.fullmatch(kind) else f"{_says(texts[kind])}."


def _says(rule: Mapping[str, str]) -> str:
    """What the text is, with its bounds if it has some."""
    bounds = " and ".join(f"{bound} {rule[bound]}" for bound in _BOUNDS if bound in rule)
    return f"{rule['says'].partition(', such as')[0]} of {bounds}" if bounds else rule["says"]


def _text(rule: Mapping[str, str], value: str) -> str:
    fits = re.fullmatch(rule["pattern"], value)
    if not fits or not all(_BOUNDS[bound](_amount(value), _amount(rule[bound])) for bound in _BOUNDS if bound in rule):
        raise reject(f"{shown(value)} is not {_says(rule)}")
    return value


def _amount(text: str) -> float:
    """A size in MiB, a duration in seconds, or a percentage."""
    return sum(float(number) * _UNITS[unit] for number, unit in _AMOUNT.findall(text))
