"""What stands after `make up`, and that nothing more is to be done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.e2e.platform_under_test import CENTRAL1, CENTRAL2, PlatformUnderTest

pytestmark = pytest.mark.e2e

TPU = "google.com/tpu"
# Pool: (nodes, accelerator, topology, chips per node). From the stack file and GKE's documentation, by hand.
EXPECTED = {
    CENTRAL1: {
        "trainer-0": (4, "tpu-v6e-slice", "4x4", 4),
        "trainer-1": (4, "tpu-v6e-slice", "4x4", 4),
        "evals-0": (4, "tpu-v5-lite-podslice", "4x4", 4),
        "notebooks": (2, "tpu-v6e-slice", "2x2", 4),
        "serving": (1, "tpu-v6e-slice", "2x4", 8),
    },
    CENTRAL2: {"cubes-0": (2, "tpu-v4-podslice", "2x2x2", 4), "cubes-1": (2, "tpu-v4-podslice", "2x2x2", 4)},
}


@pytest.mark.parametrize("context", [CENTRAL1, CENTRAL2])
def test_nodes_are_the_slices_of_the_stack_file(platform: PlatformUnderTest, context: str) -> None:
    pools = platform.pools(context)
    assert set(pools) == {"system", *EXPECTED[context]}
    for pool, (count, accelerator, topology, chips) in EXPECTED[context].items():
        assert len(pools[pool]) == count, pool
        for node in pools[pool]:
            labels = node["metadata"]["labels"]
            assert labels["cloud.google.com/gke-tpu-accelerator"] == accelerator
            assert labels["cloud.google.com/gke-tpu-topology"] == topology
            assert labels["cloud.google.com/gke-accelerator-count"] == str(chips)
            assert node["status"]["allocatable"][TPU] == str(chips)
            assert {"key": TPU, "value": "present", "effect": "NoSchedule"} in node["spec"]["taints"]
    for node in pools["system"]:
        assert TPU not in node["status"]["allocatable"]
        assert not node["spec"].get("taints")


def test_the_sample_sits_on_one_slice(rehearsal: tuple[PlatformUnderTest, dict[str, Any]]) -> None:
    sample = rehearsal[1]["sample"]
    assert sample["manifest"] == "ray-cluster.tpu-v6e-16-multihost.yaml"
    assert list(sample["workersByNodePool"].values()) == [4]
    assert sample["headOn"] == "system"


def test_nothing_is_left_to_do(plan: Path) -> None:
    assert {step["op"] for step in json.loads(plan.read_text())["steps"]} == {"same"}


def test_refresh_finds_what_was_made(platform: PlatformUnderTest) -> None:
    platform.pulumi("refresh", "--yes", "--skip-preview", "--expect-no-changes")


def test_objects_in_the_cluster_are_the_programs(platform: PlatformUnderTest) -> None:
    for context in EXPECTED:
        labels = platform.items(context, "namespaces", "-l", "pod-security.kubernetes.io/enforce=baseline")
        assert "research" in {item["metadata"]["name"] for item in labels}


def test_logs_are_found_by_a_part_of_their_name(platform: PlatformUnderTest) -> None:
    lines = [
        json.loads(line) for line in platform.twin("logs", "kube-scheduler", "--json", "-l", "1").stdout.splitlines()
    ]
    assert {line["log"].rsplit("/", 1)[-1] for line in lines} == {"kube-scheduler"}
    assert len(lines) == len(EXPECTED)
    said = platform.twin("logs", "no-such-process", check=False)
    assert said.returncode == 1
    assert "it has: " in said.stderr
    assert "supervisor" in said.stderr
