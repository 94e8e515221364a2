"""When deployments and stateful sets have rolled out."""

from __future__ import annotations

from collections.abc import Sequence

from tpuplane_twin.providers.kubernetes.awaiting import pods
from tpuplane_twin.providers.kubernetes.awaiting.kstatus import Verdict, View, condition, count, status
from tpuplane_twin.providers.kubernetes.kinds import Kind
from tpuplane_twin.providers.kubernetes.metadata import annotation, generation, name
from tpuplane_twin.providers.kubernetes.values import Object

_REVISION = "deployment.kubernetes.io/revision"
_REPLICASET = Kind("apps", "v1", "ReplicaSet")
_POD = Kind("", "v1", "Pod")
_CLAIM = Kind("", "v1", "PersistentVolumeClaim")


def deployment(view: View) -> Verdict:
    """Available, rolled out to the revision it wants, with every pod of that revision ready and every volume bound."""
    live = view.live
    if count(live, "status", "observedGeneration") < generation(live):
        return Verdict(False, "Waiting for the Deployment to be picked up", (_NOT_LIVE,))
    revision = annotation(live, _REVISION)
    sets = {annotation(found, _REVISION): found for found in pods.owned_by(view.list_kind(_REPLICASET), live)}
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
        found += pods.problems(pods.owned_by(view.list_kind(_POD), current))
    return Verdict(False, message, tuple(text for text in found if text))


_NOT_LIVE = "Minimum number of live Pods was not attained"


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
    found += pods.problems(pods.owned_by(view.list_kind(_POD), live))
    return Verdict(False, message, tuple(found))
