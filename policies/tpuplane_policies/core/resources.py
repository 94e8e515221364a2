"""Resources as rules see them, with the providers' camelCase property names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, cached_property
from glob import escape
from typing import Any, Final

from tpuplane_policies.core.values import UNKNOWN, Truth, Value

CLUSTER: Final = "gcp:container/cluster:Cluster"
POOL: Final = "gcp:container/nodePool:NodePool"
DEFAULT_POOL: Final = f"{CLUSTER}/default-pool"
"""The default pool of a cluster, which the cluster describes. Only rules that name this type judge it as a pool."""
OURS: Final = "tpuplane:index:"
"""Part of the URN of every resource that a component of this project creates."""
INHERITED: Final = ("location", "project", "workloadIdentityConfig")
"""Properties that the node pools inside a cluster inherit from it."""


@dataclass(frozen=True)
class Resource:
    """One resource. Its properties are read on first use."""

    type: str
    name: str
    urn: str
    load: Callable[[], Any]
    """Returns plain properties, with UNKNOWN for each value that is not known yet."""
    protect: bool = False
    delete_before_replace: bool | None = None
    ignore_changes: tuple[str, ...] = ()
    parent: str = ""
    """The URN of the component that contains it; empty if the engine shows none."""
    provider: str = ""
    """The URN of its provider; empty if the engine shows none."""
    sources: frozenset[str] = frozenset()
    """The URNs of the resources that its properties come from, as far as the engine shows them."""
    namespace: Any = None
    """The namespace of its Kubernetes provider, which the provider gives to objects without one."""
    path: str = ""
    """The path of a pool inside its cluster, such as `nodePools[0]`, or of an item inside its list; otherwise empty."""

    @cached_property
    def props(self) -> Value:
        """All properties."""
        return Value(self.load(), self.path, self)

    @cached_property
    def parts(self) -> tuple[Resource, ...]:
        """What rules judge: it, with the node pools of a cluster; or the items of a list of Kubernetes objects."""
        return _parts(self)

    @property
    def is_patch(self) -> bool:
        """Whether it patches an existing object, whose other properties keep their values."""
        return self.type.startswith("kubernetes:") and self.type.endswith("Patch")

    @property
    def kind(self) -> str:
        """The kind of a Kubernetes object, also of one that it patches."""
        return self.type.rpartition(":")[2].removesuffix("Patch")

    def __getitem__(self, dotted: str) -> Value:
        return self.props[dotted]


@cache
def matches(patterns: tuple[str, ...], type_: str) -> bool:
    """Whether one of these regular expressions matches the whole resource type."""
    return any(re.fullmatch(pattern, type_) for pattern in patterns)


def is_like(text: str, pattern: str) -> bool:
    """Whether a text has a pattern, in which only `*` matches other text."""
    return fnmatchcase(text, escape(pattern).replace("[*]", "*"))


def inline_pools(resource: Resource) -> tuple[Resource, ...]:
    """The node pools that a cluster contains, as separate resources with the cluster's resource options."""
    if resource.type != CLUSTER:
        return ()
    inherited = _inherited(resource)
    return tuple(
        replace(
            resource,
            type=POOL,
            load=lambda raw=pool.raw: {**inherited, **raw} if isinstance(raw, Mapping) else UNKNOWN,
            path=pool.path,
        )
        for pool in resource["nodePools"].each()
    )


def _inherited(cluster: Resource) -> dict[str, Any]:
    return {"cluster": cluster["name"].raw, **{key: cluster[key].raw for key in INHERITED}}


def _parts(resource: Resource) -> tuple[Resource, ...]:
    if _is_list(resource.type) and (items := resource["items"]).raw is not None:
        kind = resource.type.removesuffix("List")
        return tuple(
            replace(resource, type=kind, load=lambda raw=item.raw: raw, path=item.path) for item in items.each()
        )
    if resource.type != CLUSTER or (kept := keeps_default_pool(resource)).holds is False:
        return (resource, *inline_pools(resource))
    own = {key: resource[key].raw for key in ("nodeConfig", "initialNodeCount")}
    own |= {"name": "default-pool", "version": resource["nodeVersion"].raw}
    default = replace(resource, type=DEFAULT_POOL, load=lambda: {**_inherited(resource), **own} if kept else {})
    return (resource, *inline_pools(resource), default)


def types_within(type_: str) -> tuple[str, ...]:
    """The types that the parts of a resource of this type have."""
    if _is_list(type_):
        return type_, type_.removesuffix("List")
    return (CLUSTER, POOL, DEFAULT_POOL) if type_ == CLUSTER else (type_,)


def _is_list(type_: str) -> bool:
    return type_.startswith("kubernetes:") and type_.endswith("List")


def keeps_default_pool(cluster: Resource) -> Truth:
    """Whether a cluster has a default pool, whose nodes it describes itself. A cluster with pools has none."""
    removed = cluster["removeDefaultNodePool"].is_true | cluster["enableAutopilot"].is_true
    return ~removed & ~cluster["nodePools"].is_set


@dataclass(frozen=True)
class Stack:
    """All resources of a stack."""

    resources: tuple[Resource, ...]

    def of(self, *patterns: str) -> Iterator[Resource]:
        """The resources of these types, with the node pools of clusters and the items of lists."""
        every = (part for resource in self.resources for part in resource.parts)
        return (resource for resource in every if matches(patterns, resource.type))
