"""What is in kube-system of every cluster: kube-dns, and the metrics API behind `kubectl top`."""

from __future__ import annotations

import json
import ssl

import aiohttp
import pytest
from tpuplane_twin.cluster.addresses import dns_address
from tpuplane_twin.cluster.api import Api, ApiError, Object
from tpuplane_twin.gcp.views import ClusterView

from tests.support.cluster.cluster_objects import CLUSTER, KEY, Cluster, MakePools, pool
from tests.support.eventually import eventually

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

METRICS = "/apis/metrics.k8s.io/v1beta1"


async def deployment(api: Api, name: str) -> Object:
    found = await api.get("Deployment", name, "kube-system")
    assert found is not None
    return found


async def test_kube_dns_runs_where_names_are_answered(bare: Cluster) -> None:
    async with bare.api() as api:
        service = await api.get("Service", "kube-dns", "kube-system")
        assert service is not None
        assert service["spec"]["clusterIP"] == dns_address(ClusterView(CLUSTER).services)

        async def running() -> bool:
            return (await deployment(api, "kube-dns"))["status"].get("readyReplicas") == 2

        await eventually(running)
        parameters = await api.get("ConfigMap", "kube-dns-autoscaler", "kube-system")
        assert parameters is not None
        assert json.loads(parameters["data"]["linear"])["nodesPerReplica"] == 16


async def test_kube_dns_is_scaled_down_as_xpk_scales_it(bare: Cluster) -> None:
    names = ("kube-dns-autoscaler", "kube-dns")
    for name in names:
        await bare.kubectl("scale", "deployment", name, "--replicas=0", "--namespace=kube-system")
    async with bare.api() as api:

        async def none() -> bool:
            return not (await deployment(api, "kube-dns"))["status"].get("replicas")

        await eventually(none)
        for name in names:
            await bare.kubectl("scale", "deployment", name, "--replicas=1", "--namespace=kube-system")


async def test_what_runs_is_measured_and_what_is_simulated_uses_nothing(
    cluster: Cluster, make_pools: MakePools, api: Api
) -> None:
    await make_pools(pool("measured", "e2-standard-4", 2))
    await api.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "idle", "namespace": "kube-system", "labels": {"app": "idle"}},
            "spec": {
                "containers": [{"name": "one", "image": "idle"}, {"name": "two", "image": "idle"}],
                "nodeSelector": {"cloud.google.com/gke-nodepool": "measured"},
            },
        }
    )
    url = f"{METRICS}/namespaces/kube-system/pods"

    async def measured() -> bool:
        return bool((await api.request("GET", url, params={"labelSelector": "app=idle"}))["items"])

    try:
        await eventually(measured)
        idle = await api.request("GET", f"{url}/idle")
        nothing = {"cpu": "0n", "memory": "0Ki"}
        assert [metrics["usage"] for metrics in idle["containers"]] == [nothing, nothing]
        nodes = await api.request(
            "GET", f"{METRICS}/nodes", params={"labelSelector": "cloud.google.com/gke-nodepool=measured"}
        )
        assert [metrics["usage"] for metrics in nodes["items"]] == [nothing, nothing]
        assert "idle" in await cluster.kubectl("top", "pods", "-n", "kube-system", "-l", "app=idle")
        assert "0%" in await cluster.kubectl("top", "nodes")
        with pytest.raises(ApiError, match="not found") as missing:
            await api.request("GET", f"{METRICS}/nodes/nope")
        assert missing.value.status == 404
    finally:
        await api.delete("Pod", "idle", "kube-system")


@pytest.mark.parametrize("shown", [None, "etcd-client"])
async def test_only_the_aggregator_is_answered(cluster: Cluster, shown: str | None) -> None:
    pki = cluster.folder / "pki"
    tls = ssl.create_default_context(cafile=str(pki / "front-proxy" / "ca.crt"))
    tls.check_hostname = False
    if shown is not None:
        tls.load_cert_chain(pki / f"{shown}.crt", pki / f"{shown}.key")
    port = cluster.ports.port(f"{KEY}/metrics")
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientError):
            await session.get(f"https://127.0.0.1:{port}{METRICS}/nodes", ssl=tls)
