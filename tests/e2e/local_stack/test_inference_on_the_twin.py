"""A service of Ray on the local stack that scales from nothing. The pods are simulated."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support import REPOSITORY
from tests.support.e2e.other_programs import example
from tests.support.e2e.platform_under_test import CENTRAL1, PlatformUnderTest
from tests.support.e2e.pods import running
from tests.support.eventually import wait_until

pytestmark = pytest.mark.e2e

WORKERS = "ray.io/node-type=worker"


def scale(platform: PlatformUnderTest, namespace: str, slices: int, *gone: str) -> None:
    """Do as Ray's autoscaler does: write into the RayCluster how many replicas there are to be, and which pods go."""
    (cluster,) = platform.items(CENTRAL1, "rayclusters", "-n", namespace)
    group = "/spec/workerGroupSpecs/0"
    patch = [
        {"op": "replace", "path": f"{group}/replicas", "value": slices},
        {"op": "add", "path": f"{group}/scaleStrategy", "value": {"workersToDelete": list(gone)}},
    ]
    name = cluster["metadata"]["name"]
    platform.kubectl(CENTRAL1, "patch", "raycluster", name, "-n", namespace, "--type=json", "-p", json.dumps(patch))


def test_a_service_scales_from_no_slice_on_a_pool_that_scales_from_no_host(
    platform: PlatformUnderTest, tmp_path: Path
) -> None:
    shutil.copytree(REPOSITORY / "examples" / "ray-serve", tmp_path / "ray-serve")
    with example(platform, tmp_path, "ray-serve-autoscaling") as program:
        (head,) = running(platform, CENTRAL1, "ray.io/node-type=head", 1, namespace="inference")
        names = [container["name"] for container in head["spec"]["containers"]]
        assert names == ["ray-head", "autoscaler"]
        assert platform.items(CENTRAL1, "pods", "-n", "inference", "-l", WORKERS) == []
        assert "softmax" not in platform.pools(CENTRAL1)

        scale(platform, "inference", 1)
        (worker,) = running(platform, CENTRAL1, WORKERS, 1, namespace="inference")
        assert platform.pool_of(CENTRAL1, worker) == "softmax"
        assert not program.steps()

        scale(platform, "inference", 0, worker["metadata"]["name"])
        wait_until(lambda: platform.pools(CENTRAL1).get("softmax"), lambda hosts: not hosts)
