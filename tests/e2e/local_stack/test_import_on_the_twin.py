"""`tpuplane import` on a running cluster: its state in Pulumi is not needed, and its operators and queues are read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import BIN
from tests.support.e2e.platform_under_test import CENTRAL1, PlatformUnderTest

pytestmark = pytest.mark.e2e


def test_a_cluster_is_adopted_again_without_its_state(platform: PlatformUnderTest, tmp_path: Path) -> None:
    file, resources = tmp_path / "Pulumi.again.yaml", tmp_path / "import-again.json"
    options = [
        "--project",
        "tpuplane-lab",
        "--name",
        "lab",
        "--cluster",
        "lab-central1",
        "--context",
        CENTRAL1,
        "--json",
    ]
    result = platform.run(BIN / "tpuplane", "import", file, *options, check=False)
    assert result.returncode == 5, result.stdout + result.stderr
    found = json.loads(result.stdout)
    assert found["next"] == []
    # tpuplane made the cluster: only labels differ, of the provider, the platform and the queues, which the file lacks.
    assert {kept["path"] for kept in found["kept"]} == {"resourceLabels", "pulumiLabels", "nodeConfig.labels"}
    kueue, jobset, queues = found["notAdopted"]
    assert kueue["what"].startswith("cluster lab-central1, Kueue v0.")
    assert jobset["what"].startswith("cluster lab-central1, JobSet v0.")
    assert kueue["why"].startswith("`pulumi import` cannot add an object")
    assert queues["what"] == "cluster lab-central1, cluster queues product, research"
    (team,) = (line for line in file.read_text().splitlines() if line.startswith("#   teams.research: "))
    described = json.loads(team.partition(": ")[2])
    assert described["clusters"]["lab-central1"]["pools"]["trainer"] == {"chips": 16}
    ids = {resource["id"] for resource in json.loads(resources.read_text())["resources"] if "id" in resource}
    assert ids == set(found["adopted"])
