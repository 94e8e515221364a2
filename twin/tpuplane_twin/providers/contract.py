"""What a resource provider is: the calls that the engine makes, in plain Python values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

Properties = dict[str, Any]


class ProviderError(Exception):
    """The operation failed and changed nothing that the engine must keep; shown as one message, without a traceback."""


class InitFailed(Exception):
    """The resource exists but is not in order: the engine keeps its state and tries again at the next update.

    `inputs` are those to keep where they are not the ones that the engine sent; `details` follow the reason.
    """

    def __init__(
        self,
        reason: str,
        resource_id: str,
        state: Properties,
        inputs: Properties | None = None,
        details: Sequence[str] = (),
    ) -> None:
        super().__init__(reason)
        self.resource_id, self.state, self.inputs, self.reasons = resource_id, state, inputs, (reason, *details)


class Urn(NamedTuple):
    """The parts of a URN that a provider needs, and its text."""

    type: str
    name: str
    text: str = ""

    @classmethod
    def parse(cls, text: str) -> Urn:
        """`urn:pulumi:stack::project::parent$type::name` → (type, name)."""
        _, _, qualified, name = text.split("::", 3)
        return cls(qualified.rpartition("$")[2], name, text)


@dataclass(frozen=True, slots=True)
class Change:
    """One changed property; it `replaces` when only a new resource can have the new value.

    The path leads through the resource's state, or, with `of_input`, through its inputs.
    """

    action: Literal["add", "delete", "update"]
    replaces: bool = False
    of_input: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """What separates a resource's state from its inputs: property path → change.

    `replaces` are the properties that the engine names as the reason of a replacement, `changed` those of an update.
    """

    changes: Mapping[str, Change] = field(default_factory=dict)
    replaces: Sequence[str] = ()
    changed: Sequence[str] = ()
    delete_before_replace: bool = False


class Autonaming(NamedTuple):
    """The stack's naming rule, when it has one: the proposed name, and PROPOSE, ENFORCE or DISABLE."""

    proposed: str
    mode: str


@dataclass(frozen=True, slots=True)
class Checked:
    """Inputs with defaults filled in, and what is wrong with them: (property, reason); "" where the reason names it."""

    inputs: Properties
    failures: Sequence[tuple[str, str]] = ()


class Provider(Protocol):
    """What a provider does. Methods run in threads, many at once; timeouts are in seconds, 0 for the default."""

    title: str
    """As in "the official Kubernetes plugin"."""
    keeps_secrets: bool = False
    """Whether property values arrive and leave with their `Secret`s; else opened and without nulls."""

    @property
    def version(self) -> str:
        """The SDK's: the engine warns of a plugin older than the SDK that asks for it."""

    def attach(self, engine: str) -> None:
        """Log to the engine at this address; a provider without messages for it has nothing to do."""
        return

    def cancel(self) -> None:
        """Stop waiting within a few seconds: operations under way end with an error and keep their state."""

    def check_config(self, urn: Urn, news: Properties) -> Checked:
        """Check the provider's own configuration."""

    def diff_config(self, olds: Properties, news: Properties) -> Difference:
        """What a changed configuration means for the provider, and for all that it created."""

    def configure(self, args: Properties, variables: Mapping[str, str]) -> None:
        """Read the configuration, as values and as the strings `<package>:config:<key>`."""

    def invoke(self, token: str, args: Properties) -> Properties:
        """The result of a function."""

    def construct(self, request: Any) -> Any:
        """Create a component (`ConstructRequest` → `ConstructResponse`)."""
        raise ProviderError(f"the twin's {self.title} provider has no component {request.type}")

    def check(
        self, urn: Urn, olds: Properties, news: Properties, seed: bytes, autonaming: Autonaming | None
    ) -> Checked:
        """Inputs with name and defaults filled in, or what is wrong with them."""

    def diff(
        self, urn: Urn, resource_id: str, state: Properties, news: Properties, ignore: Sequence[str]
    ) -> Difference:
        """What an update with these inputs would change."""

    def create(self, urn: Urn, inputs: Properties, timeout: float, preview: bool) -> tuple[str, Properties]:
        """The new resource's id and state; in a preview, what it would look like."""

    def read(
        self, urn: Urn, resource_id: str, inputs: Properties, state: Properties
    ) -> tuple[str, Properties, Properties]:
        """Id, inputs and state as they are now, for a refresh or an import; the id is empty where nothing exists."""

    def update(
        self,
        urn: Urn,
        resource_id: str,
        state: Properties,
        news: Properties,
        timeout: float,
        preview: bool,
        ignore: Sequence[str] = (),
    ) -> Properties:
        """The state after a change in place; in a preview, what it would look like."""

    def delete(self, urn: Urn, resource_id: str, state: Properties, timeout: float) -> None:
        """Delete a resource; one that does not exist is fine."""
