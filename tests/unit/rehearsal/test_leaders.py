"""The clock of a rehearsal waits for operators whose pods were replaced."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from tpuplane.status.objects import Pod
from tpuplane.status.snapshot import Objects
from tpuplane_twin.rehearsal.observed import led

pytestmark = pytest.mark.unit

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def pod(name: str, *, ready: bool = True) -> Pod:
    condition = {"type": "Ready", "status": str(ready)}
    metadata = {"name": name, "namespace": "kueue-system", "uid": name}
    return Pod.model_validate({"metadata": metadata, "spec": {}, "status": {"conditions": [condition]}})


def lease(holder: str, since: str = "11:00:00", namespace: str = "kueue-system") -> dict[str, Any]:
    spec = {"holderIdentity": f"{holder}_b6f3", "acquireTime": f"2026-01-01T{since}.000000Z"}
    return {"metadata": {"namespace": namespace, "name": "c1f6bfd2.kueue.x-k8s.io"}, "spec": spec}


@pytest.mark.parametrize(
    ("pods", "leases", "waits"),
    [
        ([pod("new")], [lease("new")], False),
        ([pod("new")], [lease("old")], True),
        ([pod("new")], [lease("new", "11:59:55")], True),
        ([pod("new"), pod("spare")], [lease("new")], False),
        ([pod("new", ready=False)], [lease("old")], False),  # it waits for a host, and so for the clock
        ([pod("new")], [lease("machine", namespace="kube-system")], False),
        ([pod("new")], [], False),
    ],
)
def test_an_operator_acts_once_it_leads(pods: list[Pod], leases: list[dict[str, Any]], waits: bool) -> None:
    objects = Objects.of("context", "server", {"nodes": [], "pods": pods})
    assert led(objects, leases, NOW) == ("the operator of kueue-system" if waits else "")
