"""What the parts of a resource provider tell each other, in plain Python values."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Change:
    """One changed property; it `replaces` when only a new resource can have the new value."""

    action: Literal["add", "delete", "update"]
    replaces: bool = False
