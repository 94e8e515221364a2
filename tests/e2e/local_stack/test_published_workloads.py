"""Other people's manifests in a team's queue: with the queue's label and nothing else changed, admitted and run whole.

KubeRay's samples are its own files. Those of xpk and of tpu-recipes are in no registry: `published_shapes` has ours in
their shape.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane_twin.tools import ensure

from tests.support.e2e.platform_under_test import CENTRAL1, PlatformUnderTest
from tests.support.e2e.pods import running
from tests.support.e2e.published_shapes import (
    QUEUE,
    Object,
    Slices,
    recipe_benchmark,
    recipe_training,
    xpk_pathways,
    xpk_priorities,
    xpk_workload,
)

pytestmark = pytest.mark.e2e

TEAM = "product"  # its namespace lets pods use the host's network
LOCAL_QUEUE = "default"
ONE = Slices("tpu-v6e-slice", "4x4", hosts=4)
TWO = Slices("tpu-v6e-slice", "4x4", hosts=4, count=2)
JOBSET, JOB = "jobset.sigs.k8s.io/jobset-name", "jobset.sigs.k8s.io/job-global-index"

JOBSETS = {
    "xpk-multislice": (xpk_workload("xpk-multislice", LOCAL_QUEUE, TWO), [4, 4]),
    "xpk-pathways": (xpk_pathways("xpk-pathways", LOCAL_QUEUE, TWO, "system"), [1, 4, 4]),
    "recipe-training": (recipe_training("recipe-training", LOCAL_QUEUE, ONE), [4]),
}
SAMPLES = {"ray-cluster.tpu-v6e-16-multihost.yaml": 4, "ray-cluster.tpu-v6e-singlehost.yaml": 1}


class Cluster:
    """The team's namespace on the platform's twin."""

    def __init__(self, platform: PlatformUnderTest, folder: Path) -> None:
        self.platform, self.folder = platform, folder

    def apply(self, *objects: Object) -> None:
        path = self.folder / "manifest.yaml"
        path.write_text(yaml.safe_dump_all(objects))
        self.platform.kubectl(CENTRAL1, "apply", "-n", TEAM, "-f", str(path))

    def pools(self, selector: str, count: int, group: str | None = None) -> list[tuple[int, set[str]]]:
        """How many pods each job has, and on which node pools they are, once all of them run."""
        found: dict[str, list[str]] = {}
        for pod in running(self.platform, CENTRAL1, selector, count, namespace=TEAM):
            job = pod["metadata"]["labels"][group] if group else ""
            found.setdefault(job, []).append(self.platform.pool_of(CENTRAL1, pod))
        return [(len(pools), set(pools)) for _, pools in sorted(found.items())]

    def admitted(self) -> list[str]:
        """The queues of the workloads that Kueue has let in."""
        return [
            workload["spec"]["queueName"]
            for workload in self.platform.items(CENTRAL1, "workloads.kueue.x-k8s.io", "-n", TEAM)
            if any(
                condition["type"] == "Admitted" and condition["status"] == "True"
                for condition in workload.get("status", {}).get("conditions", ())
            )
        ]


@pytest.fixture
def cluster(platform: PlatformUnderTest, tmp_path: Path) -> Iterator[Cluster]:
    platform.kubectl(CENTRAL1, "delete", "raycluster", "--all", "-n", "default", "--wait")
    found = Cluster(platform, tmp_path)
    found.apply(*xpk_priorities())
    yield found
    platform.kubectl(CENTRAL1, "delete", "jobset,job,raycluster,rayjob,service", "-n", TEAM, "--all", "--wait")
    for kind in ("pod", "workloads.kueue.x-k8s.io"):
        platform.kubectl(CENTRAL1, "wait", kind, "--for=delete", "-n", TEAM, "--all", "--timeout=300s")
    platform.kubectl(
        CENTRAL1, "delete", "priorityclass", *(xpk_priority["metadata"]["name"] for xpk_priority in xpk_priorities())
    )


@pytest.mark.parametrize("name", JOBSETS)
def test_a_published_jobset_has_a_node_pool_for_each_job(cluster: Cluster, name: str) -> None:
    manifest, jobs = JOBSETS[name]
    cluster.apply(manifest)
    pools = cluster.pools(f"{JOBSET}={name}", sum(jobs), JOB)
    assert [pods for pods, _ in pools] == jobs
    assert all(len(topologies) == 1 for _, topologies in pools), pools
    slices = [topologies.copy().pop() for pods, topologies in pools if pods == 4]
    assert len(set(slices)) == len(slices), "two slices on one node pool"
    assert cluster.admitted() == [LOCAL_QUEUE]


def test_two_benchmarks_of_a_recipe_have_a_slice_each(cluster: Cluster) -> None:
    for name in ("first", "second"):
        cluster.apply(*recipe_benchmark(name, LOCAL_QUEUE, ONE))
    pools = [cluster.pools(f"job-name={name}", 4) for name in ("first", "second")]
    assert sorted(pools, key=str) == [[(4, {"trainer-0"})], [(4, {"trainer-1"})]]
    assert cluster.admitted() == [LOCAL_QUEUE, LOCAL_QUEUE]


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sample_of_kuberay_has_a_slice_of_the_teams(cluster: Cluster, sample: str) -> None:
    manifest: dict[str, Any]
    manifest, *others = yaml.safe_load_all(
        (ensure(["kuberay"]).module("kuberay") / "config" / "samples" / sample).read_text()
    )
    manifest["metadata"].setdefault("labels", {})[QUEUE] = LOCAL_QUEUE
    cluster.apply(manifest, *others)
    ((pods, pools),) = cluster.pools("ray.io/node-type=worker", SAMPLES[sample])
    assert (pods, len(pools)) == (SAMPLES[sample], 1)
    ((_, heads),) = cluster.pools("ray.io/node-type=head", 1)
    assert heads == {"system"}
    assert cluster.admitted() == [LOCAL_QUEUE]
