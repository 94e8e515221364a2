"""A rotation of credentials: the former ones are valid until it is complete, and not after it."""

from __future__ import annotations

import ssl
from functools import partial

import aiohttp
import pytest
from tpuplane_twin.gcp.backend import ROTATION

from tests.support.cluster.cluster_objects import CLUSTER, KEY, TOKEN, Cluster
from tests.support.eventually import eventually

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]


async def test_the_former_credentials_serve_until_the_rotation_is_complete(bare: Cluster) -> None:
    former, before = bare.plane.ca_certificate, processes(bare)
    nodes = await nodes_seen(bare, former)
    assert nodes
    await rotate(bare, serves=0, trusted=1)
    both = bare.plane.ca_certificate
    assert both.endswith(former)
    assert both.count("BEGIN") == 2
    assert await nodes_seen(bare, both) == nodes
    assert await nodes_seen(bare, former) == nodes
    await eventually(lambda: pods_trust(bare, both))
    assert {name for name, pid in processes(bare).items() if before[name] != pid} == {f"{KEY}/kube-controller-manager"}

    await rotate(bare, serves=1, trusted=1)
    latter = bare.plane.ca_certificate
    assert both == latter + former
    assert await nodes_seen(bare, latter) == nodes
    assert await nodes_seen(bare, both) == nodes
    assert await nodes_seen(bare, former) is None
    await eventually(lambda: pods_trust(bare, latter))
    for replicas in (3, 2):  # the controllers work with the new credentials
        await bare.kubectl("scale", "deployment", "kube-dns", f"--replicas={replicas}", "--namespace=kube-system")
        await eventually(partial(kube_dns_has, bare, replicas))

    await rotate(bare, serves=0, trusted=0)  # the other tests use the former authority
    assert await nodes_seen(bare, former) == nodes


async def rotate(cluster: Cluster, **rotation: int) -> None:
    description = {key: value for key, value in CLUSTER.items() if key != "addonsConfig"}
    await cluster.plane.apply_cluster({**description, ROTATION: rotation})
    await cluster.plane.start()


def processes(cluster: Cluster) -> dict[str, int | None]:
    return {process.name: process.pid for process in cluster.processes.status()}


async def nodes_seen(cluster: Cluster, certificates: str) -> set[str] | None:
    """The nodes that a client sees which trusts these certificates; None where it does not trust the API server."""
    tls = ssl.create_default_context(cadata=certificates)
    url, headers = f"https://{cluster.plane.endpoint}/api/v1/nodes", {"Authorization": f"Bearer {TOKEN}"}
    async with aiohttp.ClientSession() as session:
        try:
            async with session.get(url, headers=headers, ssl=tls) as answer:
                return {node["metadata"]["name"] for node in (await answer.json())["items"]}
        except aiohttp.ClientConnectorCertificateError:
            return None


async def kube_dns_has(cluster: Cluster, replicas: int) -> bool:
    async with cluster.api() as api:
        found = await api.get("Deployment", "kube-dns", "kube-system")
    return found is not None and found["status"].get("replicas") == replicas


async def pods_trust(cluster: Cluster, certificates: str) -> bool:
    async with cluster.api() as api:
        found = await api.request("GET", "/api/v1/namespaces/default/configmaps/kube-root-ca.crt")
    return bool(found["data"]["ca.crt"] == certificates)
