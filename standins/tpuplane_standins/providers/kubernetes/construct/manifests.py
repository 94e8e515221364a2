"""From YAML to objects: lists expanded, namespaces filled in, each with what it must wait for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from tpuplane_standins.providers.contract import ProviderError
from tpuplane_standins.providers.kubernetes import kinds, metadata
from tpuplane_standins.providers.kubernetes.cluster import Cluster
from tpuplane_standins.providers.kubernetes.kinds import Kind
from tpuplane_standins.providers.kubernetes.values import Object

_DEPENDS_ON = "config.kubernetes.io/depends-on"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Dates stay text, because JSON has none, and so do times of day, which YAML 1.1 takes for numbers of base 60."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag not in ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:int")
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int",
    re.compile(r"^[-+]?(?:0b[0-1_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)$"),
    list("-+0123456789"),
)


def load_all(text: str) -> list[Any]:
    """Every document of a YAML text. Raises `ProviderError`."""
    try:
        return list(yaml.load_all(text, Loader=_Loader))
    except yaml.YAMLError as error:
        raise ProviderError(f"the YAML cannot be read: {error}") from error


@dataclass(frozen=True, slots=True)
class Identity:
    """What identifies an object in a cluster."""

    group: str
    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, obj: Object) -> Identity:
        """The identity of an object."""
        return cls(Kind.of(obj).group, str(obj["kind"]), metadata.namespace(obj), metadata.name(obj))


def parse(texts: Iterable[str]) -> list[Object]:
    """Every object of some YAML documents. Raises `ProviderError`."""
    found: list[Object] = []
    for text in texts:
        for document in load_all(text):
            if document and not isinstance(document, dict):
                raise ProviderError(f"decoding YAML: {document!r:.60} is not an object")
            if document:
                found.append(document)
    return found


def normalize(objects: Sequence[Object], namespace: str, cluster: Cluster) -> tuple[list[Object], list[str]]:
    """The objects one by one, in `namespace` where they need one and name none.

    The second value names the kinds of which it is not known yet whether they are namespaced: those stay without.
    Raises `ProviderError` for what is no object.
    """
    found = list(_expanded(objects))
    for crd in filter(kinds.is_crd, found):
        cluster.remember_crd(crd)
    unresolved: list[str] = []
    for obj in found:
        if not obj.get("kind") or not obj.get("apiVersion"):
            raise ProviderError(f"Kubernetes resources require a kind and apiVersion: `{obj!s:.100}`")
        if not isinstance(obj.get("metadata"), dict) or not metadata.name(obj):
            raise ProviderError(f"Kubernetes resources require a .metadata.name: `{obj!s:.100}`")
        if metadata.namespace(obj):
            continue
        kind = Kind.of(obj)
        namespaced = cluster.namespaced(kind)
        if namespaced is None:
            unresolved.append(str(kind))
        elif namespaced:
            obj["metadata"]["namespace"] = namespace
    return found, sorted(set(unresolved))


def dependencies(objects: Sequence[Object]) -> dict[Identity, list[Identity]]:
    """For each object those of the others that must be there before: its CRD, its namespace, and what it names itself.

    In an order in which each comes after what it waits for. Raises `ProviderError` for a circle or a stranger.
    """
    waits: dict[Identity, set[Identity]] = {}
    crds = {_defined_kind(obj): Identity.of(obj) for obj in objects if kinds.is_crd(obj)}
    namespaces = {metadata.name(obj): Identity.of(obj) for obj in objects if kinds.is_core(obj, "Namespace")}
    everything = {Identity.of(obj) for obj in objects}
    for obj in objects:
        own = Identity.of(obj)
        found = {crds.get((own.group, own.kind)), namespaces.get(own.namespace)} - {None}
        waits[own] = {each for each in found if each is not None} | set(_named(obj, everything))
    return _ordered(waits)


def _expanded(objects: Iterable[Object]) -> Iterator[Object]:
    for obj in objects:
        if str(obj.get("kind", "")).endswith("List") and isinstance(obj.get("items"), list):
            yield from _expanded(obj["items"])
        else:
            yield obj


def _defined_kind(crd: Object) -> tuple[str, str]:
    spec: dict[str, Any] = crd.get("spec") or {}
    return str(spec.get("group")), str((spec.get("names") or {}).get("kind"))


def _named(obj: Object, everything: set[Identity]) -> Iterator[Identity]:
    written = metadata.annotation(obj, _DEPENDS_ON)
    for reference in filter(None, (part.strip() for part in (written or "").split(","))):
        match reference.split("/"):
            case [group, kind, name]:
                found = Identity(group, kind, "", name)
            case [group, "namespaces", namespace, kind, name]:
                found = Identity(group, kind, namespace, name)
            case _:
                raise ProviderError(
                    f"{_DEPENDS_ON}: {reference!r} names no object; allowed: group/Kind/name, or "
                    "group/namespaces/namespace/Kind/name (the core group is empty)"
                )
        if found not in everything:
            raise ProviderError(f"{_DEPENDS_ON}: external dependency {reference!r}: it is not among these objects")
        yield found


def _ordered(waits: dict[Identity, set[Identity]]) -> dict[Identity, list[Identity]]:
    done: dict[Identity, list[Identity]] = {}
    left = dict(waits)
    while left:
        free = [each for each, before in left.items() if before <= done.keys()]
        if not free:
            names = ", ".join(sorted(f"{each.kind} {each.name}" for each in left))
            raise ProviderError(f"these objects wait for each other in a circle: {names}")
        for each in free:
            done[each] = sorted(left.pop(each), key=lambda other: (other.kind, other.namespace, other.name))
    return done
