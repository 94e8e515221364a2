"""`tpuplane drain` names its mistakes. `tests/e2e/local_stack/test_team_queues.py` empties pools with Kueue."""

from __future__ import annotations

import copy
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tpuplane.cli import app
from tpuplane.cli.drain import _until_empty
from tpuplane.labels import STOPPED_FOR
from tpuplane.status.asking import read
from tpuplane.status.draining import Stopped, held
from tpuplane.status.kueue_objects import Workload
from tpuplane.status.reading import Cluster, Unreachable
from tpuplane.status.snapshot import Objects
from typer.testing import CliRunner

from tests.support import BIN
from tests.support.eventually import wait_until
from tests.support.status.api_server import KUEUE, kubeconfig, serving
from tests.support.status.hosts import HOSTS, pod
from tests.support.status.lists import JOB, LISTS
from tests.support.status.queues import workload

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("pools", "code", "said"),
    [
        (["trainer"], 1, "error: 'trainer' is not a node pool with TPUs or GPUs; allowed: "),
        (["trainer-0", "system"], 1, "error: 'system' is not a node pool with TPUs or GPUs; allowed: "),
        (["trainer-0"], 3, "needs permission to patch nodes and Kueue's workloads"),
    ],
)
def test_a_mistake_ends_the_command(tmp_path: Path, pools: list[str], code: int, said: str) -> None:
    with serving(LISTS) as server:  # which accepts no change
        config = str(kubeconfig(tmp_path, server.server_port))
        result = CliRunner().invoke(app, ["drain", *pools, "--kubeconfig", config])
    assert result.exit_code == code
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_change_that_fails_for_another_reason_than_permissions(tmp_path: Path) -> None:
    """Such as a full etcd."""
    with serving(LISTS) as server:
        server.refusal = 500
        config = str(kubeconfig(tmp_path, server.server_port))
        result = CliRunner().invoke(app, ["drain", "trainer-0", "--kubeconfig", config])
    assert (
        result.exit_code,
        result.stderr.startswith("error: the API server rejects the change of /api/v1/nodes/"),
    ) == (3, True)
    assert "permission" not in result.stderr


def test_a_job_that_remains_deactivated_is_named(tmp_path: Path) -> None:
    workload = Workload.model_validate({"metadata": {"name": "jobset-train", "namespace": "research"}})
    with serving(LISTS) as server:
        cluster = Cluster(kubeconfig(tmp_path, server.server_port))
        said = "remain deactivated; set their spec.active to true: research/jobset-train"
        with pytest.raises(Unreachable, match=said), Stopped(cluster, cluster.read(), ["trainer-0"]) as stopped:
            stopped.stop(workload)


def test_a_signal_whose_exception_was_lost_ends_the_wait(tmp_path: Path) -> None:
    with serving(LISTS) as server:
        cluster = Cluster(kubeconfig(tmp_path, server.server_port))
        stopped = Stopped(cluster, cluster.read(), ["trainer-0"])
        with pytest.raises(KeyboardInterrupt):
            _until_empty(cluster, ["trainer-0"], stopped, [signal.SIGHUP], preempt=False)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_no_job_remains_stopped_when_the_command_is_ended(tmp_path: Path, ending: signal.Signals) -> None:
    """After `kill -9`, the next run for the same pools activates what it finds."""
    with serving(copy.deepcopy(LISTS)) as server:
        server.changeable = True
        config = str(kubeconfig(tmp_path, server.server_port))

        def stopped() -> list[Any]:
            workloads = server.lists[KUEUE + "workloads"]
            notes = [(each["spec"].get("active"), each["metadata"].get("annotations", {})) for each in workloads]
            return [note[STOPPED_FOR] for active, note in notes if active is False]

        drain = [BIN / "tpuplane", "drain", "trainer-0"]
        # Under `nohup`, a process starts with SIGHUP ignored, after a shell's `&` with SIGINT ignored.
        before = None if ending == signal.SIGKILL else signal.signal(ending, signal.SIG_DFL)
        with subprocess.Popen([*drain, "--preempt", "--kubeconfig", config], stderr=subprocess.PIPE) as command:
            if before is not None:
                signal.signal(ending, before)
            wait_until(stopped, lambda found: found == ["trainer-0"])
            command.send_signal(ending)
            command.communicate(timeout=60)
        if ending == signal.SIGKILL:
            assert stopped() == ["trainer-0"]
            subprocess.run([*drain, "--undo", "--kubeconfig", config], check=True)
        else:
            assert command.returncode == 130
        assert stopped() == []


def owner(kind: str, name: str) -> list[dict[str, Any]]:
    return [{"kind": kind, "name": name, "uid": name, "controller": True}]


GROUP, OF_KUEUE = "kueue.x-k8s.io/pod-group-name", "kueue.x-k8s.io/workload"
SET = {"metadata": {"name": "set", "namespace": "art", "uid": "set", "ownerReferences": owner("TrainJob", "llm")}}


@pytest.mark.parametrize(
    ("of_pods", "of_workloads", "expected"),
    [
        (  # Kueue creates a workload for each group of a LeaderWorkerSet
            [{"labels": {GROUP: name}, "ownerReferences": owner("LeaderWorkerSet", "serve")} for name in "ab"],
            {name: owner("LeaderWorkerSet", "serve") for name in "bca"},
            {"art/serve": ["a", "b"]},
        ),
        (  # a group of plain pods, which are the owners: Kueue would delete them, and nothing creates them again
            [{"labels": {GROUP: "crew"}}, {"labels": {GROUP: "crew"}}],
            {"crew": [*owner("Pod", "p0"), *owner("Pod", "p1")]},
            {"art/crew": [None]},
        ),
        (  # kinds that are not read: an owner reference has no namespace
            [{"annotations": {OF_KUEUE: "llm"}, "ownerReferences": owner("TrainJob", "llm")}],
            {"llm": owner("TrainJob", "llm")},
            {"art/llm": ["llm"]},
        ),
        ([{"ownerReferences": owner("JobSet", "set")}], {"llm": owner("TrainJob", "llm")}, {"art/llm": ["llm"]}),
        (  # a job that has grown: Kueue replaces the workload, which pods of before still name
            [{"annotations": {OF_KUEUE: "former"}, "ownerReferences": owner("JobSet", "set")}],
            {"grown": owner("TrainJob", "llm")},
            {"art/llm": ["grown"]},
        ),
        ([{"ownerReferences": owner("Flow", "step")}], {"llm": owner("TrainJob", "llm")}, {"art/step": [None]}),
    ],
)
def test_the_workload_of_the_pods_is_stopped(
    of_pods: list[dict[str, Any]], of_workloads: dict[str, Any], expected: dict[str, Any]
) -> None:
    pods = [pod("art", f"p{index}", "h0", 4) for index in range(len(of_pods))]
    workloads = [workload("any", "art", Admitted=("True", "")) for _ in of_workloads]
    for made, own in zip(pods, of_pods, strict=True):
        made["metadata"] |= {"uid": made["metadata"]["name"], **own}
    for made, (name, owners) in zip(workloads, of_workloads.items(), strict=True):
        made["metadata"] |= {"name": name, "uid": name, "ownerReferences": owners}
    lists = {"nodes": HOSTS, "pods": pods, "JobSet": [SET], "workloads": workloads}
    every = {name: [read(name, each) for each in items] for name, items in lists.items()}
    found = held(Objects.of("lab", "", every), ["trainer-0"]).values()
    names = {each.job: [other.workload and other.workload.name for other in found] for each in found}
    assert names == expected


def test_a_host_that_gke_creates_during_the_wait_is_cordoned(tmp_path: Path) -> None:
    with serving(copy.deepcopy(LISTS)) as server:
        server.changeable = True
        nodes = server.lists["/api/v1/nodes"]
        config = str(kubeconfig(tmp_path, server.server_port))
        with subprocess.Popen([BIN / "tpuplane", "drain", "trainer-0", "--kubeconfig", config]) as command:
            wait_until(lambda: {*server.watches}, lambda watched: {"/api/v1/nodes", "/api/v1/pods"} <= watched)
            repaired = copy.deepcopy(HOSTS[3])
            repaired["metadata"] |= {"name": "h4", "uid": "h4"}
            nodes.append(repaired)
            server.change("/api/v1/nodes", "ADDED", repaired)
            wait_until(lambda: repaired["spec"], lambda spec: spec == {"unschedulable": True})
            server.change("/api/v1/pods", "DELETED", copy.deepcopy(JOB))
            assert command.wait(timeout=60) == 0
