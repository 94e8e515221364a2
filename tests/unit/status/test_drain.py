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
from tpuplane.status.draining import STOPPED_FOR, Stopped
from tpuplane.status.kueue_objects import Workload
from tpuplane.status.reading import Cluster, Unreachable
from typer.testing import CliRunner

from tests.support import BIN
from tests.support.eventually import wait_until
from tests.support.status.api_server import KUEUE, kubeconfig, serving
from tests.support.status.lists import LISTS

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


def test_a_job_that_remains_deactivated_is_named(tmp_path: Path) -> None:
    workload = Workload.model_validate({"metadata": {"name": "jobset-train", "namespace": "research"}})
    with serving(LISTS) as server:
        cluster = Cluster(kubeconfig(tmp_path, server.server_port))
        said = "remain deactivated; set their spec.active to true: research/jobset-train"
        with pytest.raises(Unreachable, match=said), Stopped(cluster, cluster.read(), ["trainer-0"]) as stopped:
            stopped.stop("uid", workload)


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
        with subprocess.Popen([*drain, "--preempt", "--kubeconfig", config], stderr=subprocess.PIPE) as command:
            wait_until(stopped, lambda found: found == ["trainer-0"])
            command.send_signal(ending)
            command.communicate(timeout=60)
        if ending == signal.SIGKILL:
            assert stopped() == ["trainer-0"]
            subprocess.run([*drain, "--undo", "--kubeconfig", config], check=True)
        else:
            assert command.returncode == 130
        assert stopped() == []
