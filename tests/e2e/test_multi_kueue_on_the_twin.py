"""One queue over two clusters, with the real Kueue in each: jobs go where there is room, and their end is told."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml

from tests.support.e2e.platform_under_test import PlatformUnderTest, v6e_4x4_job
from tests.support.e2e.pods import running
from tests.support.eventually import wait_until
from tests.support.multi_kueue import multi_kueue_platform

pytestmark = [pytest.mark.e2e, pytest.mark.long]

HUB = "gke_tpuplane-lab_us-central1-b_lab-hub"
WORKERS = {
    "lab-central": "gke_tpuplane-lab_us-central1-b_lab-central",
    "lab-east": "gke_tpuplane-lab_us-east5-b_lab-east",
}
ACCOUNT = "system:serviceaccount:kueue-system:multikueue"
T = TypeVar("T")


class Spanning:
    """Jobs of one slice each, given to the manager."""

    def __init__(self, platform: PlatformUnderTest, folder: Path) -> None:
        self.platform, self.folder = platform, folder

    def submit(self, name: str, **annotations: str) -> None:
        path = self.folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump(_job(name, annotations)))
        self.platform.kubectl(HUB, "apply", "-f", str(path))

    def worker_of(self, name: str) -> str:
        """The cluster that runs a job, as the manager's Kueue says."""
        return wait_until(lambda: self._status(name).get("clusterName"))

    def is_in(self, name: str, worker: str) -> bool:
        """Whether this cluster runs a job."""
        return bool(self._status(name).get("clusterName") == worker)

    def waits(self, name: str) -> bool:
        """Whether the manager has no quota for a job."""
        conditions = {condition["type"]: condition["status"] for condition in self._status(name).get("conditions", ())}
        return conditions.get("QuotaReserved") == "False"

    def _status(self, name: str) -> dict[str, Any]:
        for workload in self.platform.items(HUB, "workloads.kueue.x-k8s.io", "-n", "research"):
            if any(owner["name"] == name for owner in workload["metadata"].get("ownerReferences", ())):
                return dict(workload.get("status", {}))
        return {}

    def pods(self, name: str) -> list[dict[str, Any]]:
        """The running pods of a job, in the cluster that runs it."""
        label = f"batch.kubernetes.io/job-name={name}"
        return running(self.platform, WORKERS[self.worker_of(name)], label, 4, namespace="research")

    def delete(self, *names: str) -> None:
        self.platform.kubectl(HUB, "delete", "job", "-n", "research", "--wait", *names)


@pytest.fixture(scope="module")
def spanning(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spanning]:
    """Three clusters on a twin of their own, destroyed by the program that made them."""
    platform = PlatformUnderTest(tmp_path_factory.mktemp("multikueue"), "multikueue")
    platform.stack_file.write_text(yaml.safe_dump({"config": {"tpuplane:platform": multi_kueue_platform()}}))
    try:
        platform.twin("rehearse", "local", "--no-sample", "--json")
        platform.variables |= json.loads(platform.twin("env", "--json").stdout)
        yield Spanning(platform, platform.folder)
        assert not platform.steps()
        platform.pulumi("destroy", "--yes")
    finally:
        platform.twin("down")


def test_jobs_of_one_team_spill_to_the_second_cluster_and_the_next_waits(spanning: Spanning) -> None:
    for name in ("first", "second"):
        spanning.submit(name)
    assert {spanning.worker_of("first"), spanning.worker_of("second")} == set(WORKERS)
    for name in ("first", "second"):
        assert len(spanning.pods(name)) == 4
    assert spanning.platform.items(HUB, "pods", "-n", "research") == []

    spanning.submit("third")
    wait_until(lambda: spanning.waits("third"))
    freed = spanning.worker_of("first")
    spanning.delete("first")
    assert spanning.worker_of("third") == freed
    assert len(spanning.pods("third")) == 4
    (hub,) = [cluster for cluster in spanning.platform.status()["clusters"] if cluster["context"] == HUB]
    (queue,) = hub["queues"]
    assert {workload["job"]: workload["cluster"] for workload in queue["workloads"]} == {
        "second": spanning.worker_of("second"),
        "third": freed,
    }
    spanning.delete("second", "third")
    for context in WORKERS.values():
        wait_until(partial(_work, spanning, context), lambda work: not work)


def test_the_manager_shows_the_end_of_a_job(spanning: Spanning) -> None:
    spanning.submit("short", **{"pod-complete.stage.kwok.x-k8s.io/delay": "3s"})
    spanning.platform.kubectl(HUB, "wait", "job/short", "-n", "research", "--for=condition=Complete", "--timeout=180s")
    spanning.delete("short")


def test_the_manager_may_do_no_more_than_it_needs(spanning: Spanning) -> None:
    def may(context: str, *what: str) -> bool:
        asked = spanning.platform.run(
            "kubectl", "--context", context, "auth", "can-i", "--quiet", "--as", ACCOUNT, *what, check=False
        )
        return asked.returncode == 0

    for context in WORKERS.values():
        assert may(context, "create", "jobs.batch", "-n", "research")
        assert may(context, "watch", "jobs.batch", "-A")
        for denied in (
            ("create", "jobs.batch", "-n", "default"),
            ("create", "pods", "-n", "kueue-system"),
            ("get", "secrets", "-n", "research"),
            ("get", "pods", "-n", "kube-system"),
            ("update", "clusterqueues.kueue.x-k8s.io"),
        ):
            assert not may(context, *denied), denied


def test_no_token_is_in_the_state_in_the_clear(spanning: Spanning) -> None:
    state = spanning.platform.pulumi("stack", "export").stdout
    for context in WORKERS.values():
        secret = json.loads(
            spanning.platform.kubectl(context, "get", "secret/multikueue", "-n", "kueue-system", "-o", "json")
        )
        token = secret["data"]["token"]
        assert token not in state
        assert base64.b64decode(token).decode() not in state


def test_no_copy_of_a_job_remains_in_a_removed_worker(spanning: Spanning) -> None:
    """The steps of docs/queues.md."""

    def hold(policy: str) -> None:
        patch = json.dumps({"spec": {"stopPolicy": policy}})
        spanning.platform.kubectl(removed, "patch", "clusterqueue", "research", "--type", "merge", "-p", patch)

    spanning.submit("moves")
    worker = spanning.worker_of("moves")
    removed = WORKERS[worker]
    hold("HoldAndDrain")
    (other,) = WORKERS.keys() - {worker}
    wait_until(lambda: spanning.is_in("moves", other))
    assert len(spanning.pods("moves")) == 4
    wait_until(partial(_work, spanning, removed), lambda work: not work)
    spanning.submit("waits")
    (left,) = wait_until(partial(_work, spanning, removed))
    assert left["kind"] == "Workload"
    workers = {"manager": "hub", "workers": [other.removeprefix("lab-")]}
    with spanning.platform.described(lambda platform: platform["queues"].update(multiKueue=workers)):
        spanning.platform.pulumi("up", "--yes", "--skip-preview")
        origin = "kueue.x-k8s.io/multikueue-origin=lab-hub"
        spanning.platform.kubectl(removed, "delete", "workloads", "-A", "-l", origin)
        hold("None")
        assert _work(spanning, removed) == []
        assert len(spanning.pods("moves")) == 4
        spanning.delete("moves", "waits")
    spanning.platform.pulumi("up", "--yes", "--skip-preview")


def _work(spanning: Spanning, context: str) -> list[dict[str, Any]]:
    kinds = "jobs.batch,workloads.kueue.x-k8s.io,pods"
    return spanning.platform.items(context, kinds, "-n", "research")


def _job(name: str, annotations: dict[str, str]) -> dict[str, Any]:
    placement = {"kueue.x-k8s.io/podset-required-topology": "cloud.google.com/gke-nodepool", **annotations}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "research"},
        "spec": v6e_4x4_job(placement),
    }
