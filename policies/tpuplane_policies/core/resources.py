"""Resources as rules see them: whoever wrote them, in the providers' own camelCase spelling."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tpuplane_policies.core.values import Value


@dataclass(frozen=True)
class Resource:
    """One resource. Its properties are read when a rule first looks at them."""

    type: str
    name: str
    urn: str
    load: Callable[[], Mapping[str, Any]]
    """Plain properties, with UNKNOWN in the place of what is not known yet."""
    protect: bool = False
    delete_before_replace: bool | None = None
    ignore_changes: tuple[str, ...] = ()

    @cached_property
    def props(self) -> Value:
        """All properties."""
        return Value(self.load())

    def __getitem__(self, dotted: str) -> Value:
        return self.props[dotted]


def matches(patterns: Iterable[str], type_: str) -> bool:
    """Whether a resource type is one of these regular expressions, each for the whole type."""
    return any(re.fullmatch(pattern, type_) for pattern in patterns)


@dataclass(frozen=True)
class Stack:
    """All resources of a stack."""

    resources: tuple[Resource, ...]

    def of(self, *patterns: str) -> Iterator[Resource]:
        """The resources of these types."""
        return (it for it in self.resources if matches(patterns, it.type))
