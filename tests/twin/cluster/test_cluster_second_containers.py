"""Containers after a pod's first: processes of their own if they have the same image, with a log of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tpuplane_twin.cluster.api import Api, Object

from tests.support.cluster.cluster_objects import Cluster
from tests.support.eventually import eventually

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

IMAGE = "registry.k8s.io/jobset/jobset:v0.12.0"
FIRST = "echo here > /tmp/mark; exec sleep 1000"
SECOND = "until test -e /tmp/mark; do sleep 0.1; done; echo $WHO found $(cat /tmp/mark); exit 3"


@pytest_asyncio.fixture(loop_scope="session")
async def client(bare: Cluster) -> AsyncIterator[Api]:
    async with bare.api() as api:
        yield api
        for name in ("two", "once"):
            await api.delete("Pod", name, "kube-system")


async def test_a_second_container_runs_with_the_first_and_restarts_when_it_ends(bare: Cluster, client: Api) -> None:
    containers = [shell("first", FIRST), {**shell("second", SECOND), "env": [{"name": "WHO", "value": "second"}]}]
    other = {"name": "third", "image": "busybox"}
    await client.create(pod_of("two", [*containers, other]))

    async def twice() -> bool:
        log = await bare.kubectl("logs", "-n", "kube-system", "two", "-c", "second")
        return log.splitlines()[:2] == ["second found here"] * 2

    await eventually(lambda: ended(client, "two"))  # there is no log to ask for before
    await eventually(twice)
    pod = await client.get("Pod", "two", "kube-system")
    assert pod is not None
    assert pod["status"]["phase"] == "Running"
    assert await bare.kubectl("logs", "-n", "kube-system", "two", "-c", "first") == ""


async def test_a_second_container_that_starts_once_finds_the_pods_files(bare: Cluster, client: Api) -> None:
    # As Ray's autoscaler, in a head that KubeRay gives the restart policy Never.
    second = "echo $(hostname) has $(cat /etc/hosts | grep -c once); exit 3"
    containers = [shell("first", "exec sleep 1000"), shell("second", second)]
    await client.create(pod_of("once", containers, restartPolicy="Never"))
    await eventually(lambda: ended(client, "once"))
    assert await bare.kubectl("logs", "-n", "kube-system", "once", "-c", "second") == "once has 1\n"


async def ended(client: Api, pod: str) -> bool:
    """Whether the container `second` has ended as it means to."""
    events = await client.request(
        "GET",
        "/api/v1/namespaces/kube-system/events",
        params={"fieldSelector": f"involvedObject.name={pod},reason=BackOff"},
    )
    return "container second: exit code 3" in {event["message"] for event in events["items"]}


def pod_of(name: str, containers: list[Object], **spec: str) -> Object:
    metadata = {"name": name, "namespace": "kube-system"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers, **spec}}


def shell(name: str, script: str) -> Object:
    return {"name": name, "image": IMAGE, "command": ["/bin/sh", "-c", script]}
