"""Node pools that grow and shrink with real pods on a real control plane."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.support.elasticity.elastic_twin import POOL, ElasticTwin, tpu_pod, tpu_spec
from tests.support.eventually import eventually

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

RAY = "/apis/ray.io/v1/namespaces"
LINK = "https://www.googleapis.com/compute/v1/projects/acme/zones/us-east5-b/instanceGroups"


async def pools_of(twin: ElasticTwin, pods: list[dict[str, Any]]) -> set[str]:
    nodes = await twin.kubernetes.list("Node")
    pools = {node["metadata"]["name"]: node["metadata"]["labels"][POOL] for node in nodes}
    return {pools[pod["spec"]["nodeName"]] for pod in pods}


async def test_serving_hosts_come_with_the_load_and_go_with_it(twin: ElasticTwin, namespace: str) -> None:
    await twin.add_pool("serving", "ct6e-standard-8t", 1, 4)
    before = await twin.pool("serving")
    assert before["targetSize"] == 1
    names = [f"serve-{number}" for number in range(3)]
    for name in names:
        await twin.kubernetes.create(tpu_pod(name, "2x4", 8, namespace=namespace))
    pods = await twin.running(namespace, 3)
    assert len({pod["spec"]["nodeName"] for pod in pods}) == 3
    after = await twin.pool("serving")
    assert after == {**before, "targetSize": 3}

    told = [event for name in names for event in await twin.events(namespace, name)]
    # The autoscaler may look between two of the pods.
    assert {reason for reason, _ in told} == {"TriggeredScaleUp"}
    assert all(text.startswith(f"pod triggered scale-up: [{{{LINK}/gke-elastic-serving-") for _, text in told)
    steps = {text.partition("-grp ")[2] for _, text in told}
    assert steps in ({"1->3 (max: 4)}]"}, {"1->2 (max: 4)}]", "2->3 (max: 4)}]"})

    # The node that goes on working is the one that stays, whichever number it has.
    last = max(pods, key=lambda pod: pod["metadata"]["creationTimestamp"] + pod["metadata"]["name"])
    for pod in pods:
        if pod is not last:
            await twin.kubernetes.delete("Pod", pod["metadata"]["name"], namespace)
    await twin.running(namespace, 1)
    await twin.idle_since_noticed("serving", 1)
    assert await twin.nodes("serving") == [last["spec"]["nodeName"]]
    assert (await twin.running(namespace, 1))[0]["metadata"]["uid"] == last["metadata"]["uid"]
    gone = next(pod["spec"]["nodeName"] for pod in pods if pod is not last)
    assert await twin.told("default", gone, "ScaleDown") == "node removed by cluster autoscaler"
    assert (await twin.pool("serving"))["targetSize"] == 1
    await twin.delete_pool("serving")


async def test_a_ray_cluster_brings_exactly_one_slice(twin: ElasticTwin, namespace: str) -> None:
    for name in ("slice-a", "slice-b"):
        await twin.add_pool(name, "ct6e-standard-4t", 0, 4, topology="4x4")
    samples = twin.tools.module("kuberay") / "config" / "samples"
    manifest = yaml.safe_load((samples / "ray-cluster.tpu-v6e-16-multihost.yaml").read_text())
    await twin.kubernetes.request("POST", f"{RAY}/{namespace}/rayclusters", body=manifest)
    pods = await twin.running(namespace, 5)
    workers = [pod for pod in pods if pod["metadata"]["labels"]["ray.io/node-type"] == "worker"]
    (used,) = await pools_of(twin, workers)
    sizes = {name: (await twin.pool(name))["targetSize"] for name in ("slice-a", "slice-b")}
    assert sizes == {"slice-a": 0, "slice-b": 0} | {used: 4}
    await twin.kubernetes.request("DELETE", f"{RAY}/{namespace}/rayclusters/{manifest['metadata']['name']}")
    await twin.idle_since_noticed(used, 0)
    for name in ("slice-a", "slice-b"):
        await twin.delete_pool(name)


async def test_a_job_brings_one_slice_and_an_exclusive_jobset_one_per_job(twin: ElasticTwin, namespace: str) -> None:
    for name in ("slice-a", "slice-b", "slice-c"):
        await twin.add_pool(name, "ct6e-standard-4t", 0, 4, topology="4x4")
    template = {"spec": {"restartPolicy": "Never", **tpu_spec("4x4", 4)}}
    job = {"parallelism": 4, "completions": 4, "completionMode": "Indexed", "template": template}
    alone = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}, "spec": job}
    await twin.kubernetes.request("POST", f"/apis/batch/v1/namespaces/{namespace}/jobs", body=alone)
    assert len(await pools_of(twin, await twin.running(namespace, 4))) == 1
    assert len(await twin.kubernetes.list("Node", labelSelector=f"{POOL} in (slice-a, slice-b, slice-c)")) == 4

    # Of a JobSet's exclusive jobs only the leaders exist before they run; the others follow onto the slice.
    jobset = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "multi", "annotations": {"alpha.jobset.sigs.k8s.io/exclusive-topology": POOL}},
        "spec": {"replicatedJobs": [{"name": "slice", "replicas": 2, "template": {"spec": job}}]},
    }
    await twin.kubernetes.request("POST", f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{namespace}/jobsets", body=jobset)
    assert await pools_of(twin, await twin.running(namespace, 12)) == {"slice-a", "slice-b", "slice-c"}
    await twin.kubernetes.delete("Namespace", namespace)
    for name in ("slice-a", "slice-b", "slice-c"):
        await twin.idle_since_noticed(name, 0)
        await twin.delete_pool(name)


async def test_pods_without_help_get_the_reason(twin: ElasticTwin, namespace: str) -> None:
    await twin.add_pool("serving", "ct6e-standard-8t", 0, 1)
    await twin.add_pool("slice", "ct6e-standard-4t", 0, 4, topology="4x4")
    await twin.kubernetes.create(tpu_pod("never", "16x16", 4, namespace=namespace))
    nowhere = "node(s) didn't match Pod's node affinity/selector"
    assert await twin.told(namespace, "never", "NotTriggerScaleUp") == (
        f"pod didn't trigger scale-up: 2 {nowhere} (serving, slice: {nowhere})"
    )
    await twin.kubernetes.create(tpu_pod("first", "2x4", 8, namespace=namespace))
    await twin.told(namespace, "first", "TriggeredScaleUp")
    await twin.ready(namespace, "first")
    await twin.kubernetes.create(tpu_pod("second", "2x4", 8, namespace=namespace))
    assert await twin.told(namespace, "second", "NotTriggerScaleUp") == (
        "pod didn't trigger scale-up: 1 max node group size reached, "
        f"1 {nowhere} (serving: max node group size reached; slice: {nowhere})"
    )
    assert await twin.nodes("slice") == []
    for name in ("serving", "slice"):
        await twin.delete_pool(name)


async def test_another_pool_grows_during_a_stockout(twin: ElasticTwin, namespace: str) -> None:
    for name in ("scarce", "steady"):
        await twin.add_pool(name, "ct6e-standard-4t", 0, 4, topology="4x4")
    twin.fleet.stock["scarce"] = 0
    await twin.kubernetes.create(tpu_pod("train", "4x4", 4, namespace=namespace))
    (pod,) = await twin.running(namespace, 1)
    assert await pools_of(twin, [pod]) == {"steady"}
    assert await twin.told(namespace, "train", "FailedScaleUp") == (
        "Node scale up in zones us-east5-b associated with this pod failed: ZONE_RESOURCE_POOL_EXHAUSTED: scarce. "
        "Pod is at risk of not being scheduled."
    )
    events = await twin.events("kube-system", "cluster-autoscaler-status")
    assert any(why == "ScaleUpFailed" and "/gke-elastic-scarce" in text for why, text in events)
    assert (await twin.pool("scarce"))["targetSize"] == 0

    # The pool is left alone for a while, and then tried again.
    twin.fleet.stock.clear()
    await twin.resized("steady", 4)
    for number in range(4):
        await twin.kubernetes.create(tpu_pod(f"more-{number}", "4x4", 4, namespace=namespace))
    assert "scarce: in backoff after failed scale-up" in await twin.told(namespace, "more-3", "NotTriggerScaleUp")
    twin.pass_time(301)
    assert await pools_of(twin, await twin.running(namespace, 5)) == {"scarce", "steady"}
    for name in ("scarce", "steady"):
        await twin.delete_pool(name)


async def test_deleted_nodes_are_created_again(twin: ElasticTwin, namespace: str) -> None:
    """Of an autoscaled pool, which would count on them, and of a fixed one."""
    await twin.add_pool("serving", "ct6e-standard-8t", 2, 4)
    await twin.add_fixed_pool("notebooks", "ct6e-standard-8t", 1)
    for pool, count in (("serving", 2), ("notebooks", 1)):
        before = await twin.resized(pool, count)
        await twin.kubernetes.delete("Node", before[0])
        await twin.repaired(pool, count)


async def test_the_autoscaler_is_busy_until_it_has_decided_when_to_repair(
    twin: ElasticTwin, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rehearsal moves the clock to the next step of the twin while no autoscaler is busy."""

    async def busy() -> bool:
        return twin.elasticity.busy()

    async def decided() -> bool:
        return not twin.elasticity.busy()

    await eventually(decided)
    monkeypatch.setattr("tpuplane_twin.elasticity.autoscaler._SETTLE_SECONDS", 3.0)
    await twin.add_fixed_pool("notebooks", "ct6e-standard-8t", 1)
    before = await twin.resized("notebooks", 1)
    await twin.kubernetes.delete("Node", before[0])
    await eventually(busy)
    await eventually(decided)
    assert twin.clock.due is not None
    assert twin.clock.due - twin.clock() <= 10
    await twin.repaired("notebooks", 1)
