"""New node pools for real pods on a real control plane: auto-provisioning and compute classes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tpuplane.status.reasons import helps

from tests.support.elasticity.elastic_twin import (
    ACCELERATOR,
    CLUSTER,
    POOL,
    PROJECT,
    TOPOLOGY,
    ZONE,
    ElasticTwin,
    is_ready,
    tpu_spec,
)
from tests.support.eventually import eventually

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


async def test_exceeded_limits_are_reported(provisioning: ElasticTwin, namespace: str) -> None:
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


def replicas(name: str, namespace: str, count: int, spec: Json) -> Json:
    """A ReplicaSet: a pod that goes is followed by another at once, where a Job would wait."""
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": count,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def compute_class(name: str, **spec: Any) -> Json:
    """Spot, then flex-start, then a reservation: v6e 4x4."""
    tpu = {"type": "tpu-v6e-slice", "count": 4, "topology": "4x4"}
    ours = {"name": "ours", "project": "acme"}
    return {
        "apiVersion": "cloud.google.com/v1",
        "kind": "ComputeClass",
        "metadata": {"name": name},
        "spec": {
            "nodePoolAutoCreation": {"enabled": True},
            "priorities": [
                {"tpu": tpu, "spot": True},
                {"tpu": tpu, "flexStart": {"enabled": True}},
                {"tpu": tpu, "reservations": {"affinity": "Specific", "specific": [ours]}},
            ],
            **spec,
        },
    }


async def none_to_be_had(twin: ElasticTwin, *capacities: str) -> None:
    """Only capacity of these provisioning models is unavailable."""
    async with twin.session.delete(f"{twin.url}/twin/stockouts") as response:
        assert response.status == 200
    for capacity in capacities:
        stockout = {"zone": ZONE, "generation": "v6e", "capacity": capacity}
        async with twin.session.post(f"{twin.url}/twin/stockouts", json=stockout) as response:
            assert response.status == 200


async def capacity_of_pods(twin: ElasticTwin, namespace: str, count: int) -> set[str]:
    return await capacities(twin, await twin.running(namespace, count))


async def capacities(twin: ElasticTwin, pods: list[Json]) -> set[str]:
    """How the nodes of these pods are bought."""
    nodes = {node["metadata"]["name"]: node["metadata"]["labels"] for node in await twin.kubernetes.list("Node")}
    labels = [nodes[node] for pod in pods if (node := pod["spec"]["nodeName"]) in nodes]
    return {
        "reservation" if "cloud.google.com/reservation-name" in label else label["cloud.google.com/gke-provisioning"]
        for label in labels
    }


async def test_a_class_falls_back_in_its_order_and_comes_back(twin: ElasticTwin, namespace: str) -> None:
    await twin.kubernetes.create(compute_class("cheap", activeMigration={"optimizeRulePriority": True}))
    chips = {"accelerator": {"acceleratorType": "ct6e", "acceleratorCount": 16}}
    held = {"vmFamily": "VM_FAMILY_CLOUD_TPU_LITE_POD_SLICE_CT6E", "reservedResources": [chips]}
    reserved = {"name": "ours", "specificReservationRequired": True, "aggregateReservation": held}
    await twin.google("POST", f"/compute/beta/{PROJECT}/zones/{ZONE}/reservations", reserved)
    await none_to_be_had(twin, "spot", "flex-start")
    spec = tpu_spec("4x4", 4)
    spec["nodeSelector"]["cloud.google.com/compute-class"] = "cheap"
    sets = f"/apis/apps/v1/namespaces/{namespace}/replicasets"
    await twin.kubernetes.request("POST", sets, body=replicas("serve", namespace, 4, spec))
    await eventually(lambda: awaited(twin))
    assert await flex_failures(twin) == []
    assert await eventually(lambda: said(twin, "cheap", 2)) == {
        "Health/Health": "True",
        "0 ProvisioningConstrained/OutOfResources": "True",
        "1 NodeProvisioningInProgress/PodPending": "True",
    }
    twin.pass_time(900)  # the wait for flex-start capacity
    assert await capacity_of_pods(twin, namespace, 4) == {"reservation"}
    assert "Failed adding 4 nodes" in (await eventually(lambda: flex_failures(twin)))[0]
    first, *_ = await twin.kubernetes.list("Pod", namespace)
    failed = [text for why, text in await twin.events(namespace, first["metadata"]["name"]) if why == "FailedScaleUp"]
    assert any("GCE_STOCKOUT" in text and ZONE in text for text in failed)
    left_alone = (await twin.google("DELETE", "/twin/stockouts?capacity=spot"))["backoff"]
    assert {left_pool["cluster"] for left_pool in left_alone} == {"elastic"}
    assert all("GCE_STOCKOUT" in left_pool["cause"] for left_pool in left_alone)
    assert {left_pool["seconds"] for left_pool in left_alone} == {300, 600}, "capacity alone ends none"
    (pool,) = await eventually(lambda: only(twin, 1))  # the empty pools of unavailable capacity are deleted
    assert pool["config"]["reservationAffinity"]["values"] == ["projects/acme/reservations/ours"]
    assert {"key": "cloud.google.com/compute-class", "value": "cheap", "effect": "NO_SCHEDULE"} in pool["config"][
        "taints"
    ]

    async def moved(to: str) -> bool:
        twin.pass_time(20)
        pods = await twin.kubernetes.list("Pod", namespace)
        return len(pods) == 4 and all(map(is_ready, pods)) and await capacities(twin, pods) == {to}

    await none_to_be_had(twin, "spot")
    await eventually(lambda: moved("flex-start"), within=120, pause=0.7)
    await none_to_be_had(twin)
    twin.pass_time(1800)  # the longest for which a pool is left alone
    await eventually(lambda: moved("spot"), within=120, pause=0.7)
    (pool,) = await eventually(lambda: only(twin, 1), within=60)
    assert "-spot-" in pool["name"]

    await twin.kubernetes.request("DELETE", f"{sets}/serve", params={"propagationPolicy": "Background"})
    await without_made_pools(twin)


async def said(twin: ElasticTwin, name: str, of_priorities: int) -> Json:
    """The conditions of a class once so many of its priorities have one, and their states."""
    found = await twin.kubernetes.get("ComputeClass", name) or {}
    status = found.get("status", {"conditions": []})
    parts = {f"{part['identifier']} ": part["conditions"] for part in status.get("priorityStatuses", ())}
    if sum(map(bool, parts.values())) != of_priorities:
        return {}
    return {
        f"{prefix}{condition['type']}/{condition['reason']}": condition["status"]
        for prefix, conditions in {"": status["conditions"], **parts}.items()
        for condition in conditions
    }


async def test_a_class_says_that_its_pool_is_missing_and_that_its_priority_has_no_quota(
    twin: ElasticTwin, namespace: str
) -> None:
    tpu = {"type": "tpu-v6e-slice", "count": 4, "topology": "4x4"}
    priorities = [{"tpu": tpu, "spot": True}, {"nodepools": ["missing"]}]
    await twin.kubernetes.create(compute_class("limited", priorities=priorities))
    healthy = {"Health/Health": "False", "CrdMisconfigured/NodePoolNotExist": "True"}
    assert await eventually(lambda: said(twin, "limited", 0)) == healthy

    await twin.limit_quota("spot", 4)
    spec = tpu_spec("4x4", 4)
    spec["nodeSelector"]["cloud.google.com/compute-class"] = "limited"
    sets = f"/apis/apps/v1/namespaces/{namespace}/replicasets"
    await twin.kubernetes.request("POST", sets, body=replicas("serve", namespace, 4, spec))
    suspended = {"0 ProvisioningSuspended/QuotaExceeded": "True"}
    assert await eventually(lambda: said(twin, "limited", 1)) == healthy | suspended
    first, *_ = await twin.kubernetes.list("Pod", namespace)
    told = await twin.told(namespace, first["metadata"]["name"], "FailedScaleUp")
    assert "[GCE_QUOTA_EXCEEDED]" in told
    assert [help.partition(";")[0] for help in helps(told, {}, general=False)] == [
        "Request more quota of the project for these chips"
    ]
    assert any(
        why == "ScaleUpFailed" and '"QuotaExceeded"' in text
        for why, text in await twin.events("kube-system", "cluster-autoscaler-status")
    )
    await twin.kubernetes.request("DELETE", f"{sets}/serve", params={"propagationPolicy": "Background"})
    await twin.limit_quota()
    await without_made_pools(twin)

    async def over() -> Json:
        twin.pass_time(61)
        return await said(twin, "limited", 0)

    assert await eventually(over, pause=0.7) == healthy


async def awaited(twin: ElasticTwin) -> bool:
    """Whether a pool asks for capacity again and again."""
    return any(0 < pool["seconds"] <= 10 for pool in (await twin.google("GET", "/twin/stockouts"))["backoff"])


async def flex_failures(twin: ElasticTwin) -> list[str]:
    events = await twin.events("kube-system", "cluster-autoscaler-status")
    return [text for why, text in events if why == "FlexScaleUpFailed" and '"ResourcePoolExhausted"' in text]


async def test_flex_start_capacity_that_comes_during_the_wait_is_used(twin: ElasticTwin, namespace: str) -> None:
    spot, flex, _ = compute_class("flexible")["spec"]["priorities"]
    await twin.kubernetes.create(compute_class("flexible", priorities=[flex, spot]))
    await none_to_be_had(twin, "flex-start")
    spec = tpu_spec("4x4", 4)
    spec["nodeSelector"]["cloud.google.com/compute-class"] = "flexible"
    sets = f"/apis/apps/v1/namespaces/{namespace}/replicasets"
    await twin.kubernetes.request("POST", sets, body=replicas("serve", namespace, 4, spec))
    await eventually(lambda: awaited(twin))
    await none_to_be_had(twin)
    twin.pass_time(10)
    pods = await twin.running(namespace, 4)
    assert await capacities(twin, pods) == {"flex-start"}
    for pod in pods:
        said = {why for why, _ in await twin.events(namespace, pod["metadata"]["name"])}
        assert said <= {"TriggeredScaleUp"}, "it did not fail"
    await twin.kubernetes.request("DELETE", f"{sets}/serve", params={"propagationPolicy": "Background"})
    await without_made_pools(twin)


async def only(twin: ElasticTwin, count: int) -> list[Json]:
    """The made pools once there are so many."""
    found = await made_pools(twin)
    return found if len(found) == count else []


async def test_a_namespace_has_a_class_for_pods_that_name_none(twin: ElasticTwin, namespace: str) -> None:
    label = {"cloud.google.com/default-compute-class": "cheap"}
    await twin.kubernetes.merge("Namespace", namespace, {"metadata": {"labels": label}})

    async def admitted() -> Json:
        await twin.kubernetes.delete("Pod", "plain", namespace)
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "plain", "namespace": namespace}}
        body["spec"] = {"containers": [{"name": "main", "image": "main"}]}
        await twin.kubernetes.create(body)
        found = await twin.kubernetes.get("Pod", "plain", namespace)
        return found if found and found["spec"].get("nodeSelector") else {}

    # The API server's webhooks see a changed namespace label a moment later.
    pod = await eventually(admitted)
    assert pod["spec"]["nodeSelector"] == {"cloud.google.com/compute-class": "cheap"}
    toleration = {
        "key": "cloud.google.com/compute-class",
        "operator": "Equal",
        "value": "cheap",
        "effect": "NoSchedule",
    }
    assert toleration in pod["spec"]["tolerations"]

    async def said() -> bool:
        events = await twin.events(namespace, "plain")
        return any("ComputeClass cheap of type cloud.google.com/compute-class not found" in text for _, text in events)

    await eventually(said)
