"""`tpuplane drain` names its mistakes. `tests/e2e/local_stack/test_team_queues.py` empties pools with Kueue."""

from __future__ import annotations

from pathlib import Path

import pytest
from tpuplane.cli import app
from tpuplane.status.draining import Stopped
from tpuplane.status.kueue_objects import Workload
from tpuplane.status.reading import Cluster, Unreachable
from typer.testing import CliRunner

from tests.support.status.api_server import kubeconfig, serving
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
        with pytest.raises(Unreachable, match=said), Stopped(cluster) as stopped:
            stopped.stop("uid", workload)
