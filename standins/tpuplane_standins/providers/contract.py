"""What the engine asks a resource provider, and what it answers, in plain Python values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Properties = dict[str, Any]


class ProviderError(Exception):
    """The operation failed and changed nothing that the engine must keep; shown as one message, without a traceback."""


class InitFailed(Exception):
    """The resource exists but is not in order: the engine keeps its state and tries again at the next update.

    `state` is what is known of it, and `inputs` are those to keep, which only the provider knows.
    """

    def __init__(self, reason: str, resource_id: str, state: Properties, inputs: Properties | None = None) -> None:
        super().__init__(reason)
        self.resource_id, self.state, self.inputs = resource_id, state, inputs or {}


class Urn(NamedTuple):
    """The parts of a URN that a provider needs."""

    type: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Urn:
        """`urn:pulumi:stack::project::parent$type::name` → (type, name)."""
        _, _, qualified, name = text.split("::", 3)
        return cls(qualified.rpartition("$")[2], name)


class Autonaming(NamedTuple):
    """The stack's naming rule, when it has one: the proposed name, and PROPOSE, ENFORCE or DISABLE."""

    proposed: str
    mode: str


@dataclass(frozen=True, slots=True)
class Request:
    """What the engine asks about one resource; each operation uses a part of it."""

    urn: Urn
    id: str = ""
    olds: Properties = field(default_factory=dict)
    """The state. In a check: the inputs of the last deployment."""
    news: Properties = field(default_factory=dict)
    """The inputs. In a read: those that the engine keeps."""
    timeout: float = 0
    """In seconds, 0 for the default."""
    preview: bool = False
    ignore: Sequence[str] = ()
    """The property paths of `ignoreChanges`."""
    seed: bytes = b""
    """What random names follow from: the same in the preview and in the update."""
    autonaming: Autonaming | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One changed property; it `replaces` when only a new resource can have the new value."""

    action: Literal["add", "delete", "update"]
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """What separates a resource's state from its inputs: property path → change.

    `replaces` are the properties that the engine names as the reason of a replacement, `changed` those of an update.
    """

    changes: Mapping[str, Change] = field(default_factory=dict)
    replaces: Sequence[str] = ()
    changed: Sequence[str] = ()
    delete_before_replace: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """Inputs with defaults filled in, and what is wrong with them: (property, reason); "" where the reason names it."""

    inputs: Properties
    failures: Sequence[tuple[str, str]] = ()
