"""GPU pools that scale from and to zero, and a server that moves between TPUs and GPUs by its class."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.elasticity.elastic_twin import CLUSTER, POOL, ZONE, ElasticTwin
from tests.support.eventually import eventually

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

Json = dict[str, Any]
CLASS = "cloud.google.com/compute-class"
GPU = "nvidia.com/gpu"
A100 = {
    "machineType": "a2-ultragpu-1g",
    "accelerators": [{"acceleratorType": "nvidia-a100-80gb", "acceleratorCount": "1"}],
}
TRILLIUM = {"machineType": "ct6e-standard-8t"}


async def add_class(twin: ElasticTwin, name: str, config: Json, most: int) -> None:
    """A pool that rests at zero, and the compute class of the same name that it belongs to."""
    taint = {"key": CLASS, "value": name, "effect": "NO_SCHEDULE"}
    pool = {
        "name": name,
        "config": {**config, "labels": {CLASS: name}, "taints": [taint]},
        "locations": [ZONE],
        "autoscaling": {"enabled": True, "minNodeCount": 0, "maxNodeCount": most, "locationPolicy": "ANY"},
        "management": {"autoRepair": True, "autoUpgrade": True},
    }
    await twin.google("POST", f"/v1beta1/{CLUSTER}/nodePools", {"nodePool": pool})
    described = {
        "apiVersion": "cloud.google.com/v1",
        "kind": "ComputeClass",
        "metadata": {"name": name},
        "spec": {"priorities": [{"nodepools": [name]}], "whenUnsatisfiable": "DoNotScaleUp"},
    }
    await twin.kubernetes.create(described)


async def remove_class(twin: ElasticTwin, name: str) -> None:
    await twin.idle_since_noticed(name, 0)
    await twin.kubernetes.delete("ComputeClass", name)
    await twin.delete_pool(name)


def server(namespace: str, replicas: int, name: str, resource: str, amount: int) -> Json:
    """A Deployment whose pods ask for a class, and for the accelerators of one of its nodes."""
    asked = {resource: str(amount)}
    main = {"name": "main", "image": "main", "resources": {"requests": asked, "limits": asked}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "server", "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "server"}},
            "template": {
                "metadata": {"labels": {"app": "server"}},
                "spec": {"nodeSelector": {CLASS: name}, "containers": [main]},
            },
        },
    }


async def test_gpu_nodes_come_from_nothing_and_go_again(twin: ElasticTwin, namespace: str) -> None:
    await add_class(twin, "gpus", A100, most=3)
    assert await twin.nodes("gpus") == []
    deployments = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    await twin.kubernetes.request("POST", deployments, body=server(namespace, 2, "gpus", GPU, 1))
    pods = await twin.running(namespace, 2)
    nodes = await twin.nodes("gpus")
    assert sorted(pod["spec"]["nodeName"] for pod in pods) == nodes, "a node has one GPU, and each pod asks for one"
    for node in await twin.kubernetes.list("Node", labelSelector=f"{POOL}=gpus"):
        assert node["metadata"]["labels"]["cloud.google.com/gke-accelerator"] == "nvidia-a100-80gb"
        assert node["status"]["allocatable"][GPU] == "1"
        assert {taint["key"] for taint in node["spec"]["taints"]} == {GPU, CLASS}
    await twin.kubernetes.request("DELETE", f"{deployments}/server", params={"propagationPolicy": "Background"})
    await twin.running(namespace, 0)
    await remove_class(twin, "gpus")


async def test_a_deployment_moves_from_tpus_to_gpus_with_its_class(twin: ElasticTwin, namespace: str) -> None:
    """Kubernetes counts TPUs and GPUs as resources of different names: what is asked for changes with the class."""
    await add_class(twin, "on-tpus", TRILLIUM, most=1)
    await add_class(twin, "on-gpus", A100, most=1)
    deployments = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    await twin.kubernetes.request("POST", deployments, body=server(namespace, 1, "on-tpus", "google.com/tpu", 8))
    (before,) = await twin.running(namespace, 1)
    assert [before["spec"]["nodeName"]] == await twin.nodes("on-tpus")

    stored = await twin.kubernetes.request("GET", f"{deployments}/server")
    del stored["metadata"]["resourceVersion"]  # its controller may write its status meanwhile
    stored["spec"]["template"]["spec"] = server(namespace, 1, "on-gpus", GPU, 1)["spec"]["template"]["spec"]
    await twin.kubernetes.request("PUT", f"{deployments}/server", body=stored)

    async def moved() -> bool:
        pods = await twin.running(namespace, 1)
        return [pod["spec"]["nodeName"] for pod in pods] == await twin.nodes("on-gpus")

    await eventually(moved)
    await twin.idle_since_noticed("on-tpus", 0)
    await twin.kubernetes.request("DELETE", f"{deployments}/server", params={"propagationPolicy": "Background"})
    await twin.running(namespace, 0)
    for name in ("on-tpus", "on-gpus"):
        await remove_class(twin, name)
