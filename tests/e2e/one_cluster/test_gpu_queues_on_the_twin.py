"""Teams on GPU nodes, with the real Kueue: flavors that are the nodes', one job admitted, one rejected, whole GPUs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.workloads import RayClusterSpec, ray_cluster_manifest

from tests.support.e2e.flavors import flavors_and_nodes
from tests.support.e2e.other_programs import example
from tests.support.e2e.platform_under_test import CENTRAL1, PlatformUnderTest
from tests.support.e2e.pods import running
from tests.support.eventually import wait_until

pytestmark = pytest.mark.e2e

WORKERS = "ray.io/node-type=worker"


def test_flavors_are_the_gpu_nodes_own_labels_and_taints(platform: PlatformUnderTest) -> None:
    found = flavors_and_nodes(platform)
    assert {name: sorted({lab_pool(node) for node in nodes}) for name, nodes in found.items()} == {
        "cpu": ["system"],
        "g2-standard-12": ["l4s"],
        "g2-standard-12-time-sharing-4": ["shared"],
    }
    for name, gpus in (("g2-standard-12", "1"), ("g2-standard-12-time-sharing-4", "4")):
        assert {node["status"]["allocatable"]["nvidia.com/gpu"] for node in found[name]} == {gpus}


def test_a_job_of_the_quotas_size_is_admitted_and_a_larger_one_rejected(
    platform: PlatformUnderTest, tmp_path: Path
) -> None:
    with example(platform, tmp_path, "ray-torch", gpu="nvidia-l4", nodes="2") as program:
        pods = running(platform, CENTRAL1, WORKERS, 2, namespace="research")
        assert len({pod["spec"]["nodeName"] for pod in pods}) == 2
        # Not on the node whose GPU is shared, which has the same accelerator and room for four.
        assert {platform.pool_of(CENTRAL1, pod) for pod in pods} == {"l4s"}
        uses(platform, "g2-standard-12", {"nvidia.com/gpu": "2", "google.com/tpu": "0"})

        program.pulumi("config", "set", "--stack", "dev", "nodes", "3")
        program.up()
        said = waits(platform, "research", "request (3) > maximum capacity (2)")
        assert "insufficient quota for nvidia.com/gpu in flavor g2-standard-12" in said
        platform.kubectl(CENTRAL1, "wait", "pod", "--for=delete", "-n", "research", "-l", WORKERS, "--timeout=300s")


def test_kueue_takes_no_ray_cluster_that_scales(platform: PlatformUnderTest, tmp_path: Path) -> None:
    """Why `queue` with `autoscaling` is rejected, and why a service that scales is in no team's namespace."""
    group = {"accelerator": "nvidia-l4", "image": "rayproject/ray:2.60.0", "replicas": 0, "maxReplicas": 1}
    spec = {"namespace": "research", "autoscaling": True, "gpuWorkers": {"gpu": group}}
    manifest = tmp_path / "scaling.yaml"
    manifest.write_text(yaml.safe_dump(ray_cluster_manifest("scaling", RayClusterSpec.model_validate(spec))))
    rejected = platform.run("kubectl", "--context", CENTRAL1, "apply", "-f", manifest, check=False)
    assert rejected.returncode != 0
    assert "a kueue managed job can use autoscaling only when" in rejected.stderr


def lab_pool(node: dict[str, Any]) -> str:
    return str(node["metadata"]["labels"]["cloud.google.com/gke-nodepool"])


def uses(platform: PlatformUnderTest, flavor: str, expected: dict[str, str]) -> None:
    """Wait until the team's work uses that of the flavor's devices."""

    def used() -> dict[str, str]:
        (queue,) = platform.items(CENTRAL1, "clusterqueues", "--field-selector=metadata.name=research")
        found = [usage["resources"] for usage in queue["status"].get("flavorsUsage", ()) if usage["name"] == flavor]
        return {
            resource["name"]: str(resource.get("total", 0))
            for resources in found
            for resource in resources
            if "/" in resource["name"]
        }

    wait_until(used, expected.__eq__)


def waits(platform: PlatformUnderTest, namespace: str, words: str) -> str:
    """What Kueue says of the namespace's only workload that waits, once it says these words."""

    def reasons() -> list[str]:
        return [
            str(condition["message"])
            for workload in platform.items(CENTRAL1, "workloads.kueue.x-k8s.io", "-n", namespace)
            for condition in workload.get("status", {}).get("conditions", ())
            if condition["type"] == "QuotaReserved" and condition["status"] == "False"
        ]

    found = wait_until(reasons, lambda them: any(words in text for text in them))
    return next(text for text in found if words in text)
