# ruff: noqa: D102 - the methods of `Provider` are the engine's, and described by its protocol
"""What a resource provider is: the calls that the engine makes, in plain Python values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Protocol

Properties = dict[str, Any]


class ProviderError(Exception):
    """A refusal or failure the user can act on: shown as one message, never as a traceback."""


class InitFailed(Exception):
    """The resource exists but is not in order: the engine keeps it in the state and shows `reason`."""

    def __init__(self, resource_id: str, outputs: Properties, inputs: Properties, reason: str) -> None:
        super().__init__(reason)
        self.resource_id, self.outputs, self.inputs, self.reason = resource_id, outputs, inputs, reason


class Urn(NamedTuple):
    """The two parts of a URN that a provider needs."""

    type: str
    name: str

    @classmethod
    def parse(cls, urn: str) -> Urn:
        """`urn:pulumi:stack::project::parent$type::name` → (type, name)."""
        _, _, qualified, name = urn.split("::", 3)
        return cls(qualified.rpartition("$")[2], name)


class Kind(Enum):
    """How one property differs."""

    ADD = "ADD"
    DELETE = "DELETE"
    UPDATE = "UPDATE"


@dataclass(frozen=True, slots=True)
class Change:
    """One changed property; `replace` when only a new resource can have the new value."""

    kind: Kind
    replace: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """What separates a resource's state from its inputs: property path → change."""

    changes: Mapping[str, Change] = field(default_factory=dict)
    delete_before_replace: bool = False


class Autonaming(NamedTuple):
    """The stack's naming rule, when it has one: the proposed name, and PROPOSE, ENFORCE or DISABLE."""

    proposed: str
    mode: str


@dataclass(frozen=True, slots=True)
class Checked:
    """Inputs with defaults filled in, and what is wrong with them."""

    inputs: Properties
    failures: Sequence[str] = ()


class Provider(Protocol):
    """What a provider does. Methods run in threads, many at once; timeouts are in seconds, 0 for the default."""

    @property
    def version(self) -> str: ...

    def check_config(self, urn: Urn, news: Properties) -> Checked: ...

    def diff_config(self, olds: Properties, news: Properties) -> Difference: ...

    def configure(self, args: Properties) -> None: ...

    def invoke(self, token: str, args: Properties) -> Properties: ...

    def check(
        self, urn: Urn, olds: Properties, news: Properties, seed: bytes, autonaming: Autonaming | None
    ) -> Checked: ...

    def diff(
        self, urn: Urn, resource_id: str, state: Properties, news: Properties, ignore: Sequence[str]
    ) -> Difference: ...

    def create(self, urn: Urn, inputs: Properties, timeout: float, preview: bool) -> tuple[str, Properties]: ...

    def read(
        self, urn: Urn, resource_id: str, inputs: Properties, state: Properties
    ) -> tuple[str, Properties, Properties]: ...

    def update(
        self, urn: Urn, resource_id: str, state: Properties, news: Properties, timeout: float, preview: bool
    ) -> Properties: ...

    def delete(self, urn: Urn, resource_id: str, state: Properties, timeout: float) -> None: ...

    def cancel(self) -> None: ...
