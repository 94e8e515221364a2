"""How an operation ends when it does not succeed."""

from __future__ import annotations

from collections.abc import Sequence

from tpuplane_twin.providers.kubernetes.values import Object


class ProviderError(Exception):
    """The operation failed and changed nothing that the engine must know; the message is for the user."""


class PartialFailure(Exception):
    """The object exists, but not as it should: the engine keeps its state and tries again next time."""

    def __init__(
        self, message: str, identifier: str, state: Object, reasons: Sequence[str] = (), inputs: Object | None = None
    ) -> None:
        super().__init__(message)
        self.identifier = identifier
        self.state = state
        self.reasons = (message, *reasons)
        self.inputs = inputs
