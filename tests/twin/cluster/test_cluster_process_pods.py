"""Operators installed as published: their Deployment's pod is the real program, in a network of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator

import psutil
import pytest
import pytest_asyncio
from tpuplane_twin.cluster.api import Api, Object

from tests.support.cluster import operators
from tests.support.cluster.cluster_objects import (
    CLUSTER,
    JOBSETS,
    KEY,
    Cluster,
    eventually,
    is_running,
    jobset,
    rejection,
    running_pods,
    slice_pool,
    taken,
)

pytestmark = [
    pytest.mark.twin,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(sys.platform != "linux", reason="pods are processes on Linux only"),
]
NAMESPACE, NAME = "jobset-system", "jobset-controller"
DEPLOYMENT = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{NAME}"
METRICS = "/apis/metrics.k8s.io/v1beta1"
MERGE = "application/strategic-merge-patch+json"


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def installed(bare: Cluster) -> Cluster:
    """The cluster with JobSet and Kueue in it."""
    async with bare.api() as api:
        await operators.install(api, bare.tools, bare.folder)
    return bare


@pytest_asyncio.fixture(loop_scope="session")
async def client(installed: Cluster) -> AsyncIterator[Api]:
    async with installed.api() as api:
        yield api


def manager(cluster: Cluster) -> list[psutil.Process]:
    """The processes of JobSet's pods."""
    daemon = next(status for status in cluster.processes.status() if status.name == f"{KEY}/pods")
    family = psutil.Process(daemon.pid).children(recursive=True)
    found = []
    for process in family:
        # One that ends meanwhile is none.
        with contextlib.suppress(psutil.Error):
            if process.cmdline()[:1] == ["/manager"] and process.environ().get("HOSTNAME", "").startswith(NAME):
                found.append(process)
    return found


async def ready_pods(api: Api, count: int) -> list[Object]:
    async def look() -> list[Object]:
        pods = await api.list("Pod", NAMESPACE)
        return pods if len(pods) == count and all(map(is_running, pods)) else []

    return await eventually(look)


async def test_the_operator_acts_and_its_webhooks_stay_as_published(installed: Cluster, client: Api) -> None:
    (pod,) = await ready_pods(client, 1)
    assert pod["status"]["podIP"].startswith("10.64.")
    configuration = await client.get("MutatingWebhookConfiguration", "jobset-mutating-webhook-configuration")
    assert configuration is not None
    for webhook in configuration["webhooks"]:
        assert webhook["clientConfig"]["service"]["name"] == "jobset-webhook-service"
        assert "url" not in webhook["clientConfig"]
    await installed.plane.pools.apply(slice_pool("slice-a", "ct6e-standard-4t", "4x4", 4), CLUSTER)
    await taken(client, f"{JOBSETS}/default/jobsets", jobset("train", "4x4", 4, 1))
    made = await client.request("GET", f"{JOBSETS}/default/jobsets/train")
    # What the operator's own webhook fills in.
    assert made["spec"]["successPolicy"]["operator"] == "All"
    await running_pods(client, "default", 4)
    await client.request("DELETE", f"{JOBSETS}/default/jobsets/train")
    broken = jobset("broken", "4x4", 4, 1)
    broken["spec"]["successPolicy"] = {"operator": "All", "targetReplicatedJobs": ["nobody"]}
    assert "nobody" in await rejection(client.request("POST", f"{JOBSETS}/default/jobsets", body=broken))


async def test_the_metrics_api_measures_the_process(installed: Cluster, client: Api) -> None:
    (pod,) = await ready_pods(client, 1)
    found = await client.request("GET", f"{METRICS}/namespaces/{NAMESPACE}/pods/{pod['metadata']['name']}")
    (container,) = found["containers"]
    assert container["usage"]["cpu"] != "0n"
    real = sum(process.memory_info().rss for process in manager(installed)) // 1024
    assert real / 2 < int(container["usage"]["memory"].removesuffix("Ki")) < 2 * real
    node = await client.request("GET", f"{METRICS}/nodes/{pod['spec']['nodeName']}")
    assert int(node["usage"]["memory"].removesuffix("Ki")) > real / 2
    assert pod["metadata"]["name"] in await installed.kubectl("top", "pods", "-n", NAMESPACE)


async def test_pods_and_services_can_be_asked_through_the_api_server(installed: Cluster, client: Api) -> None:
    (pod,) = await ready_pods(client, 1)
    proxy = f"/api/v1/namespaces/{NAMESPACE}/pods/{pod['metadata']['name']}:8081/proxy/healthz"
    assert await installed.kubectl("get", "--raw", proxy) == "ok"
    service = f"/api/v1/namespaces/{NAMESPACE}/services/https:jobset-metrics-service:8443/proxy/metrics"
    assert "nauthorized" in await rejection(client.request("GET", service))


async def test_kubectl_shows_the_log_of_a_process_and_says_who_has_none(installed: Cluster, client: Api) -> None:
    log = await installed.kubectl("logs", "-n", NAMESPACE, f"deployment/{NAME}")
    assert "starting manager" in log
    last = await installed.kubectl("logs", "-n", NAMESPACE, f"deployment/{NAME}", "--tail=1")
    assert len(last.splitlines()) == 1
    pod = {"metadata": {"name": "still"}, "spec": {"containers": [{"name": "still", "image": "still"}]}}
    await client.request("POST", "/api/v1/namespaces/default/pods", body=pod)
    await running_pods(client, "default", 1)
    message = await rejection(client.request("GET", "/api/v1/namespaces/default/pods/still/log"))
    assert "the pod default/still is simulated: nothing runs in it" in message
    await client.delete("Pod", "still", "default")


async def test_an_aggregated_api_is_served(client: Api) -> None:
    """Kueue's visibility: the API server hands the request on, and the operator believes it who asks."""

    async def available() -> bool:
        service = "/apis/apiregistration.k8s.io/v1/apiservices/v1beta2.visibility.kueue.x-k8s.io"
        status = (await client.request("GET", service))["status"]
        conditions = status.get("conditions", ())
        return any(item["type"] == "Available" and item["status"] == "True" for item in conditions)

    await eventually(available)
    message = await rejection(
        client.request("GET", "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/none/pendingworkloads")
    )
    assert "none" in message


async def test_a_killed_process_is_started_again(installed: Cluster, client: Api) -> None:
    (pod,) = await ready_pods(client, 1)
    before = pod["status"]["containerStatuses"][0]["restartCount"]
    (victim,) = manager(installed)
    victim.send_signal(signal.SIGKILL)

    async def again() -> bool:
        pods = await client.list("Pod", NAMESPACE)
        (found,) = [manifest for manifest in pods if manifest["metadata"]["uid"] == pod["metadata"]["uid"]]
        return found["status"]["containerStatuses"][0]["restartCount"] > before and is_running(found)

    await eventually(again)


async def test_two_replicas_have_a_network_each(installed: Cluster, client: Api) -> None:
    count = len(manager(installed))
    await client.request("PATCH", DEPLOYMENT, body={"spec": {"replicas": 2}}, content_type=MERGE)
    pods = await ready_pods(client, 2)
    assert len({pod["status"]["podIP"] for pod in pods}) == 2
    assert len(manager(installed)) == count + 1
    await client.request("PATCH", DEPLOYMENT, body={"spec": {"replicas": 1}}, content_type=MERGE)
    await ready_pods(client, 1)

    async def ended() -> bool:
        return len(manager(installed)) == count

    await eventually(ended)


async def test_another_version_is_named_and_does_not_run(client: Api) -> None:
    container = {"name": "manager", "image": "registry.k8s.io/jobset/jobset:v0.1.0"}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "old", "namespace": "default"},
        "spec": {"containers": [container]},
    }
    await client.create(pod)

    async def told() -> str:
        url = "/api/v1/namespaces/default/events"
        found = await client.request(
            "GET", url, params={"fieldSelector": "involvedObject.name=old,reason=ImageNotAvailable"}
        )
        return " ".join(event["message"] for event in found["items"])

    assert await eventually(told) == (
        "registry.k8s.io/jobset/jobset:v0.1.0 is another version: the twin has jobset v0.12.0; use the tag v0.12.0"
    )

    async def waits() -> str:
        found = await client.get("Pod", "old", "default")
        assert found is not None
        assert not is_running(found)
        statuses = found["status"].get("containerStatuses") or [{}]
        return str(statuses[0].get("state", {}).get("waiting", {}).get("message", ""))

    assert "v0.12.0" in await eventually(waits)  # the status comes after the event
    await client.delete("Pod", "old", "default", grace=30)

    async def gone() -> bool:
        return await client.get("Pod", "old", "default") is None

    await eventually(gone)


async def test_work_goes_on_after_the_process_of_all_pods_was_killed(installed: Cluster, client: Api) -> None:
    before = next(status for status in installed.processes.status() if status.name == f"{KEY}/pods")
    assert before.pid is not None
    os.kill(before.pid, signal.SIGKILL)
    await taken(client, f"{JOBSETS}/default/jobsets", jobset("after", "4x4", 4, 1))
    await installed.plane.pools.apply(slice_pool("slice-a", "ct6e-standard-4t", "4x4", 4), CLUSTER)
    await running_pods(client, "default", 4)
    await client.request("DELETE", f"{JOBSETS}/default/jobsets/after")


async def test_a_deleted_operators_process_ends(installed: Cluster, client: Api) -> None:
    (pod,) = await ready_pods(client, 1)
    count = len(manager(installed))
    await client.request("DELETE", DEPLOYMENT)

    async def ended() -> bool:
        return len(manager(installed)) == count - 1 and not await client.list("Pod", NAMESPACE)

    await eventually(ended)
    uid = pod["metadata"]["uid"]
    assert not list((installed.folder / "pods" / uid).glob("volumes/*"))
