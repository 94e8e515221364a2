"""Why pods that have a node are not ready: images, crashes, volumes and evictions. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tpuplane.quantities import counted
from tpuplane.status.objects import Event, Pod, State

_NORMAL = ("", "ContainerCreating", "PodInitializing", "Completed")
_NOT_STARTED = ("FailedMount", "FailedAttach", "FailedCreatePodSandBox")


class Trouble(NamedTuple):
    """A reason that one or more pods share."""

    text: str
    pod: str
    """The first of the pods."""
    container: str


def troubles(pods: Iterable[Pod], events: Iterable[Event]) -> list[Trouble]:
    """The reasons why pods with a node are not ready, each with the number of its pods."""
    # The kubelet could not start the containers of these pods at all.
    not_started = (event for event in events if event.reason.startswith(_NOT_STARTED))
    warnings = {event.about.uid: event for event in not_started if event.about.kind == "Pod"}
    alike: dict[tuple[str, str], list[str]] = defaultdict(list)
    for pod in pods:
        if pod.spec.node_name and not pod.is_true("Ready"):
            reasons = list(_of_pod(pod))
            if not reasons and pod.uid in warnings:
                reasons = [("", _text(warnings[pod.uid]))]
            for container, text in reasons:
                alike[container, text].append(pod.name)
    return [
        Trouble(f"{_counted(names)}{f', container {container}' if container else ''}: {text}", names[0], container)
        for (container, text), names in alike.items()
    ]


def _of_pod(pod: Pod) -> Iterator[tuple[str, str]]:
    if pod.reason:
        yield "", _text(pod)
    for status in (*pod.init_statuses, *pod.statuses):
        restarts = f", {counted(status.restart_count, 'restart')}" if status.restart_count else ""
        ended = status.ended
        parts = (
            _text(status.waiting) if status.waiting.reason not in _NORMAL else "",
            f"{ended.reason or 'Error'}, exit code {ended.exit_code}{restarts}" if ended.exit_code else "",
        )
        if any(parts):
            yield status.name, "; ".join(filter(None, parts))


def _text(state: Event | Pod | State) -> str:
    return f"{state.reason}: {state.message}".removesuffix(": ")


def _counted(pods: list[str]) -> str:
    return pods[0] if len(pods) == 1 else f"{len(pods)} pods, such as {pods[0]}"
