"""When pods and jobs are ready, and what is wrong with those that are not."""

from __future__ import annotations

from collections.abc import Iterable

from tpuplane_twin.providers.kubernetes.awaiting.kstatus import Verdict, View, condition, count, status
from tpuplane_twin.providers.kubernetes.metadata import metadata, name, namespace
from tpuplane_twin.providers.kubernetes.values import Object


def pod(view: View) -> Verdict:
    """Scheduled, initialized, and ready (or finished well)."""
    label = _label(view.live)
    for kind, verb in (("PodScheduled", "scheduled"), ("Initialized", "initialized"), ("Ready", "ready")):
        finished = kind == "Ready" and status(view.live).get("phase") == "Succeeded"
        if condition(view.live, kind).get("status") != "True" and not finished:
            return Verdict(False, f'Waiting for Pod "{label}" to be {verb}', tuple(problems([view.live])))
    return Verdict(True, f'Pod "{label}" is ready')


_COUNTED = ("active", "succeeded", "failed")


def job(view: View) -> Verdict:
    """Started and complete; failed for good once its back-off or its deadline is used up."""
    label = _label(view.live)
    failure = condition(view.live, "Failed")
    if failure.get("status") == "True" and failure.get("reason") in ("BackoffLimitExceeded", "DeadlineExceeded"):
        text = f"[{failure['reason']}] {failure.get('message', '')}"
        return Verdict(False, text, (text,), failed=True)
    if not status(view.live).get("startTime"):
        return Verdict(False, f'Waiting for Job "{label}" to start')
    if condition(view.live, "Complete").get("status") == "True":
        return Verdict(True, f'Job "{label}" is complete')
    counts = " | ".join(f"{key.title()}: {count(view.live, 'status', key)}" for key in _COUNTED)
    return Verdict(False, f'Waiting for Job "{label}" to succeed ({counts})')


def owned_by(objects: Iterable[Object], owner: Object) -> list[Object]:
    """Those of the objects that this owner controls."""
    uid = metadata(owner).get("uid")
    return [
        obj
        for obj in objects
        if any(reference.get("uid") == uid for reference in metadata(obj).get("ownerReferences") or ())
    ]


def problems(pods: Iterable[Object]) -> list[str]:
    """What keeps these pods from being ready, one line per pod and condition."""
    found = []
    for obj in pods:
        scheduled = condition(obj, "PodScheduled")
        if scheduled.get("status") == "False" and scheduled.get("message"):
            found.append(str(scheduled["message"]))
        causes = "".join(_container_problems(obj))
        for kind in ("Initialized", "Ready"):
            entry = condition(obj, kind)
            if not entry or entry.get("status") == "True":
                continue
            message = str(entry.get("message") or "") if entry.get("reason") else ""
            if message or causes:
                found.append(f"[Pod {_label(obj)}]: {message}{causes}")
    return found


def _container_problems(obj: Object) -> Iterable[str]:
    for container in status(obj).get("containerStatuses") or ():
        if container.get("ready"):
            continue
        state = container.get("state") or {}
        waiting, terminated = state.get("waiting") or {}, state.get("terminated") or {}
        if waiting and waiting.get("reason") != "ContainerCreating":
            yield f"[{waiting.get('reason')}] {waiting.get('message', '')}"
        if terminated.get("reason"):
            yield (
                f"[{terminated['reason']}] {terminated['message']}"
                if terminated.get("message")
                else f'container "{container["name"]}" completed with exit code {terminated.get("exitCode")}'
            )


def _label(obj: Object) -> str:
    space = namespace(obj)
    return f"{space}/{name(obj)}" if space not in ("", "default") else name(obj)
