"""Kinds of Kubernetes objects: the kind in a Pulumi type token or an object, and the facts about kinds."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tpuplane_standins.data_files import read_data
from tpuplane_standins.providers.contract import ProviderError, Urn
from tpuplane_standins.providers.kubernetes.values import Object, Path, parse_path


class TypeTokenError(ProviderError):
    """A Pulumi type that names no kind of object."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Group, version and kind; the core group is the empty string."""

    group: str
    version: str
    name: str

    @classmethod
    def of(cls, obj: Mapping[str, Any]) -> Kind:
        """The kind that an object says it is."""
        group, _, version = str(obj.get("apiVersion") or "").rpartition("/")
        return cls("" if group == "core" else group, version, str(obj.get("kind") or ""))

    @classmethod
    def of_type(cls, token: str) -> Kind:
        """The kind behind `kubernetes:<group>/<version>:<Kind>`. Raises `TypeTokenError` for other types."""
        package, _, rest = token.partition(":")
        module, _, name = rest.partition(":")
        group, slash, version = module.partition("/")
        if package != "kubernetes":
            raise TypeTokenError(f'unrecognized resource type: "{token}" for this provider')
        if not slash or "/" in version or not name:
            raise TypeTokenError(f'apiVersion does not have both a group and a version: "{module}"')
        return cls("" if group == "core" else group, version, name)

    @property
    def api_version(self) -> str:
        """As an object's `apiVersion` has it."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def built_in(self) -> bool:
        """Whether Kubernetes itself defines the group (a custom resource's group is its author's)."""
        return self.group in _table()["groups"]

    @property
    def underlying(self) -> Kind:
        """The kind that a Patch type (`NamespacePatch`) patches; any other kind is its own."""
        return Kind(self.group, self.version, self.name.removesuffix("Patch"))

    @property
    def cluster_scoped(self) -> bool | None:
        """Whether objects lie outside namespaces; None where only the API server knows."""
        return self.name in _table()["cluster_scoped"] if self.built_in else None

    @property
    def skips_await_on_delete(self) -> bool:
        """Whether `pulumi.com/skipAwait` also holds for deletion."""
        return str(self) in _table()["skip_await_on_delete"]

    def __str__(self) -> str:
        return f"{self.api_version}/{self.name}"


def is_patch(urn: Urn, obj: Mapping[str, Any]) -> bool:
    """Whether the resource only patches an object that it does not own."""
    kind = obj.get("kind")
    return bool(kind) and urn.type.endswith(f":{kind}Patch")


def is_crd(obj: Mapping[str, Any]) -> bool:
    """Whether the object defines custom resources."""
    kind = Kind.of(obj)
    return kind.group == "apiextensions.k8s.io" and kind.name == "CustomResourceDefinition"


def is_core(obj: Mapping[str, Any], kind: str) -> bool:
    """Whether the object is of that kind of the core group."""
    return obj.get("apiVersion") in ("v1", "core/v1") and obj.get("kind") == kind


def replacing_fields(obj: Object, *, configmap_mutable: bool, secret_mutable: bool) -> tuple[Path, ...]:
    """The fields of this object whose change replaces it."""
    fields = [*_force_new().get(str(Kind.of(obj)), ()), *IDENTITY]
    immutable = obj.get("immutable") is True
    if is_core(obj, "Secret") and (not secret_mutable or immutable):
        fields += [("type",), ("stringData",), ("data",)]
    elif is_core(obj, "Secret"):
        fields += [("type",)]
    elif is_core(obj, "ConfigMap") and (not configmap_mutable or immutable):
        fields += [("binaryData",), ("data",)]
    return tuple(fields)


IDENTITY: tuple[Path, ...] = (("metadata", "name"), ("metadata", "namespace"))
"""What makes an object this object: a change always replaces."""


@functools.cache
def _table() -> dict[str, frozenset[str]]:
    return {key: frozenset(names) for key, names in read_data(__package__, "kinds").items()}


@functools.cache
def _force_new() -> dict[str, tuple[Path, ...]]:
    return {
        kind: tuple(parse_path(field) for field in _flat(fields))
        for kind, fields in read_data(__package__, "force_new").items()
    }


def _flat(fields: list[Any]) -> list[str]:
    flat: list[str] = []
    for field in fields:
        if isinstance(field, str):
            flat.append(field)
        else:
            flat += [f"{prefix}.{name}" for prefix, names in field.items() for name in names]
    return flat
