"""Node pools as nodes of a real API server: made, changed in place, replaced, resized, drained."""

from __future__ import annotations

import ipaddress

import pytest
from tpuplane.labels import GKE_POOL_LABEL
from tpuplane.status.pools import describe_pools
from tpuplane_twin.cluster.api import Api, Object

from tests.support.cluster.cluster_objects import CLUSTER, Cluster, MakePools, empty, pool, running_pods, slice_pool
from tests.support.eventually import eventually
from tests.support.status.api_server import parsed

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]


async def nodes_of(api: Api, name: str) -> list[Object]:
    return await api.list("Node", labelSelector=f"{GKE_POOL_LABEL}={name}")


def ids(nodes: list[Object]) -> set[str]:
    return {node["metadata"]["uid"] for node in nodes}


def deployment(replicas: int) -> Object:
    """Pods that need chips, on whatever TPU nodes there are."""
    container = {"name": "serve", "image": "serve", "resources": {"limits": {"google.com/tpu": 1}}}
    template = {"metadata": {"labels": {"app": "serve"}}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "serve"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "serve"}}, "template": template},
    }


async def test_a_pool_is_ready_nodes_that_stay_as_they_are(cluster: Cluster, make_pools: MakePools, api: Api) -> None:
    trainer = slice_pool("trainer", "ct6e-standard-4t", "4x4", 4)
    await make_pools(trainer)
    (found,) = describe_pools(parsed("nodes", await nodes_of(api, "trainer")), {})
    assert (found["hosts"], found["hostsReady"], found["chips"]) == (4, 4, 16)

    async def annotated() -> bool:
        # By Kubernetes' own controller, in its own time.
        return all(
            "node.alpha.kubernetes.io/ttl" in node["metadata"]["annotations"] for node in await nodes_of(api, "trainer")
        )

    await eventually(annotated)
    before = {node["metadata"]["name"]: node["metadata"]["resourceVersion"] for node in await nodes_of(api, "trainer")}
    await make_pools(trainer)
    after = {node["metadata"]["name"]: node["metadata"]["resourceVersion"] for node in await nodes_of(api, "trainer")}
    assert after == before
    machines = await cluster.plane.instances("trainer")
    assert machines == [machine for machine in await cluster.plane.instances("") if machine.pool == "trainer"]
    assert {machine.name for machine in machines} == before.keys()
    assert {machine.zone for machine in machines} == {
        node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in await nodes_of(api, "trainer")
    }
    assert all(ipaddress.ip_address(machine.address) for machine in machines)
    await cluster.plane.pools.delete("trainer")
    assert await nodes_of(api, "trainer") == []


async def test_labels_and_taints_change_in_place(cluster: Cluster, make_pools: MakePools, api: Api) -> None:
    await make_pools(pool("web", "e2-standard-4", 2, labels={"team": "a", "old": "1"}))
    before = ids(await nodes_of(api, "web"))
    taint = {"key": "dedicated", "value": "web", "effect": "NO_SCHEDULE"}
    changed = pool("web", "e2-standard-4", 2, labels={"team": "b"}, taints=[taint])
    await make_pools(changed)
    nodes = await nodes_of(api, "web")
    assert ids(nodes) == before
    for node in nodes:
        assert node["metadata"]["labels"]["team"] == "b"
        assert "old" not in node["metadata"]["labels"]
        assert node["spec"]["taints"] == [{"key": "dedicated", "value": "web", "effect": "NoSchedule"}]
    await cluster.plane.pools.delete("web")


async def test_another_size_keeps_the_other_nodes(cluster: Cluster, make_pools: MakePools, api: Api) -> None:
    zones = ("us-east5-a", "us-east5-b")
    sizes = []
    for count in (1, 3, 2, 0):
        await make_pools(pool("batch", "c3-standard-8", count, zones=zones))
        sizes.append(ids(await nodes_of(api, "batch")))
    one, three, two, none = sizes
    assert [len(size) for size in sizes] == [2, 6, 4, 0]
    assert one < two < three
    assert not none


async def test_another_machine_type_is_other_nodes(cluster: Cluster, make_pools: MakePools, api: Api) -> None:
    await make_pools(pool("web", "e2-standard-4", 2))
    before = await nodes_of(api, "web")
    await make_pools(pool("web", "e2-standard-8", 2))
    nodes = await nodes_of(api, "web")
    assert not ids(before) & ids(nodes)
    assert not {node["metadata"]["name"] for node in before} & {node["metadata"]["name"] for node in nodes}
    assert {node["status"]["capacity"]["cpu"] for node in nodes} == {"8"}
    await cluster.plane.pools.delete("web")


async def test_a_pool_of_the_same_name_is_another_pool(cluster: Cluster, make_pools: MakePools, api: Api) -> None:
    names = []
    for _ in range(2):
        await make_pools(pool("web", "e2-standard-4", 2))
        names.append({node["metadata"]["name"] for node in await nodes_of(api, "web")})
        await cluster.plane.pools.delete("web")
    assert not names[0] & names[1]


async def test_pods_are_in_the_clusters_range_and_go_with_their_pool(
    cluster: Cluster, make_pools: MakePools, api: Api, namespace: str
) -> None:
    for name in ("serving-a", "serving-b"):
        await make_pools(pool(name, "ct6e-standard-1t", 3))
    url = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    await api.request("POST", url, body=deployment(6))
    pods = await running_pods(api, namespace, 6)
    addresses = {pod["status"]["podIP"] for pod in pods}
    assert len(addresses) == 6
    range_ = ipaddress.ip_network(CLUSTER["clusterIpv4Cidr"])
    assert all(ipaddress.ip_address(address) in range_ for address in addresses)
    assert not addresses & {pod["status"]["hostIP"] for pod in pods}
    await cluster.plane.pools.delete("serving-a")
    left = {node["metadata"]["name"] for node in await nodes_of(api, "serving-b")}

    async def on_what_is_left() -> bool:
        return {pod["spec"].get("nodeName") for pod in await api.list("Pod", namespace)} <= {*left, None}

    await eventually(on_what_is_left)
    # The deployment wants six still; a new pool takes those that had nowhere to go.
    await make_pools(pool("serving-c", "ct6e-standard-1t", 3))
    assert len({pod["status"]["podIP"] for pod in await running_pods(api, namespace, 6)}) == 6
    await api.request("DELETE", f"{url}/serve")
    await empty(api, namespace)
