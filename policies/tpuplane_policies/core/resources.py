"""Resources as rules see them: whoever wrote them, in the providers' own camelCase spelling."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from tpuplane_policies.core.values import UNKNOWN, Value

CLUSTER: Final = "gcp:container/cluster:Cluster"
POOL: Final = "gcp:container/nodePool:NodePool"


@dataclass(frozen=True)
class Resource:
    """One resource. Its properties are read when a rule first looks at them."""

    type: str
    name: str
    urn: str
    load: Callable[[], Any]
    """Plain properties, with UNKNOWN in the place of what is not known yet."""
    protect: bool = False
    delete_before_replace: bool | None = None
    ignore_changes: tuple[str, ...] = ()
    path: str = ""
    """Where it stands in the resource that it is written in, such as `nodePools[0]`; most are their own."""

    @cached_property
    def props(self) -> Value:
        """All properties."""
        return Value(self.load(), self.path, self)

    @property
    def is_patch(self) -> bool:
        """Whether it is laid over an object that is there: what it does not set stays as it is."""
        return self.type.startswith("kubernetes:") and self.type.endswith("Patch")

    def __getitem__(self, dotted: str) -> Value:
        return self.props[dotted]


def matches(patterns: Iterable[str], type_: str) -> bool:
    """Whether a resource type is one of these regular expressions, each for the whole type."""
    return any(re.fullmatch(pattern, type_) for pattern in patterns)


def inline_pools(resource: Resource) -> tuple[Resource, ...]:
    """The node pools that are written inside a cluster, as if each were a resource of its own."""
    return _pools_of(resource) if resource.type == CLUSTER else ()


def _pools_of(cluster: Resource) -> tuple[Resource, ...]:
    # What a pool has from its cluster. Resource options are the cluster's: it is one resource to Pulumi.
    given = {"cluster": cluster["name"].raw, "location": cluster["location"].raw, "project": cluster["project"].raw}
    return tuple(
        replace(
            cluster,
            type=POOL,
            load=lambda raw=pool.raw: {**given, **raw} if isinstance(raw, Mapping) else UNKNOWN,
            path=pool.path,
        )
        for pool in cluster["nodePools"].each()
    )


@dataclass(frozen=True)
class Stack:
    """All resources of a stack."""

    resources: tuple[Resource, ...]

    def of(self, *patterns: str) -> Iterator[Resource]:
        """The resources of these types, and node pools that are written inside clusters."""
        return (it for whole in self.resources for it in (whole, *inline_pools(whole)) if matches(patterns, it.type))
