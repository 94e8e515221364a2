"""The building blocks of the spec: its base model, and the types of names, labels and address ranges."""

from __future__ import annotations

import functools
import re
from ipaddress import IPv4Network
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError, PydanticKnownError

from tpuplane.spec.core.errors import shown
from tpuplane.spec.core.rules import spec_data


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


STRICT = "strict"
"""Context of a validation in which an optional mapping or list is left out or filled, and never None."""


class Spec(BaseModel):
    """What every part of the description shares: read-only, no unknown fields, camelCase in files.

    snake_case is accepted too, so that Python programs may pass their own spelling.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        use_attribute_docstrings=True,
    )

    @field_validator("*", mode="before")
    @classmethod
    def _as_it_is_written(cls, value: object, info: ValidationInfo) -> object:
        """Pydantic's true is 1; and `kueue:` with nothing behind it is neither Kueue nor none."""
        if isinstance(value, bool) and info.field_name in _fields_of(cls, (int, float)):
            raise PydanticKnownError("int_type")
        if value is None and info.context == STRICT and info.field_name in _fields_of(cls, (BaseModel, tuple, dict)):
            raise PydanticKnownError("missing")  # worded by what the field holds
        return value


@functools.cache
def _fields_of(model: type[BaseModel], kinds: tuple[type, ...]) -> frozenset[str]:
    """The fields that hold a value of one of these types."""
    return frozenset(name for name, field in model.model_fields.items() if _is_a(field.annotation, kinds))


def _is_a(annotation: object, kinds: tuple[type, ...]) -> bool:
    inner, _ = unwrap(annotation)
    kind = get_origin(inner) or inner
    return isinstance(kind, type) and kind is not bool and issubclass(kind, kinds)


def reject(message: str) -> PydanticCustomError:
    """A validation error whose text is shown to the user as it is."""
    return PydanticCustomError("tpuplane", "{message}", {"message": message})


def text(name: str) -> tuple[object, AfterValidator]:
    """Annotations of a string that must match the pattern of this name in `data/texts.yaml`."""
    known: dict[str, str] = spec_data("texts")[name]
    pattern, message = known["pattern"], f"is not {known.get('what', 'allowed')}; allowed: {known['allowed']}"

    def validate(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise reject(f"{shown(value)} {message}")
        return value

    return Field(json_schema_extra={"pattern": f"^(?:{pattern})$"}), AfterValidator(validate)


_PROHIBITED = tuple(
    IPv4Network(it) for it in ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "255.255.255.255/32")
)


def _label_key(key: str) -> str:
    if key.startswith(("goog", "tpuplane-")):
        raise reject(f"{shown(key)} is reserved; allowed: keys that start with neither 'goog' nor 'tpuplane-'")
    return key


def _node_label_key(key: str) -> str:
    prefix, _, _ = key.rpartition("/")
    if prefix.endswith(("kubernetes.io", "k8s.io", "cloud.google.com")) or key.startswith("tpuplane-"):
        raise reject(
            f"{shown(key)} is reserved; allowed: a prefix of your own, neither kubernetes.io, k8s.io, "
            "cloud.google.com nor a name that starts with 'tpuplane-'"
        )
    return key


def namespace_problem(name: str) -> str | None:
    """Why a namespace of this name cannot be made, if so."""
    if name == "default" or name.startswith(("kube-", "gke-", "gmp-")):
        return f"{shown(name)} belongs to GKE; choose another name, without kube-, gke- or gmp- in front"
    return None


def _namespace(name: str) -> str:
    problem = namespace_problem(name)
    if problem is not None:
        raise reject(problem)
    return name


def _own_account(email: str) -> str:
    if email.endswith("-compute@developer.gserviceaccount.com"):
        raise reject(
            f"{shown(email)} is the project's default account, which may do far more than a node needs "
            "(CIS GKE 5.2.1); name an account of its own"
        )
    return email


def _cidr(value: str) -> str:
    try:
        network = IPv4Network(value, strict=False)
    except ValueError:
        raise reject(f"{shown(value)} is not an IPv4 range; allowed: address/prefix, such as 10.0.0.0/20") from None
    if "/" not in value:
        raise reject(f"{shown(value)} has no prefix length; nearest: {value}/32")
    if str(network.network_address) != value.split("/", maxsplit=1)[0]:
        raise reject(f"{shown(value)} has address bits set behind its prefix; nearest: {network}")
    return str(network)


def _of_a_vpc(cidr: str) -> str:
    """What no VPC may use, https://cloud.google.com/vpc/docs/subnets#prohibited-ipv4-ranges."""
    network = IPv4Network(cidr)
    if any(network.overlaps(taken) for taken in _PROHIBITED):
        outside = ", ".join(map(str, _PROHIBITED))
        raise reject(f"{shown(cidr)} is kept for other uses; allowed: outside {outside}, such as 10.0.0.0/20")
    return cidr


def _authorized(cidr: str) -> str:
    if cidr.endswith("/0"):
        raise reject(f"{shown(cidr)} opens the control plane to the whole internet; name the ranges that need it")
    return cidr


Name = Annotated[str, *text("name")]
ProjectId = Annotated[str, *text("project")]
Namespace = Annotated[str, *text("namespace"), AfterValidator(_namespace)]
ResourceName = Annotated[str, *text("resource")]
Zone = Annotated[str, *text("zone")]
KmsKey = Annotated[str, *text("kmsKey")]
SecurityGroup = Annotated[str, *text("securityGroup")]
ServiceAccountEmail = Annotated[str, *text("serviceAccount"), AfterValidator(_own_account)]
GkeVersion = Annotated[str, *text("gkeVersion")]
Seconds = Annotated[str, *text("seconds")]
KeyPath = Annotated[str, *text("keyPath")]
StoragePool = Annotated[str, *text("storagePool")]
TaintValue = Annotated[str, *text("taintValue")]
_RANGE = Field(json_schema_extra={"pattern": r"^[0-9]{1,3}(?:\.[0-9]{1,3}){3}/[0-9]{1,2}$"})
Cidr = Annotated[str, _RANGE, AfterValidator(_cidr), AfterValidator(_of_a_vpc)]
AuthorizedCidr = Annotated[str, _RANGE, AfterValidator(_cidr), AfterValidator(_authorized)]
Labels = dict[
    Annotated[str, *text("labelKey"), AfterValidator(_label_key)],
    Annotated[str, *text("labelValue")],
]
NodeLabels = dict[
    Annotated[str, *text("nodeLabelKey"), AfterValidator(_node_label_key)],
    Annotated[str, *text("nodeLabelValue")],
]
