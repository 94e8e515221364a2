"""The pods of `python -m benchmarks multislice`, by Kueue and by the scheduler alone."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tpuplane.plan import plan
from tpuplane.spec import load_stack

from benchmarks.multislice import Multislice, host_name_policy
from benchmarks.scale import HOSTS

pytestmark = pytest.mark.unit


def test_the_scheduler_gets_the_same_pods_on_the_same_node_pools(tmp_path: Path) -> None:
    benchmark = Multislice(tmp_path, slices=3)
    file = tmp_path / "Pulumi.soak.yaml"
    file.write_text(benchmark.stack())
    (cluster,) = plan(load_stack(file)).clusters
    (queued,) = benchmark.manifest()["spec"]["replicatedJobs"]
    assert queued["replicas"] == 3
    template = queued["template"]["spec"]
    pods = template["template"]["spec"]
    alone = [job["spec"] for job in benchmark.jobs()]
    assert {spec["parallelism"] for spec in alone} == {template["parallelism"]} == {HOSTS}
    found = [spec["template"]["spec"] for spec in alone]
    assert [spec["nodeSelector"]["cloud.google.com/gke-nodepool"] for spec in found] == [
        pool.name for pool in cluster.pools
    ]
    assert [spec["containers"] for spec in found] == [pods["containers"]] * 3


def test_the_policy_is_that_of_the_page() -> None:
    kinds = [item["kind"] for item in yaml.safe_load_all(host_name_policy())]
    assert kinds == ["MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"]
