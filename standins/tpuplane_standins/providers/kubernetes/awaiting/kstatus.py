"""The result of a check of an object, and the generic check that Kubernetes tools share.

The generic one is "reconciled" of sigs.k8s.io/cli-utils, pkg/kstatus.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tpuplane_standins.providers.kubernetes.kinds import Kind
from tpuplane_standins.providers.kubernetes.metadata import generation, metadata
from tpuplane_standins.providers.kubernetes.values import Object


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


def status(obj: Object) -> Object:
    """The object's status, empty before a controller wrote one."""
    found = obj.get("status")
    return found if isinstance(found, dict) else {}


def condition(obj: Object, kind: str) -> Object:
    """A condition of the status, empty where there is none of that type."""
    for entry in status(obj).get("conditions") or ():
        if str(entry.get("type")).lower() == kind.lower():
            return dict(entry)
    return {}


def count(obj: Object, *path: str) -> int:
    """An integer below the object, 0 where it is missing."""
    value: Any = obj
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return int(value or 0)


def deletion_message(obj: Object) -> str:
    """The message about an object that is being deleted."""
    if not metadata(obj).get("deletionTimestamp"):
        return ""
    finalizers = metadata(obj).get("finalizers") or ()
    waiting = f" (waiting for finalizers: {', '.join(finalizers)})" if finalizers else ""
    return f"Resource scheduled for deletion{waiting}"


def reconciled(view: View) -> Verdict:
    """Whether the object's controller has caught up with it; an object without a status is."""
    obj = view.live
    if going := deletion_message(obj):
        return Verdict(False, going)
    observed = status(obj).get("observedGeneration")
    if observed is not None and observed != generation(obj):
        return Verdict(
            False, f"{obj.get('kind')} generation is {generation(obj)}, but latest observed generation is {observed}"
        )
    for kind, failed in (("Reconciling", False), ("Stalled", True)):
        found = condition(obj, kind)
        if found.get("status") == "True":
            message = str(found.get("message") or kind)
            return Verdict(False, message, (message,), failed)
    ready = condition(obj, "Ready")
    if ready and ready.get("status") != "True":
        message = str(ready.get("message") or "Waiting for readiness")
        return Verdict(False, message, (message,))
    return Verdict(True, "Resource is current")
