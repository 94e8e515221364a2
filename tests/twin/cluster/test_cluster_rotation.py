"""A rotation of credentials: the former go on until it is complete, and then nobody trusts them."""

from __future__ import annotations

import ssl

import aiohttp
import pytest
from cluster_objects import CLUSTER, KEY, TOKEN, Cluster
from tpuplane_twin.gcp.backend import ROTATION

from tests.eventually import eventually

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]


async def test_the_former_credentials_serve_until_the_rotation_is_complete(bare: Cluster) -> None:
    former, before = bare.plane.ca_certificate, processes(bare)
    await rotate(bare, serves=0, trusted=1)
    both = bare.plane.ca_certificate
    assert both.endswith(former)
    assert both.count("BEGIN") == 2
    assert await greets(bare, both)
    assert await greets(bare, former)
    await eventually(lambda: tells_pods(bare, both))
    assert {name for name, pid in processes(bare).items() if before[name] != pid} == {f"{KEY}/kube-controller-manager"}

    await rotate(bare, serves=1, trusted=1)
    latter = bare.plane.ca_certificate
    assert both == latter + former
    assert await greets(bare, latter)
    assert await greets(bare, both)
    assert not await greets(bare, former)
    await eventually(lambda: tells_pods(bare, latter))

    await rotate(bare, serves=0, trusted=0)  # as the tests after this one want it
    assert await greets(bare, former)


async def rotate(cluster: Cluster, **rotation: int) -> None:
    description = {key: value for key, value in CLUSTER.items() if key != "addonsConfig"}
    await cluster.plane.apply_cluster({**description, ROTATION: rotation})
    await cluster.plane.start()


def processes(cluster: Cluster) -> dict[str, int | None]:
    return {it.name: it.pid for it in cluster.processes.status()}


async def greets(cluster: Cluster, certificates: str) -> bool:
    """Whether a client that trusts these finds the cluster as it was."""
    tls = ssl.create_default_context(cadata=certificates)
    url, headers = f"https://{cluster.plane.endpoint}/api/v1/nodes", {"Authorization": f"Bearer {TOKEN}"}
    async with aiohttp.ClientSession() as session:
        try:
            async with session.get(url, headers=headers, ssl=tls) as answer:
                return len((await answer.json())["items"]) == 2
        except aiohttp.ClientConnectorCertificateError:
            return False


async def tells_pods(cluster: Cluster, certificates: str) -> bool:
    async with cluster.api() as api:
        found = await api.request("GET", "/api/v1/namespaces/default/configmaps/kube-root-ca.crt")
    return bool(found["data"]["ca.crt"] == certificates)
