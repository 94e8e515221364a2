"""Node pools that nobody declared, with real pods on a real control plane: auto-provisioning and compute classes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from elastic_twin import ACCELERATOR, CLUSTER, POOL, TOPOLOGY, ZONE, ElasticTwin, eventually, tpu_spec

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

Json = dict[str, Any]


def limit(name: str, most: int) -> Json:
    return {"resourceType": name, "maximum": str(most)}


@pytest_asyncio.fixture(loop_scope="session")
async def provisioning(twin: ElasticTwin) -> AsyncIterator[ElasticTwin]:
    """Auto-provisioning with room for two v6e 4x4 slices."""
    limits = [limit("cpu", 9000), limit("memory", 40000), limit("tpu-v6e-slice", 32)]
    on = {"enableNodeAutoprovisioning": True, "resourceLimits": limits, "autoprovisioningLocations": [ZONE]}
    await twin.google("PUT", f"/v1beta1/{CLUSTER}", {"update": {"desiredClusterAutoscaling": on}})
    yield twin
    off = {"enableNodeAutoprovisioning": False}
    await twin.google("PUT", f"/v1beta1/{CLUSTER}", {"update": {"desiredClusterAutoscaling": off}})


async def made_pools(twin: ElasticTwin) -> list[Json]:
    """The pools that the autoscaler has made."""
    answer = await twin.google("GET", f"/v1beta1/{CLUSTER}/nodePools")
    return [pool for pool in answer["nodePools"] if pool.get("autoscaling", {}).get("autoprovisioned")]


async def without_made_pools(twin: ElasticTwin) -> None:
    async def look() -> bool:
        twin.pass_time(61)
        return not await made_pools(twin)

    await eventually(look, pause=0.7)


def job(name: str, namespace: str, hosts: int, spec: Json) -> Json:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "completions": hosts,
            "parallelism": hosts,
            "completionMode": "Indexed",
            "template": {"spec": {**spec, "restartPolicy": "Never"}},
        },
    }


async def test_a_slice_is_made_for_a_job_and_deleted_after_it(provisioning: ElasticTwin, namespace: str) -> None:
    twin = provisioning
    jobs = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    await twin.kubernetes.request("POST", jobs, body=job("train", namespace, 4, tpu_spec("4x4", 4)))
    pods = await twin.running(namespace, 4)
    (pool,) = await made_pools(twin)
    assert pool["name"].startswith("nap-ct6e-standa-4t-")
    assert pool["placementPolicy"] == {"type": "COMPACT", "tpuTopology": "4x4"}
    assert pool["status"] == "RUNNING"
    assert len({pod["spec"]["nodeName"] for pod in pods}) == 4
    told = await twin.told(namespace, pods[0]["metadata"]["name"], "TriggeredScaleUp")
    assert "0->4 (max: 4)" in told

    await twin.kubernetes.request("DELETE", f"{jobs}/train", params={"propagationPolicy": "Background"})
    await without_made_pools(twin)
    nodes = await twin.kubernetes.list("Node", labelSelector=f"{TOPOLOGY}=4x4,{POOL}={pool['name']}")
    assert nodes == []


async def test_what_the_limits_do_not_allow_is_said(provisioning: ElasticTwin, namespace: str) -> None:
    twin = provisioning
    jobs = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    await twin.kubernetes.request("POST", jobs, body=job("large", namespace, 16, tpu_spec("8x8", 4)))
    v5p = {**tpu_spec("2x2x1", 4), "nodeSelector": {ACCELERATOR: "tpu-v5p-slice", TOPOLOGY: "2x2x1"}}
    await twin.kubernetes.request("POST", jobs, body=job("other", namespace, 1, v5p))

    async def of(name: str) -> Json:
        found = await twin.kubernetes.list("Pod", namespace, labelSelector=f"job-name={name}")
        return found[0] if found else {}

    large, other = await eventually(lambda: of("large")), await eventually(lambda: of("other"))
    text = await twin.told(namespace, large["metadata"]["name"], "NotTriggerScaleUp")
    assert "node auto-provisioning: max cluster tpu-v6e-slice limit reached" in text
    text = await twin.told(namespace, other["metadata"]["name"], "NotTriggerScaleUp")
    assert 'TPU type "tpu-v5p-slice" doesn\'t have a limit defined' in text
    assert await made_pools(twin) == []
