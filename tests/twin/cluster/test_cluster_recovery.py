"""Processes that die, and a twin that is stopped and started: nothing is lost, and work goes on."""

from __future__ import annotations

import os
import signal

import pytest
from tpuplane_twin.cluster.api import Api, Object
from tpuplane_twin.machine.processes import ProcessStatus

from tests.support.cluster.cluster_objects import (
    JOBSETS,
    KEY,
    Cluster,
    MakePools,
    empty,
    eventually,
    is_running,
    jobset,
    pool,
    running_pods,
    slice_pool,
    taken,
)

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.parametrize("victim", ["etcd", "kube-apiserver", "kwok", "kube-scheduler"])
async def test_work_goes_on_after_a_process_was_killed(
    cluster: Cluster, make_pools: MakePools, api: Api, namespace: str, victim: str
) -> None:
    await make_pools(slice_pool("slice-a", "ct6e-standard-4t", "4x4", 4))
    before = _process(cluster, victim)
    assert before.pid is not None
    os.kill(before.pid, signal.SIGKILL)

    async def restarted() -> bool:
        return _process(cluster, victim).restarts > before.restarts and _process(cluster, victim).pid is not None

    await eventually(restarted)
    url = f"{JOBSETS}/{namespace}/jobsets"
    await taken(api, url, jobset("train", "4x4", 4, 1))
    await running_pods(api, namespace, 4)
    await api.request("DELETE", f"{url}/train")
    await empty(api, namespace)


async def test_addresses_of_pods_are_given_once_though_kwok_was_killed(
    cluster: Cluster, make_pools: MakePools, api: Api, namespace: str
) -> None:
    await make_pools(pool("one", "e2-standard-4", 1))

    def described(name: str, at: str = "one") -> Object:
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {
                "containers": [{"name": "idle", "image": "idle"}],
                "nodeSelector": {"cloud.google.com/gke-nodepool": at},
            },
        }

    for name in ("before-1", "before-2"):
        await api.create(described(name))
    await running_pods(api, namespace, 2)
    before = _process(cluster, "kwok")
    assert before.pid is not None
    os.kill(before.pid, signal.SIGKILL)

    async def restarted() -> bool:
        return _process(cluster, "kwok").restarts > before.restarts and _process(cluster, "kwok").pid is not None

    await eventually(restarted)
    # Once one has its address, kwok has seen all that were there at its start.
    await api.create(described("between", "system"))
    await running_pods(api, namespace, 3)
    for name in ("after-1", "after-2"):
        await api.create(described(name))
    pods = await running_pods(api, namespace, 5)
    assert len({pod["status"]["podIP"] for pod in pods}) == 5


async def test_a_stopped_cluster_goes_on_where_it_was(cluster: Cluster, make_pools: MakePools, namespace: str) -> None:
    trainer = slice_pool("slice-a", "ct6e-standard-4t", "4x4", 4)
    await make_pools(trainer)
    async with cluster.api() as api:
        before = await restarts(api)
        await api.request("POST", f"{JOBSETS}/{namespace}/jobsets", body=jobset("train", "4x4", 4, 1))
        pods = {pod["metadata"]["uid"] for pod in await running_pods(api, namespace, 4)}
        crds = {item["metadata"]["name"]: item["metadata"]["generation"] for item in await _crds(api)}
    endpoint, authority = cluster.plane.endpoint, cluster.plane.ca_certificate
    await cluster.plane.stop()
    assert cluster.processes.status() == []
    await cluster.plane.start()
    assert (cluster.plane.endpoint, cluster.plane.ca_certificate) == (endpoint, authority)
    await make_pools(trainer)
    async with cluster.api() as api:
        assert {pod["metadata"]["uid"] for pod in await running_pods(api, namespace, 4)} == pods
        assert {item["metadata"]["name"]: item["metadata"]["generation"] for item in await _crds(api)} == crds

        async def operators_run_again() -> bool:
            now = await restarts(api)
            run = all(map(is_running, await operator_pods(api)))
            return run and all(now.get(uid, 0) > count for uid, count in before.items())

        await eventually(operators_run_again)
        await api.request("DELETE", f"{JOBSETS}/{namespace}/jobsets/train")
        await empty(api, namespace)


def _process(cluster: Cluster, name: str) -> ProcessStatus:
    return next(status for status in cluster.processes.status() if status.name == f"{KEY}/{name}")


async def _crds(api: Api) -> list[Object]:
    return await api.list("CustomResourceDefinition")


async def operator_pods(api: Api) -> list[Object]:
    return [pod for name in ("jobset", "kueue") for pod in await api.list("Pod", f"{name}-system")]


async def restarts(api: Api) -> dict[str, int]:
    pods = await operator_pods(api)
    return {
        pod["metadata"]["uid"]: status["restartCount"]
        for pod in pods
        for status in pod["status"].get("containerStatuses", ())
    }
