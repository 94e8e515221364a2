"""Containers after a pod's first: processes beside it where they are of its image, with a log of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from cluster_objects import Cluster, eventually
from tpuplane_twin.cluster.api import Api, Object

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

IMAGE = "registry.k8s.io/jobset/jobset:v0.12.0"
FIRST = "echo here > /tmp/mark; exec sleep 1000"
SECOND = "until test -e /tmp/mark; do sleep 0.1; done; echo $WHO found $(cat /tmp/mark); exit 3"


@pytest_asyncio.fixture(loop_scope="session")
async def client(bare: Cluster) -> AsyncIterator[Api]:
    async with bare.api() as api:
        yield api
        await api.delete("Pod", "two", "kube-system")


async def test_a_second_container_runs_beside_the_first_and_again_when_it_ends(bare: Cluster, client: Api) -> None:
    containers = [shell("first", FIRST), {**shell("second", SECOND), "env": [{"name": "WHO", "value": "second"}]}]
    other = {"name": "third", "image": "busybox"}
    await client.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "two", "namespace": "kube-system"},
            "spec": {"containers": [*containers, other]},
        }
    )

    async def ended() -> bool:
        events = await client.request(
            "GET",
            "/api/v1/namespaces/kube-system/events",
            params={"fieldSelector": "involvedObject.name=two,reason=BackOff"},
        )
        return "container second: exit code 3" in {event["message"] for event in events["items"]}

    async def twice() -> bool:
        log = await bare.kubectl("logs", "-n", "kube-system", "two", "-c", "second")
        return log.splitlines()[:2] == ["second found here"] * 2

    await eventually(ended)  # there is no log to ask for before
    await eventually(twice)
    pod = await client.get("Pod", "two", "kube-system")
    assert pod is not None
    assert pod["status"]["phase"] == "Running"
    assert await bare.kubectl("logs", "-n", "kube-system", "two", "-c", "first") == ""


def shell(name: str, script: str) -> Object:
    return {"name": name, "image": IMAGE, "command": ["/bin/sh", "-c", script]}
