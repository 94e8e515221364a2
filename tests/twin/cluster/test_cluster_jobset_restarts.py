"""What ends a multislice program and what only starts it again: the package's failure policy, on the real JobSet."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane.workloads import MultisliceSpec, multislice_manifest
from tpuplane_twin.cluster.api import Api, Object

from tests.support.cluster.cluster_objects import JOBSETS, Cluster, MakePools, empty, running_pods, slice_pool
from tests.support.eventually import eventually

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

FAILS = "pod-container-running-failed.stage.kwok.x-k8s.io"
SLICES, HOSTS = 2, 4


def program(namespace: str, **more: Any) -> Object:
    """Two v6e 4x4 slices that may be started again once."""
    spec = {
        "namespace": namespace,
        "generation": "v6e",
        "topology": "4x4",
        "slices": SLICES,
        "image": "python:3.11",
        "command": ["python", "train.py"],
        "placement": "exclusive",
        "maxRestarts": 1,
    }
    return multislice_manifest("pretrain", MultisliceSpec.model_validate({**spec, **more}))


async def start(api: Api, make_pools: MakePools, namespace: str, **more: Any) -> set[str]:
    """Run the program; the uids of its pods."""
    await make_pools(*(slice_pool(f"slice-{index}", "ct6e-standard-4t", "4x4", HOSTS) for index in range(SLICES)))
    await api.request("POST", f"{JOBSETS}/{namespace}/jobsets", body=program(namespace, **more))
    return uids(await running_pods(api, namespace, SLICES * HOSTS))


def uids(pods: list[Object]) -> set[str]:
    return {pod["metadata"]["uid"] for pod in pods}


async def status(api: Api, namespace: str) -> Object:
    found: Object = (await api.request("GET", f"{JOBSETS}/{namespace}/jobsets/pretrain")).get("status", {})
    return found


async def all_new(api: Api, namespace: str, before: set[str]) -> set[str]:
    """The uids of the program's pods, once it runs whole on others than before."""

    async def look() -> set[str]:
        now = uids(await running_pods(api, namespace, SLICES * HOSTS))
        return set() if now & before else now

    return await eventually(look)


async def end(api: Api, namespace: str) -> None:
    await api.request("DELETE", f"{JOBSETS}/{namespace}/jobsets/pretrain")
    await empty(api, namespace)


async def test_a_host_that_is_drained_starts_every_slice_again_and_counts_for_nothing(
    cluster: Cluster, make_pools: MakePools, api: Api, namespace: str
) -> None:
    before = await start(api, make_pools, namespace)
    for restarts in (1, 2, 3):  # more often than the program may be started again
        host = (await running_pods(api, namespace, SLICES * HOSTS))[0]["spec"]["nodeName"]
        await cluster.kubectl(
            "drain", host, "--ignore-daemonsets", "--delete-emptydir-data", "--disable-eviction=false"
        )
        await cluster.kubectl("uncordon", host)
        before = await all_new(api, namespace, before)
        now = await status(api, namespace)
        assert (now["restarts"], now.get("restartsCountTowardsMax", 0)) == (restarts, 0)
    await end(api, namespace)


async def test_a_failure_of_its_own_counts_and_the_last_one_ends_it(
    cluster: Cluster, make_pools: MakePools, api: Api, namespace: str
) -> None:
    before = await start(api, make_pools, namespace)
    await fail_a_pod(cluster, api, namespace)
    await all_new(api, namespace, before)
    now = await status(api, namespace)
    assert (now["restarts"], now["restartsCountTowardsMax"]) == (1, 1)
    await fail_a_pod(cluster, api, namespace)

    async def failed() -> bool:
        return bool((await status(api, namespace)).get("terminalState") == "Failed")

    assert await eventually(failed)
    await end(api, namespace)


@pytest.mark.parametrize(("codes", "reason"), [([42], "FailJobSetFailurePolicyAction"), ([1], "")])
async def test_other_exit_codes_than_the_named_ones_end_it(
    cluster: Cluster, make_pools: MakePools, api: Api, namespace: str, codes: list[int], reason: str
) -> None:
    """The failed container ends with 1."""
    before = await start(api, make_pools, namespace, restartOnExitCodes=codes)
    await fail_a_pod(cluster, api, namespace)
    if reason:

        async def failed() -> list[str]:
            conditions = (await status(api, namespace)).get("conditions", ())
            return [condition["reason"] for condition in conditions if condition["type"] == "Failed"]

        assert await eventually(failed) == [reason]
    else:
        before = await all_new(api, namespace, before)
        host = (await running_pods(api, namespace, SLICES * HOSTS))[0]["spec"]["nodeName"]
        await cluster.kubectl("drain", host, "--ignore-daemonsets", "--delete-emptydir-data")
        await cluster.kubectl("uncordon", host)
        await all_new(api, namespace, before)
        now = await status(api, namespace)
        assert (now["restarts"], now["restartsCountTowardsMax"]) == (2, 1)
    await end(api, namespace)


async def fail_a_pod(cluster: Cluster, api: Api, namespace: str) -> None:
    name = (await running_pods(api, namespace, SLICES * HOSTS))[-1]["metadata"]["name"]
    await cluster.kubectl("label", "pod", "-n", namespace, name, f"{FAILS}=true")


async def test_every_pod_knows_the_coordinator(make_pools: MakePools, api: Api, namespace: str) -> None:
    await start(api, make_pools, namespace)
    for pod in await running_pods(api, namespace, SLICES * HOSTS):
        coordinator = pod["metadata"]["labels"]["jobset.sigs.k8s.io/coordinator"]
        assert coordinator == "pretrain-slice-0-0.pretrain"
    await end(api, namespace)
