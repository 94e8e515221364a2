"""Which kinds are waited for, and how; with the checks of volumes, claims, quotas and secrets."""

from __future__ import annotations

import os
from dataclasses import dataclass

from tpuplane_twin.providers.kubernetes.awaiting import kstatus, network, pods, waitfor, workloads
from tpuplane_twin.providers.kubernetes.awaiting.kstatus import Check, Verdict, View, count, status
from tpuplane_twin.providers.kubernetes.kinds import Kind
from tpuplane_twin.providers.kubernetes.metadata import SKIP_AWAIT, WAIT_FOR, annotation, is_true, name
from tpuplane_twin.providers.kubernetes.values import Object


@dataclass(frozen=True, slots=True)
class Awaiter:
    """When objects of a kind are ready."""

    check: Check
    on_read: bool = True
    """Refresh reports an object that is not ready."""
    seconds: float | None = None
    """A limit that replaces the program's timeout."""


_CLASS = Kind("storage.k8s.io", "v1", "StorageClass")


def _volume(view: View) -> Verdict:
    """Available or bound."""
    phase = status(view.live).get("phase")
    return Verdict(phase in ("Available", "Bound"), f"Waiting for the volume to be available (phase {phase})")


def _claim(view: View) -> Verdict:
    """Bound; or, if its class binds with the first pod that uses it, pending."""
    phase = status(view.live).get("phase")
    wanted = (view.live.get("spec") or {}).get("storageClassName")
    waits = any(
        name(found) == wanted and found.get("volumeBindingMode") == "WaitForFirstConsumer"
        for found in view.list_kind(_CLASS)
    )
    bound = phase == "Bound"
    ready = phase == "Pending" or (bound and view.before is not None) if waits else bound
    return Verdict(ready, f"Waiting for the claim to be bound (phase {phase})")


def _quota(view: View) -> Verdict:
    """Its limits are in force."""
    wanted = (view.live.get("spec") or {}).get("hard")
    return Verdict(wanted == status(view.live).get("hard"), "Waiting for the quota to be in force")


def _replication_controller(view: View) -> Verdict:
    """As many replicas available as wanted."""
    wanted = count(view.live, "spec", "replicas")
    have = count(view.live, "status", "availableReplicas")
    return Verdict(have == wanted, f"Waiting for replicas to be available ({have}/{wanted})")


def _secret(view: View) -> Verdict:
    """A service account's token is filled in; every other secret is ready at once."""
    waits = view.live.get("type") == "kubernetes.io/service-account-token"
    return Verdict(not waits or bool(view.live.get("data")), "Waiting for the token to be issued")


_AWAITERS = {
    "apps/v1/DaemonSet": Awaiter(kstatus.daemonset),
    "apps/v1/Deployment": Awaiter(workloads.deployment),
    "apps/v1/StatefulSet": Awaiter(workloads.statefulset),
    "batch/v1/Job": Awaiter(pods.job),
    "networking.k8s.io/v1/Ingress": Awaiter(network.ingress),
    "v1/PersistentVolume": Awaiter(_volume, on_read=False, seconds=300),
    "v1/PersistentVolumeClaim": Awaiter(_claim, on_read=False, seconds=300),
    "v1/Pod": Awaiter(pods.pod),
    "v1/ReplicationController": Awaiter(_replication_controller, on_read=False),
    "v1/ResourceQuota": Awaiter(_quota, on_read=False, seconds=60),
    "v1/Secret": Awaiter(_secret, on_read=False, seconds=5),
    "v1/Service": Awaiter(network.service),
}


def _at_once(view: View) -> Verdict:
    return Verdict(True)


IMMEDIATELY = Awaiter(_at_once, on_read=False)


def for_write(inputs: Object) -> Awaiter:
    """What to wait for after a create or an update. Raises `waitfor.WaitForError`.

    `pulumi.com/skipAwait` and `pulumi.com/waitFor` come first, then the kind's own conditions. Objects of other kinds
    are not waited for, unless `PULUMI_K8S_AWAIT_ALL=true` asks for the generic notion of readiness.
    """
    if is_true(inputs, SKIP_AWAIT):
        return IMMEDIATELY
    if wanted := annotation(inputs, WAIT_FOR):
        return Awaiter(waitfor.parse(wanted))
    if found := _AWAITERS.get(str(Kind.of(inputs))):
        return found
    return Awaiter(kstatus.reconciled) if os.environ.get("PULUMI_K8S_AWAIT_ALL") == "true" else IMMEDIATELY


def for_read(inputs: Object) -> Check | None:
    """What a refresh checks, None where it takes the object as it is."""
    found = _AWAITERS.get(str(Kind.of(inputs)))
    return found.check if found and found.on_read and not is_true(inputs, SKIP_AWAIT) else None
