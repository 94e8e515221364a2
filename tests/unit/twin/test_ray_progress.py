"""The progress of Ray's real pods: ready, ended, or the reason why they wait."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane_twin.cli.clusters import describe_ray
from tpuplane_twin.cli.show import ray_line

from tests.support.status.api_server import parsed

pytestmark = pytest.mark.unit


def pod(phase: str = "Pending", *, node: str = "n0", ready: bool = False, **container: Any) -> dict[str, Any]:
    statuses = [container] if container else []
    conditions = [{"type": "Ready", "status": str(ready)}]
    return {
        "metadata": {"name": "p", "labels": {"ray.io/cluster": "train"}},
        "spec": {"nodeName": node} if node else {},
        "status": {"phase": phase, "conditions": conditions, "containerStatuses": statuses},
    }


def waiting(reason: str, restarts: int = 0) -> dict[str, Any]:
    return {"state": {"waiting": {"reason": reason}}, "restartCount": restarts}


def test_pods_are_counted_by_their_reason_to_wait() -> None:
    pods = [
        pod("Running", ready=True, state={"running": {}}),
        pod("Running", state={"running": {}}, restartCount=1),
        pod(**waiting("PodInitializing")),
        pod(**waiting("PodInitializing")),
        pod(**waiting("CrashLoopBackOff", restarts=2)),
        pod(node=""),
        pod(),
        {**pod(), "metadata": {"name": "p"}},
    ]
    assert describe_ray(parsed("pods", pods)) == {
        "pods": 7,
        "ready": 1,
        "restarts": 3,
        "others": {
            "ContainerCreating": 1,
            "CrashLoopBackOff": 1,
            "NotReady": 1,
            "PodInitializing": 2,
            "Unschedulable": 1,
        },
    }


@pytest.mark.parametrize(
    ("pods", "line"),
    [
        ([], "no pods yet; they will be real processes"),
        ([pod("Running", ready=True)], "1 of 1 pods ready"),
        (
            [pod("Running", ready=True), pod(**waiting("CrashLoopBackOff", restarts=2))],
            "1 of 2 pods ready (1 CrashLoopBackOff, 2 restarts)",
        ),
    ],
)
def test_it_is_one_line(pods: list[dict[str, Any]], line: str) -> None:
    assert ray_line(describe_ray(parsed("pods", pods))) == line
