"""Why pods that have a node are not ready: images, crashes, volumes and evictions. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tpuplane.status.objects import Object, is_true

_NORMAL = ("ContainerCreating", "PodInitializing", "Completed")


class Trouble(NamedTuple):
    """The same reason of one or more pods."""

    text: str
    pod: str
    """The first of the pods."""
    container: str


def troubles(pods: Iterable[Object], events: Iterable[Object]) -> list[Trouble]:
    """The reasons why pods with a node are not ready, each with the number of its pods."""
    warnings = {it["involvedObject"].get("uid"): it for it in events if _of_volumes(it)}
    alike: dict[tuple[str, str], list[str]] = defaultdict(list)
    for pod in pods:
        if pod["spec"].get("nodeName") and not is_true(pod, "Ready"):
            said = list(_of_pod(pod))
            warning = warnings.get(pod["metadata"].get("uid"))
            if warning and not said:
                said = [("", f"{warning['reason']}: {warning.get('message', '')}")]
            for container, text in said:
                alike[container, text].append(pod["metadata"]["name"])
    return [
        Trouble(f"{_counted(names)}{f', container {container}' if container else ''}: {text}", names[0], container)
        for (container, text), names in alike.items()
    ]


def _of_pod(pod: Object) -> Iterator[tuple[str, str]]:
    status = pod.get("status", {})
    if status.get("reason"):
        yield "", f"{status['reason']}: {status.get('message', '')}".removesuffix(": ")
    for each in (*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())):
        waiting = each.get("state", {}).get("waiting", {})
        ended: dict[str, Any] = each.get("state", {}).get("terminated") or each.get("lastState", {}).get(
            "terminated", {}
        )
        parts = []
        if waiting.get("reason") and waiting["reason"] not in _NORMAL:
            parts.append(f"{waiting['reason']}: {waiting.get('message', '')}".removesuffix(": "))
        if ended.get("exitCode"):
            restarts = f", {each['restartCount']} restarts" if each.get("restartCount") else ""
            parts.append(f"{ended.get('reason', 'Error')}, exit code {ended['exitCode']}{restarts}")
        if parts:
            yield each["name"], "; ".join(parts)


def _of_volumes(event: Object) -> bool:
    """Whether the kubelet could not start the pod's containers at all."""
    return event["involvedObject"].get("kind") == "Pod" and str(event.get("reason", "")).startswith(
        ("FailedMount", "FailedAttach", "FailedCreatePodSandBox")
    )


def _counted(pods: list[str]) -> str:
    return pods[0] if len(pods) == 1 else f"{len(pods)} pods, such as {pods[0]}"
