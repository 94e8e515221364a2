"""Why pods that have a node are not ready: images, crashes, volumes and evictions. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tpuplane.status.objects import Event, Pod, State

_NORMAL = ("", "ContainerCreating", "PodInitializing", "Completed")
_NOT_STARTED = ("FailedMount", "FailedAttach", "FailedCreatePodSandBox")


class Trouble(NamedTuple):
    """The same reason of one or more pods."""

    text: str
    pod: str
    """The first of the pods."""
    container: str


def troubles(pods: Iterable[Pod], events: Iterable[Event]) -> list[Trouble]:
    """The reasons why pods with a node are not ready, each with the number of its pods."""
    # The kubelet could not start the containers of these pods at all.
    warnings = {it.about.uid: it for it in events if it.about.kind == "Pod" and it.reason.startswith(_NOT_STARTED)}
    alike: dict[tuple[str, str], list[str]] = defaultdict(list)
    for pod in pods:
        if pod.spec.node_name and not pod.is_true("Ready"):
            said = list(_of_pod(pod))
            if not said and pod.uid in warnings:
                said = [("", _said(warnings[pod.uid]))]
            for container, text in said:
                alike[container, text].append(pod.name)
    return [
        Trouble(f"{_counted(names)}{f', container {container}' if container else ''}: {text}", names[0], container)
        for (container, text), names in alike.items()
    ]


def _of_pod(pod: Pod) -> Iterator[tuple[str, str]]:
    if pod.reason:
        yield "", _said(pod)
    for it in (*pod.init_statuses, *pod.statuses):
        restarts = f", {it.restart_count} restarts" if it.restart_count else ""
        parts = (
            _said(it.waiting) if it.waiting.reason not in _NORMAL else "",
            f"{it.ended.reason or 'Error'}, exit code {it.ended.exit_code}{restarts}" if it.ended.exit_code else "",
        )
        if any(parts):
            yield it.name, "; ".join(filter(None, parts))


def _said(it: Event | Pod | State) -> str:
    return f"{it.reason}: {it.message}".removesuffix(": ")


def _counted(pods: list[str]) -> str:
    return pods[0] if len(pods) == 1 else f"{len(pods)} pods, such as {pods[0]}"
