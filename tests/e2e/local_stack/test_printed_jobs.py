"""What `tpuplane job` prints, piped into kubectl: accepted as it is, and admitted by the real Kueue.

The stack `local` lacks the add-on for a LeaderWorkerSet: tests/e2e/test_leader_worker_set_on_the_twin.py prints one.
"""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from tests.support import BIN
from tests.support.e2e.platform_under_test import CENTRAL1, PlatformUnderTest
from tests.support.e2e.pods import running
from tests.support.eventually import wait_until

pytestmark = pytest.mark.e2e

JOBS = {
    "jobset": ("--team research --slice v6e-4x4 --slices 2 --timeout 2h --ttl 12h --restart-on-exit-codes 42", 8),
    "job": ("--team product --slice v6e-2x2 --kind Job --restart-on-exit-codes 42,137 --grace-period 90s --env A=b", 1),
    "rayjob": ("--team research --slice v5litepod-16 --kind RayJob --restarts 1", 5),
}


@pytest.fixture
def idle(platform: PlatformUnderTest) -> PlatformUnderTest:
    """The platform, without the Ray cluster that `rehearse` has left on a slice."""
    platform.kubectl(CENTRAL1, "delete", "raycluster", "--all", "--wait")
    platform.kubectl(CENTRAL1, "wait", "pod", "--for=delete", "-l", "ray.io/cluster", "--timeout=300s")
    return platform


@pytest.mark.parametrize("kind", JOBS)
def test_a_printed_job_is_admitted_and_its_slices_are_whole(idle: PlatformUnderTest, kind: str) -> None:
    options, count = JOBS[kind]
    name = f"printed-{kind}"
    call = [BIN / "tpuplane", "job", "--stack", "stacks/Pulumi.local.yaml", *options.split(), "--name", name]
    printing = shlex.join(map(str, [*call, "--priority", "high", "--image", "rayproject/ray:2.52.0"]))
    team = options.split()[1]
    applying = f"kubectl --context {CENTRAL1} apply --validate=strict -f -"
    idle.run("bash", "-o", "pipefail", "-c", f"{printing} -- python train.py | {applying}")
    try:
        workload = wait_until(lambda: workload_of(idle, team, name), admitted)
        assert workload["spec"]["priorityClassRef"]["name"] == "high"
        label = "ray.io/node-type" if kind == "rayjob" else f"batch.kubernetes.io/job-name={name}"
        selector = f"jobset.sigs.k8s.io/jobset-name={name}" if kind == "jobset" else label
        pools: dict[str, set[str]] = {}
        for pod in running(idle, CENTRAL1, selector, count, namespace=team):
            labels = pod["metadata"]["labels"]
            part = labels.get("ray.io/node-type") or labels.get("jobset.sigs.k8s.io/job-index", "")
            pools.setdefault(part, set()).add(idle.pool_of(CENTRAL1, pod))
        assert [len(found) for found in pools.values()] == [1] * len(pools)
        assert len(set.union(*pools.values())) == len(pools)
    finally:
        idle.kubectl(CENTRAL1, "delete", kind, "-n", team, name, "--wait")
        idle.kubectl(CENTRAL1, "wait", "pod", "--for=delete", "-n", team, "--all", "--timeout=300s")


def workload_of(platform: PlatformUnderTest, team: str, name: str) -> dict[str, Any]:
    """The Kueue workload of a job; empty before it exists."""
    workloads = platform.items(CENTRAL1, "workloads.kueue.x-k8s.io", "-n", team)
    owned = (item for item in workloads if any(own["name"] == name for own in item["metadata"]["ownerReferences"]))
    return next(owned, {})


def admitted(workload: dict[str, Any]) -> bool:
    conditions = workload.get("status", {}).get("conditions", ())
    return any(condition["type"] == "Admitted" and condition["status"] == "True" for condition in conditions)
