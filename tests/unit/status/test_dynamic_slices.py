"""`tpuplane status` with the slices that GKE's slice controller makes of cubes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tpuplane.cli import app
from tpuplane.status.reading import Cluster
from typer.testing import CliRunner

from tests.support.status.api_server import KUEUE, group, kubeconfig, serving

pytestmark = pytest.mark.unit


def made(name: str, state: str, message: str, /, **annotations: str) -> dict[str, Any]:
    condition = {"type": "Ready", "status": str(state == "ACTIVE"), "reason": state, "message": message}
    owner = {f"accelerator.gke.io/owner-workload-{key}": value for key, value in annotations.items()}
    return {
        "metadata": {"name": name, "annotations": owner},
        "spec": {"type": "tpu7x", "topology": "2x2x4", "partitionIds": ["0123456789abcdef"]},
        "status": {"conditions": [condition]},
    }


def test_slices_have_state_partitions_and_job(tmp_path: Path) -> None:
    owned = {"kind": "JobSet", "name": "train", "controller": True}
    workload = {"metadata": {"name": "jobset-train-1", "namespace": "research", "ownerReferences": [owned]}, "spec": {}}
    slices = [
        made(
            "research-jobset-train-1-job-0",
            "ACTIVE",
            "The slice is formed",
            namespace="research",
            name="jobset-train-1",
        ),
        made("by-hand", "FAILED", "The formation of the slice timed out"),
    ]
    lists = {"/apis/accelerator.gke.io/v1beta1/slices": slices, f"{KUEUE}workloads": [workload]}
    with serving(lists) as server:
        server.groups.append(group("accelerator.gke.io", "v1beta1"))
        config = kubeconfig(tmp_path, server.server_port)
        first, second = Cluster(config).read().described()["slices"]
        shown = CliRunner().invoke(app, ["status", "--kubeconfig", str(config)])
    assert first == {
        "name": "research-jobset-train-1-job-0",
        "topology": "2x2x4",
        "partitions": ["0123456789abcdef"],
        "job": "research/train",
        "state": "ACTIVE",
        "message": "",
    }
    assert (second["job"], second["state"]) == ("", "FAILED")
    assert "The formation of the slice timed out" in " ".join(shown.output.split())
