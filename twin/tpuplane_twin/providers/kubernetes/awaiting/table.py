"""Which kinds are waited for, and how."""

from __future__ import annotations

import os
from dataclasses import dataclass

from tpuplane_twin.providers.kubernetes.awaiting import kstatus, network, pods, storage, waitfor, workloads
from tpuplane_twin.providers.kubernetes.awaiting.verdict import Check, Verdict, View
from tpuplane_twin.providers.kubernetes.kinds import Kind
from tpuplane_twin.providers.kubernetes.metadata import SKIP_AWAIT, WAIT_FOR, annotation, is_true
from tpuplane_twin.providers.kubernetes.values import Object


@dataclass(frozen=True, slots=True)
class Awaiter:
    """When objects of a kind are ready."""

    check: Check
    on_read: bool = True
    """Refresh reports an object that is not ready."""
    seconds: float | None = None
    """A limit that replaces the program's timeout."""


_AWAITERS = {
    "apps/v1/DaemonSet": Awaiter(kstatus.daemonset),
    "apps/v1/Deployment": Awaiter(workloads.deployment),
    "apps/v1/StatefulSet": Awaiter(workloads.statefulset),
    "batch/v1/Job": Awaiter(pods.job),
    "networking.k8s.io/v1/Ingress": Awaiter(network.ingress),
    "v1/PersistentVolume": Awaiter(storage.volume, on_read=False, seconds=300),
    "v1/PersistentVolumeClaim": Awaiter(storage.claim, on_read=False, seconds=300),
    "v1/Pod": Awaiter(pods.pod),
    "v1/ReplicationController": Awaiter(storage.replication_controller, on_read=False),
    "v1/ResourceQuota": Awaiter(storage.quota, on_read=False, seconds=60),
    "v1/Secret": Awaiter(storage.secret, on_read=False, seconds=5),
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
