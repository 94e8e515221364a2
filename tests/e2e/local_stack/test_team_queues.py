"""Two teams on the slices of one cluster, with the real Kueue: borrowing, reclaim, priorities, and plain rejections."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support import BIN
from tests.support.e2e.flavors import flavors_and_nodes
from tests.support.e2e.platform_under_test import CENTRAL1, PlatformUnderTest, v6e_4x4_job
from tests.support.e2e.pods import running
from tests.support.eventually import wait_until

pytestmark = pytest.mark.e2e

TPUPLANE = BIN / "tpuplane"


class Teams:
    """Jobs of two teams on the platform's two v6e 4x4 slices."""

    def __init__(self, platform: PlatformUnderTest, folder: Path) -> None:
        self.platform, self.folder = platform, folder

    def submit(self, team: str, name: str, *, slices: int, priority: str = "normal") -> None:
        """Run a multislice JobSet, each of whose slices is kept whole by Kueue alone."""
        path = self.folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump(_jobset(team, name, slices, priority)))
        self.platform.kubectl(CENTRAL1, "apply", "-f", str(path))

    def finish(self, team: str, *names: str) -> None:
        """Take jobs away, whether they run or wait."""
        self.platform.kubectl(CENTRAL1, "delete", "jobset", "-n", team, "--wait", *names)

    def pools(self, team: str, name: str, slices: int) -> list[set[str]]:
        """The node pools of each slice of a job, once all of its pods run."""
        pods = running(self.platform, CENTRAL1, f"jobset.sigs.k8s.io/jobset-name={name}", 4 * slices, namespace=team)
        found: dict[str, set[str]] = {}
        for pod in pods:
            job = pod["metadata"]["labels"]["jobset.sigs.k8s.io/job-index"]
            found.setdefault(job, set()).add(self.platform.pool_of(CENTRAL1, pod))
        return list(found.values())

    def condition(self, team: str, name: str, kind: str, is_it: Callable[[dict[str, Any]], bool]) -> str:
        """What Kueue says in a condition of the job's workload, once it is as wanted."""

        def conditions() -> list[dict[str, Any]]:
            return [
                condition
                for workload in self.platform.items(CENTRAL1, "workloads.kueue.x-k8s.io", "-n", team)
                if any(owner["name"] == name for owner in workload["metadata"].get("ownerReferences", ()))
                for condition in workload.get("status", {}).get("conditions", ())
                if condition["type"] == kind
            ]

        found = wait_until(conditions, lambda them: any(map(is_it, them)))
        return next(str(condition["message"]) for condition in found if is_it(condition))


@pytest.fixture
def teams(platform: PlatformUnderTest, tmp_path: Path) -> Iterator[Teams]:
    platform.kubectl(CENTRAL1, "delete", "raycluster", "--all", "--wait")
    platform.kubectl(CENTRAL1, "wait", "pod", "--for=delete", "-l", "ray.io/cluster", "--timeout=300s")
    yield Teams(platform, tmp_path)
    for team in ("research", "product"):
        platform.kubectl(CENTRAL1, "delete", "jobset", "-n", team, "--all", "--wait")


def test_what_is_idle_is_borrowed_and_given_back_whole(teams: Teams) -> None:
    teams.submit("research", "borrower", slices=2)
    borrowed = teams.pools("research", "borrower", 2)
    assert [len(pools) for pools in borrowed] == [1, 1]
    assert borrowed[0] != borrowed[1]

    teams.submit("product", "owner", slices=1)
    assert [len(pools) for pools in teams.pools("product", "owner", 1)] == [1]
    why = teams.condition("research", "borrower", "Evicted", lambda condition: condition["status"] == "True")
    assert "reclamation within the cohort" in why
    pods = ("-n", "research", "-l", "jobset.sigs.k8s.io/jobset-name=borrower")
    teams.platform.kubectl(CENTRAL1, "wait", "pod", "--for=delete", *pods, "--timeout=300s")

    teams.finish("product", "owner")
    assert len(teams.pools("research", "borrower", 2)) == 2


def test_work_that_fills_idle_chips_ends_for_more_important_work_of_its_team(teams: Teams) -> None:
    teams.submit("research", "filler", slices=2, priority="idle")
    teams.pools("research", "filler", 2)
    teams.submit("research", "urgent", slices=1, priority="high")
    assert [len(pools) for pools in teams.pools("research", "urgent", 1)] == [1]
    assert "prioritization in the ClusterQueue" in teams.condition(
        "research", "filler", "Preempted", lambda condition: condition["status"] == "True"
    )


def test_a_job_larger_than_every_slice_shows_the_reason(teams: Teams) -> None:
    teams.submit("product", "giant", slices=3)
    said = teams.condition("product", "giant", "QuotaReserved", lambda condition: condition["status"] == "False")
    assert "request (48) > maximum capacity (32)" in said
    (cluster,) = [candidate for candidate in teams.platform.status()["clusters"] if candidate["context"] == CENTRAL1]
    (queue,) = [queue_ for queue_ in cluster["queues"] if queue_["name"] == "product"]
    (job,) = queue["workloads"]
    assert (job["job"], job["state"], job["chips"]) == ("giant", "waiting", 48)
    assert "requests 48 chips of v6e-4x4, but its queue can get at most 32" in job["why"]


def test_the_products_own_status_says_who_holds_which_slice_and_who_waits_why(teams: Teams) -> None:
    teams.submit("product", "holder", slices=1)
    ((pool,),) = teams.pools("product", "holder", 1)
    teams.submit("product", "giant", slices=3)
    teams.condition("product", "giant", "QuotaReserved", lambda condition: condition["status"] == "False")
    (cluster,) = json.loads(teams.platform.run(TPUPLANE, "status", "--context", CENTRAL1, "--json").stdout)["clusters"]
    pools = {node_pool["name"]: node_pool for node_pool in cluster["nodePools"]}
    assert (pools[pool]["slice"], pools[pool]["hostsReady"], pools[pool]["hosts"]) == ("v6e 4x4", 4, 4)
    assert [name for name, candidate in pools.items() if "product/holder" in candidate["heldBy"]] == [pool]
    (queue,) = [queue_ for queue_ in cluster["queues"] if queue_["name"] == "product"]
    assert [(job["job"], job["nodePools"]) for job in queue["workloads"]] == [("holder", [pool]), ("giant", [])]
    assert "its queue can get at most 32" in queue["workloads"][1]["why"]
    (same,) = [candidate for candidate in teams.platform.status()["clusters"] if candidate["context"] == CENTRAL1]
    assert same["queues"] == cluster["queues"]
    why = json.loads(teams.platform.run(TPUPLANE, "why", "giant", "--context", CENTRAL1, "--json").stdout)
    assert (why["kind"], why["state"], why["queue"], why["priority"]) == ("JobSet", "waiting", "product", "normal")
    assert [(need["slice"], need["slices"], need["chips"]) for need in why["needs"]] == [("v6e 4x4", 3, 48)]
    assert {node_pool["name"]: node_pool["heldBy"] for node_pool in why["needs"][0]["nodePools"]}[pool] == [
        "product/holder"
    ]
    assert why["helps"][0].startswith("Request at most 32 chips of v6e-4x4")


def test_flavors_are_the_nodes_own_labels_and_taints(platform: PlatformUnderTest) -> None:
    assert set(flavors_and_nodes(platform)) == {"cpu", "v5e-4x4", "v6e-4x4", "v6e-2x2"}


def _jobset(team: str, name: str, slices: int, priority: str) -> dict[str, Any]:
    pool = "cloud.google.com/gke-nodepool"
    placement = {
        "kueue.x-k8s.io/podset-slice-required-topology": pool,
        "kueue.x-k8s.io/podset-slice-size": "4",
        "kueue.x-k8s.io/podset-preferred-topology": pool,
    }
    job = v6e_4x4_job(placement)
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, "namespace": team, "labels": {"kueue.x-k8s.io/priority-class": priority}},
        "spec": {"replicatedJobs": [{"name": "slice", "replicas": slices, "template": {"spec": job}}]},
    }


def test_a_pool_is_emptied_before_a_change(teams: Teams) -> None:
    """A stopped job waits for another slice; a job that may finish keeps the command waiting."""
    platform = teams.platform
    teams.submit("research", "train", slices=1)
    ((pool,),) = teams.pools("research", "train", 1)
    try:
        drained = platform.run(TPUPLANE, "drain", pool, "--preempt", "--context", CENTRAL1, "--json")
        assert json.loads(drained.stdout) == {
            "pools": [pool],
            "cordoned": True,
            "jobs": {"research/train": "waits again"},
        }
        ((other,),) = teams.pools("research", "train", 1)
        assert other != pool

        with subprocess.Popen(
            [TPUPLANE, "drain", other, "--context", CENTRAL1],
            env=platform.variables,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as command:
            assert command.stderr is not None
            assert command.stderr.readline() == f"research/train on {other}: runs until its end\n"
            teams.finish("research", "train")
            said, _ = command.communicate(timeout=120)
        assert (command.returncode, said.partition(":")[0]) == (0, other)
    finally:
        platform.run(TPUPLANE, "drain", "trainer-0", "trainer-1", "--undo", "--context", CENTRAL1)
