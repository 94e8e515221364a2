"""What the engine's state keeps of an object: the live object, and with it the inputs it was made from.

The three reserved keys are the official provider's, so that a stack can move between the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tpuplane_twin.providers.kubernetes.values import Object, mark_secrets, to_kubernetes, to_pulumi

INPUTS: Final = "__inputs"
INITIAL_API_VERSION: Final = "__initialApiVersion"
FIELD_MANAGER: Final = "__fieldManager"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state of one object, without secrets' wrappers."""

    inputs: Object
    live: Object
    initial_api_version: str | None
    field_manager: str | None

    @classmethod
    def parse(cls, state: Mapping[str, Any]) -> Checkpoint:
        """Read what `render` wrote; inputs are empty for an object that was never created by a program."""
        live = to_kubernetes(dict(state))
        inputs = live.pop(INPUTS, None) or {}
        return cls(inputs, live, live.pop(INITIAL_API_VERSION, None), live.pop(FIELD_MANAGER, None))


def render(
    inputs: Object, live: Object, secrets_like: Mapping[str, Any], initial_api_version: str, field_manager: str
) -> Object:
    """The state to keep; what is secret in `secrets_like` (the program's inputs) is secret in it."""
    state = mark_secrets(to_pulumi(live), secrets_like)
    state[INPUTS] = mark_secrets(to_pulumi(inputs), secrets_like)
    state[INITIAL_API_VERSION] = initial_api_version
    state[FIELD_MANAGER] = field_manager
    return state
