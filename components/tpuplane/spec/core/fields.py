"""The building blocks of the spec: its base model, and the types of names, labels and address ranges."""

import functools
from ipaddress import IPv4Address, IPv4Network
from types import NoneType, UnionType
from typing import Annotated, Any, Self, TypeGuard, TypeVar, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError, PydanticKnownError

from tpuplane.spec.core.errors import shown
from tpuplane.spec.core.rules import spec_data
from tpuplane.spec.core.texts import text_problem


def unwrap(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """The type without None and `Annotated`, and its constraints and other metadata."""
    if get_origin(annotation) is Annotated:
        inner, *around = get_args(annotation)
        marks = tuple(mark for info in around for mark in (info.metadata if isinstance(info, FieldInfo) else (info,)))
    elif get_origin(annotation) in (Union, UnionType):
        (inner,) = (arg for arg in get_args(annotation) if arg is not NoneType)
        marks = ()
    else:
        return annotation, ()
    plain, within = unwrap(inner)
    return plain, (*marks, *within)


def element(annotation: Any) -> Any:
    """The type of a mapping's values or of a list's items; None for other types."""
    inner, _ = unwrap(annotation)
    if get_origin(inner) is dict:
        return get_args(inner)[1]
    return get_args(inner)[0] if get_origin(inner) in (tuple, list) else None


def unwrap_all(annotation: Any) -> Any:
    """The innermost type of nested mappings and lists, or the type itself."""
    inner, _ = unwrap(annotation)
    item = element(inner)
    return inner if item is None else unwrap_all(item)


def is_model(annotation: Any) -> TypeGuard[type[BaseModel]]:
    """Whether a type without None and `Annotated` is that of a part with fields."""
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


STRICT = "strict"
"""Context of a validation in which an optional mapping or list is left out or filled, and never None."""


class Spec(BaseModel):
    """The base of every part of the description: read-only, no unknown fields, camelCase in files.

    snake_case is accepted too, so that Python programs may pass their own spelling.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True, validate_by_alias=True
    )

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Itself, because it is frozen. Pydantic copies a default value for each model."""
        return self

    @field_validator("*", mode="before")
    @classmethod
    def _as_it_is_written(cls, value: object, info: ValidationInfo) -> object:
        """Reject true as a number, which pydantic reads as 1, and a key without a value, such as `kueue:`."""
        if isinstance(value, bool) and info.field_name in _fields_of(cls, (int, float)):
            raise PydanticKnownError("int_type")
        if value is None and info.context == STRICT and info.field_name in _fields_of(cls, (BaseModel, tuple, dict)):
            raise PydanticKnownError("missing")  # the message depends on the type of the field
        return value


_SpecT = TypeVar("_SpecT", bound=Spec)


def narrowed(spec: Spec, kind: type[_SpecT]) -> _SpecT:
    """A `kind` with the values of the fields that it shares with `spec`."""
    return kind.model_validate({name: getattr(spec, name) for name in spec.model_fields_set & kind.model_fields.keys()})


@functools.cache
def _fields_of(model: type[BaseModel], kinds: tuple[type, ...]) -> frozenset[str]:
    return frozenset(name for name, field in model.model_fields.items() if _is_a(field.annotation, kinds))


def _is_a(annotation: object, kinds: tuple[type, ...]) -> bool:
    inner, _ = unwrap(annotation)
    kind = get_origin(inner) or inner
    return isinstance(kind, type) and kind is not bool and issubclass(kind, kinds)


def reject(message: str) -> PydanticCustomError:
    """A validation error whose text is shown to the user as it is."""
    return PydanticCustomError("tpuplane", "{message}", {"message": message})


def text(name: str) -> tuple[object, AfterValidator]:
    """Annotations of a string that `data/texts.yaml` allows under this name."""
    pattern = spec_data("texts")[name]["pattern"]

    def validate(value: str) -> str:
        if problem := text_problem(name, value):
            raise reject(problem)
        return value

    return Field(json_schema_extra={"pattern": f"^(?:{pattern})$"}), AfterValidator(validate)


PROHIBITED = tuple(map(IPv4Network, spec_data("ranges")["prohibited"]))
INTERNAL = tuple(map(IPv4Network, spec_data("ranges")["internal"]))
_EXAMPLE = "allowed: address/prefix, such as 10.0.0.0/20"
# https://cloud.google.com/vpc/docs/subnets#valid-ranges
_SMALLEST_SUBNETWORK = 29


def _cidr(value: str, *, nearest: str = "") -> str:
    try:
        network = IPv4Network(value, strict=False)
    except ValueError:
        raise reject(f"{shown(value)} is not an IPv4 range; {_EXAMPLE}") from None
    address, slash, _ = value.partition("/")
    if not slash:
        raise reject(f"{shown(value)} has no prefix length; {nearest or _EXAMPLE}")
    if str(network.network_address) != address:
        near = [str(network)]
        if (first := IPv4Network(f"{address}/{_shortest(address)}")).prefixlen <= _SMALLEST_SUBNETWORK:
            near.insert(0, str(first))
        raise reject(f"{shown(value)} has address bits set after its prefix; nearest: {', '.join(near)}")
    return str(network)


def _shortest(address: str) -> int:
    """The shortest prefix of a range that begins with this address."""
    number = int(IPv4Address(address))
    return 32 - (number & -number).bit_length() + 1


def _of_a_vpc(cidr: str) -> str:
    network = IPv4Network(cidr)
    if any(network.overlaps(taken) for taken in PROHIBITED):
        outside = ", ".join(map(str, PROHIBITED))
        raise reject(f"{shown(cidr)} is reserved for other uses; allowed: outside {outside}, such as 10.0.0.0/20")
    return cidr


def _authorized(value: str) -> str:
    cidr = _cidr(value, nearest=f"nearest: {value}/32")
    if cidr.endswith("/0"):
        raise reject(f"{shown(cidr)} opens the control plane to the whole internet; name the ranges that need it")
    return cidr


def is_internal(network: IPv4Network) -> bool:
    """Whether a range has internal addresses only."""
    return any(network.subnet_of(internal) for internal in INTERNAL)


Name = Annotated[str, *text("name")]
ProjectId = Annotated[str, *text("project")]
Namespace = Annotated[str, *text("namespace")]
WorkNamespace = Annotated[str, *text("workNamespace")]
ResourceName = Annotated[str, *text("resource")]
Zone = Annotated[str, *text("zone")]
KmsKey = Annotated[str, *text("kmsKey")]
SecurityGroup = Annotated[str, *text("securityGroup")]
ServiceAccountEmail = Annotated[str, *text("serviceAccount")]
GkeVersion = Annotated[str, *text("gkeVersion")]
NodeVersion = Annotated[str, *text("nodeVersion")]
ImageProject = Annotated[str, *text("imageProject")]
NodeAccount = Annotated[str, *text("nodeAccount")]
Seconds = Annotated[str, *text("seconds")]
KeyPath = Annotated[str, *text("keyPath")]
StoragePool = Annotated[str, *text("storagePool")]
TaintValue = Annotated[str, *text("taintValue")]
_RANGE = Field(json_schema_extra={"pattern": r"^[0-9]{1,3}(?:\.[0-9]{1,3}){3}/[0-9]{1,2}$"})
Cidr = Annotated[str, _RANGE, AfterValidator(_cidr), AfterValidator(_of_a_vpc)]
AuthorizedCidr = Annotated[str, _RANGE, AfterValidator(_authorized)]
Labels = dict[Annotated[str, *text("labelKey")], Annotated[str, *text("labelValue")]]
LabelKey = Annotated[str, *text("kubernetesLabelKey")]
LabelValue = Annotated[str, *text("nodeLabelValue")]
NodeLabels = dict[Annotated[str, *text("nodeLabelKey")], LabelValue]
