"""What a look at an object says about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tpuplane_twin.providers.kubernetes.kinds import Kind
from tpuplane_twin.providers.kubernetes.values import Object


@dataclass(frozen=True, slots=True)
class Verdict:
    """Ready or not; what to show meanwhile; what to report when the wait ends without success."""

    ready: bool
    message: str = ""
    problems: tuple[str, ...] = ()
    failed: bool = False
    """It will never be ready: do not wait for the timeout."""


@dataclass(slots=True)
class View:
    """An object at one moment."""

    live: Object
    before: Object | None = None
    """The object before the update that is being waited for; None after a create."""
    list_kind: Callable[[Kind], Sequence[Object]] = field(default=lambda kind: ())
    """All objects of another kind in the same namespace, read now."""
    seconds: float = 0.0
    """How long the wait has lasted; infinite for a single look (refresh)."""


Check = Callable[[View], Verdict]


class NotReady(Exception):
    """The wait ended without success; the object exists, as `live` shows it."""

    def __init__(self, message: str, live: Object, problems: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.live = live
        self.problems = tuple(problems)
