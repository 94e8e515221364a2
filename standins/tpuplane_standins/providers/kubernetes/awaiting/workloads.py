"""When pods, jobs, deployments, stateful sets and daemon sets are ready, and what is wrong with those that are not."""

from collections.abc import Iterable, Sequence

from tpuplane_standins.providers.kubernetes.awaiting.kstatus import Verdict, View, condition, count, reconciled, status
from tpuplane_standins.providers.kubernetes.kinds import Kind
from tpuplane_standins.providers.kubernetes.metadata import annotation, generation, metadata, name, namespace
from tpuplane_standins.providers.kubernetes.values import Object

_REVISION = "deployment.kubernetes.io/revision"
_REPLICASET = Kind("apps", "v1", "ReplicaSet")
_POD = Kind("", "v1", "Pod")
_CLAIM = Kind("", "v1", "PersistentVolumeClaim")
_NOT_LIVE = "Minimum number of live Pods was not attained"


def pod(view: View) -> Verdict:
    """Scheduled, initialized, and ready (or finished well)."""
    label = _label(view.live)
    for kind, verb in (("PodScheduled", "scheduled"), ("Initialized", "initialized"), ("Ready", "ready")):
        finished = kind == "Ready" and status(view.live).get("phase") == "Succeeded"
        if condition(view.live, kind).get("status") != "True" and not finished:
            return Verdict(False, f'Waiting for Pod "{label}" to be {verb}', tuple(_problems([view.live])))
    return Verdict(True, f'Pod "{label}" is ready')


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
    counts = " | ".join(
        f"{key.title()}: {count(view.live, 'status', key)}" for key in ("active", "succeeded", "failed")
    )
    return Verdict(False, f'Waiting for Job "{label}" to succeed ({counts})')


def deployment(view: View) -> Verdict:
    """Available, rolled out to the revision it wants, with every pod of that revision ready and every volume bound."""
    live = view.live
    if count(live, "status", "observedGeneration") < generation(live):
        return Verdict(False, "Waiting for the Deployment to be picked up", (_NOT_LIVE,))
    revision = annotation(live, _REVISION)
    sets = {annotation(found, _REVISION): found for found in _owned_by(view.list_kind(_REPLICASET), live)}
    current = sets.get(revision) if revision else None
    available = condition(live, "Available").get("status") == "True"
    progressed = condition(live, "Progressing")
    rolled_out = revision == "1" or (
        progressed.get("reason") == "NewReplicaSetAvailable" and progressed.get("status") == "True"
    )
    wanted = _replicas(current) if current is not None else _replicas(live)
    have = count(current or {}, "status", "readyReplicas")
    unbound = _unbound_claims(live, view)
    if current is not None and available and rolled_out and have >= wanted and not unbound:
        return Verdict(True, "✅ Deployment initialization complete")
    message = f"Waiting for app ReplicaSet to be available ({have}/{wanted} Pods available)"
    found = [_condition_text(live, kind) for kind in ("Progressing", "Available")]
    found += [f'Failed to bind PersistentVolumeClaim(s): "{",".join(unbound)}"'] if unbound else []
    if not available:
        found.append(_NOT_LIVE)
    elif not rolled_out or revision == "1":
        found.append("Minimum number of Pods to consider the application live was not attained")
    else:
        found.append("Attempted to roll forward to new ReplicaSet, but minimum number of Pods did not become live")
    if current is not None:
        found += _problems(_owned_by(view.list_kind(_POD), current))
    return Verdict(False, message, tuple(text for text in found if text))


def _condition_text(obj: Object, kind: str) -> str:
    found = condition(obj, kind)
    return f"[{found.get('reason')}] {found.get('message')}" if found.get("status") == "False" else ""


def _replicas(obj: Object) -> int:
    replicas = (obj.get("spec") or {}).get("replicas")
    return 1 if replicas is None else int(replicas)


def _unbound_claims(obj: Object, view: View) -> list[str]:
    template = ((obj.get("spec") or {}).get("template") or {}).get("spec") or {}
    wanted = {
        volume["persistentVolumeClaim"].get("claimName")
        for volume in template.get("volumes") or ()
        if "persistentVolumeClaim" in volume
    }
    if not wanted:
        return []
    return [
        name(claim)
        for claim in view.list_kind(_CLAIM)
        if name(claim) in wanted and status(claim).get("phase") != "Bound"
    ]


def statefulset(view: View) -> Verdict:
    """Every replica ready, and all of them of the newest revision (unless pods are only replaced by hand)."""
    live = view.live
    wanted, have = _replicas(live), count(live, "status", "readyReplicas")
    observed = count(live, "status", "observedGeneration") >= max(generation(live), 1)
    current, newest = (status(live).get(key) or "" for key in ("currentRevision", "updateRevision"))
    by_hand = ((live.get("spec") or {}).get("updateStrategy") or {}).get("type") == "OnDelete"
    counted: Sequence[str] = ("replicas", "readyReplicas")
    if generation(live) > 1 and by_hand:
        revision_ready = observed
    else:
        revision_ready = observed and current != "" and current == newest
        counted = (*counted, "currentReplicas")
    replicas_ready = observed and all(count(live, "status", key) == wanted for key in counted)
    if revision_ready and replicas_ready:
        return Verdict(True, "✅ StatefulSet initialization complete")
    if generation(live) <= 1:
        message = f"[1/2] Waiting for StatefulSet to create Pods ({have}/{wanted} Pods ready)"
    elif not replicas_ready:
        message = f"[1/3] Waiting for StatefulSet update to roll out ({have}/{wanted} Pods ready)"
    else:
        message = "[2/3] Waiting for StatefulSet to update .status.currentRevision"
    found = [] if replicas_ready else [f"{have} out of {wanted} replicas succeeded readiness checks"]
    if not revision_ready:
        found.append(f'StatefulSet controller failed to advance from revision "{current}" to revision "{newest}"')
    found += _problems(_owned_by(view.list_kind(_POD), live))
    return Verdict(False, message, tuple(found))


def daemonset(view: View) -> Verdict:
    """Whether every node that should run the pod runs the current one, available."""
    generic = reconciled(view)
    if not generic.ready:
        return generic
    if "observedGeneration" not in status(view.live):
        return Verdict(False, "Missing .status.observedGeneration")
    wanted = count(view.live, "status", "desiredNumberScheduled")
    for label, key in (
        ("Current", "currentNumberScheduled"),
        ("Updated", "updatedNumberScheduled"),
        ("Available", "numberAvailable"),
        ("Ready", "numberReady"),
    ):
        have = count(view.live, "status", key)
        if wanted > have:
            return Verdict(False, f"{label}: {have}/{wanted}", (f"{label}: {have}/{wanted}",))
    return Verdict(True, f"All replicas scheduled as expected. Replicas: {wanted}")


def _owned_by(objects: Iterable[Object], owner: Object) -> list[Object]:
    """Those of the objects that this owner controls."""
    uid = metadata(owner).get("uid")
    return [
        obj
        for obj in objects
        if any(reference.get("uid") == uid for reference in metadata(obj).get("ownerReferences") or ())
    ]


def _problems(pods: Iterable[Object]) -> list[str]:
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
