"""Published TPU workloads, as they are: every slice whole, and the TPU environment right."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane_twin.tools import ensure

from tests.support.e2e.platform_under_test import CENTRAL1, CENTRAL2, PlatformUnderTest
from tests.support.e2e.pods import running

pytestmark = pytest.mark.e2e

SAMPLES = {"ray-cluster.tpu-v6e-16-multihost.yaml": (CENTRAL1, 4), "ray-cluster.tpu-v4-multihost.yaml": (CENTRAL2, 2)}
RUNS = 3


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_published_ray_sample_stays_on_one_slice(platform: PlatformUnderTest, sample: str) -> None:
    context, hosts = SAMPLES[sample]
    manifest = ensure().module("kuberay") / "config" / "samples" / sample
    cluster = yaml.safe_load(manifest.read_text())["metadata"]["name"]
    # The one that `rehearse` left running would take a slice: both must be free.
    platform.kubectl(context, "delete", "raycluster", "--all", "--wait")
    platform.kubectl(context, "wait", "pod", "--for=delete", "-l", "ray.io/cluster", "--timeout=300s")
    for _ in range(RUNS):
        platform.kubectl(context, "apply", "-f", str(manifest))
        pods = running(platform, context, f"ray.io/cluster={cluster}", hosts + 1)
        workers = [pod for pod in pods if pod["metadata"]["labels"]["ray.io/node-type"] == "worker"]
        assert len({platform.pool_of(context, pod) for pod in workers}) == 1
        environments = [tpu_environment(pod) for pod in workers]
        assert sorted(env["TPU_WORKER_ID"] for env in environments) == [str(number) for number in range(hosts)]
        assert len({env["TPU_WORKER_HOSTNAMES"] for env in environments}) == 1
        names = environments[0]["TPU_WORKER_HOSTNAMES"].split(",")
        assert len(set(names)) == hosts
        for pod, env in zip(workers, environments, strict=True):
            own = f"{pod['spec']['hostname']}.{pod['spec']['subdomain']}"
            assert names[int(env["TPU_WORKER_ID"])] == own
        platform.kubectl(context, "delete", "-f", str(manifest), "--wait")
        platform.kubectl(context, "wait", "pod", "--for=delete", "-l", "ray.io/cluster", "--timeout=300s")


def test_a_jobset_with_exclusive_topology_takes_a_slice_each(platform: PlatformUnderTest, tmp_path: Path) -> None:
    platform.kubectl(CENTRAL1, "delete", "raycluster", "--all", "--wait")
    platform.kubectl(CENTRAL1, "wait", "pod", "--for=delete", "-l", "ray.io/cluster", "--timeout=300s")
    manifest = tmp_path / "jobset.yaml"
    manifest.write_text(yaml.safe_dump(jobset("exclusive", slices=2, hosts=4)))
    platform.kubectl(CENTRAL1, "apply", "-f", str(manifest))
    try:
        pods = running(platform, CENTRAL1, "jobset.sigs.k8s.io/jobset-name=exclusive", 8)
        pools: dict[str, set[str]] = defaultdict(set)
        for pod in pods:
            pools[pod["metadata"]["labels"]["jobset.sigs.k8s.io/job-index"]].add(platform.pool_of(CENTRAL1, pod))
        assert {job: len(found) for job, found in pools.items()} == {"0": 1, "1": 1}
        assert pools["0"] != pools["1"]
    finally:
        platform.kubectl(CENTRAL1, "delete", "-f", str(manifest), "--wait")


def jobset(name: str, *, slices: int, hosts: int) -> dict[str, Any]:
    container = {
        "name": "train",
        "image": "python:3.11",
        "command": ["python", "train.py"],
        "resources": {"limits": {"google.com/tpu": 4}},
    }
    selector = {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice", "cloud.google.com/gke-tpu-topology": "4x4"}
    pod = {"restartPolicy": "Never", "nodeSelector": selector, "containers": [container]}
    job = {"parallelism": hosts, "completions": hosts, "backoffLimit": 0, "template": {"spec": pod}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {
            "name": name,
            "annotations": {"alpha.jobset.sigs.k8s.io/exclusive-topology": "cloud.google.com/gke-nodepool"},
        },
        "spec": {"replicatedJobs": [{"name": "slice", "replicas": slices, "template": {"spec": job}}]},
    }


def tpu_environment(pod: dict[str, Any]) -> dict[str, str]:
    (container,) = pod["spec"]["containers"]
    return {entry["name"]: entry.get("value", "") for entry in container.get("env", [])}
