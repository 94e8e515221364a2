"""KubeRay with the TPU webhook: a worker group's replica is one slice, and every host knows its place in it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from tpuplane_twin.cluster.api import Api, Object

from tests.support.cluster.cluster_objects import (
    CLUSTER,
    RAY,
    Cluster,
    MakePools,
    empty,
    environment,
    eventually,
    pools_of,
    ray_sample,
    rejection,
    running_pods,
    slice_pool,
    taken,
)

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

# KubeRay's samples: the machine type, topology and hosts of the slices they are for.
SAMPLES = {
    "ray-cluster.tpu-v6e-16-multihost.yaml": ("ct6e-standard-4t", "4x4", 4),
    "ray-cluster.tpu-v4-multihost.yaml": ("ct4p-hightpu-4t", "2x2x2", 2),
}


def workers_by_replica(pods: list[Object]) -> dict[str, list[Object]]:
    replicas: dict[str, list[Object]] = {}
    for pod in pods:
        name = pod["metadata"]["labels"].get("ray.io/worker-group-replica-name")
        if name:
            replicas.setdefault(name, []).append(pod)
    return replicas


async def check_slices(api: Api, pods: list[Object], cluster: str, hosts: int) -> set[str]:
    """Every replica whole, on one pool of its own, its hosts numbered and named; the pools."""
    placed, used = await pools_of(api, pods), []
    for replica in workers_by_replica(pods).values():
        used += list({placed[pod["metadata"]["name"]] for pod in replica})
        index = replica[0]["metadata"]["labels"]["ray.io/worker-group-replica-index"]
        names = ",".join(f"tpu-group-{index}-{host}.{cluster}-headless" for host in range(hosts))
        assert sorted(environment(pod)["TPU_WORKER_ID"] for pod in replica) == [str(n) for n in range(hosts)]
        for pod in replica:
            variables = environment(pod)
            assert variables["TPU_WORKER_HOSTNAMES"] == names
            assert variables["TPU_NAME"] == f"tpu-group-{index}"
            own = f"{pod['spec']['hostname']}.{pod['spec']['subdomain']}"
            assert names.split(",")[int(variables["TPU_WORKER_ID"])] == own
    assert len(used) == len(set(used)) == len(workers_by_replica(pods))
    return set(used)


@pytest.mark.parametrize("sample", SAMPLES)
async def test_kuberays_own_sample_is_on_one_slice(
    cluster: Cluster, make_pools: MakePools, api: Api, namespace: str, sample: str
) -> None:
    machine, topology, hosts = SAMPLES[sample]
    manifest = ray_sample(cluster.tools.module("kuberay"), sample)
    for name in ("slice-a", "slice-b"):
        await make_pools(slice_pool(name, machine, topology, hosts))
    for _ in range(5):
        await api.request("POST", f"{RAY}/{namespace}/rayclusters", body=manifest)
        pods = await running_pods(api, namespace, hosts + 1)
        used = await check_slices(api, pods, manifest["metadata"]["name"], hosts)
        assert used <= {"slice-a", "slice-b"}
        service = f"/api/v1/namespaces/{namespace}/services/{manifest['metadata']['name']}-headless"
        assert (await api.request("GET", service))["spec"]["clusterIP"] == "None"
        await api.request("DELETE", f"{RAY}/{namespace}/rayclusters/{manifest['metadata']['name']}")
        await empty(api, namespace)


async def test_replicas_that_start_at_once_get_a_slice_each(
    cluster: Cluster, make_pools: MakePools, api: Api, namespace: str
) -> None:
    """Two clusters of two replicas each, all pods created at the same time, on four slices."""
    names = [f"slice-{number}" for number in range(4)]
    for name in names:
        await make_pools(slice_pool(name, "ct6e-standard-4t", "4x4", 4))
    manifests = []
    for name in ("blue", "green"):
        manifest = ray_sample(cluster.tools.module("kuberay"), "ray-cluster.tpu-v6e-16-multihost.yaml")
        manifest["metadata"]["name"] = name
        group: dict[str, Any] = manifest["spec"]["workerGroupSpecs"][0]
        group["replicas"] = group["maxReplicas"] = 2
        container = group["template"]["spec"]["containers"][0]
        container["env"].append({"name": "MEGASCALE_NUM_SLICES", "value": "2"})
        manifests.append(manifest)
    for _ in range(3):
        for manifest in manifests:
            await api.request("POST", f"{RAY}/{namespace}/rayclusters", body=manifest)
        pods = await running_pods(api, namespace, 2 * (1 + 2 * 4))
        used: list[str] = []
        for name in ("blue", "green"):
            mine = [pod for pod in pods if pod["metadata"]["labels"]["ray.io/cluster"] == name]
            used += await check_slices(api, mine, name, 4)
            for replica in workers_by_replica(mine).values():
                index = replica[0]["metadata"]["labels"]["ray.io/worker-group-replica-index"]
                assert {environment(pod)["MEGASCALE_SLICE_ID"] for pod in replica} == {index}
                coordinators = {environment(pod)["MEGASCALE_COORDINATOR_ADDRESS"] for pod in replica}
                assert coordinators == {f"tpu-group-0-0.{name}-headless"}
        assert sorted(used) == names
        for name in ("blue", "green"):
            await api.request("DELETE", f"{RAY}/{namespace}/rayclusters/{name}")
        await empty(api, namespace)


async def test_a_cluster_with_its_state_in_redis_goes(cluster: Cluster, api: Api, namespace: str) -> None:
    """KubeRay lets go of it only when a Job of its own has emptied the Redis, which is simulated too."""
    sample = cluster.tools.module("kuberay") / "config" / "samples" / "ray-cluster.external-redis.yaml"
    (manifest,) = (document for document in yaml.safe_load_all(sample.read_text()) if document["kind"] == "RayCluster")
    manifest["spec"]["gcsFaultToleranceOptions"] = {"redisAddress": "redis:6379"}
    for group in (manifest["spec"]["headGroupSpec"], *manifest["spec"]["workerGroupSpecs"]):
        group["template"]["spec"]["volumes"] = []
        group["template"]["spec"]["containers"][0]["volumeMounts"] = []
    await api.request("POST", f"{RAY}/{namespace}/rayclusters", body=manifest)
    await running_pods(api, namespace, 2)
    await api.request("DELETE", f"{RAY}/{namespace}/rayclusters/{manifest['metadata']['name']}")

    async def gone() -> bool:
        return not (await api.request("GET", f"{RAY}/{namespace}/rayclusters"))["items"]

    await eventually(gone)


async def test_hosts_that_do_not_make_the_topology_are_rejected(cluster: Cluster, api: Api, namespace: str) -> None:
    manifest = ray_sample(cluster.tools.module("kuberay"), "ray-cluster.tpu-v6e-16-multihost.yaml")
    manifest["spec"]["workerGroupSpecs"][0]["numOfHosts"] = 2
    message = await rejection(api.request("POST", f"{RAY}/{namespace}/rayclusters", body=manifest))
    assert "Number of workers in worker group not equal to specified topology" in message
    assert "'tpu-group' has numOfHosts 2" in message
    assert "make 4" in message


async def test_the_addon_can_be_switched_off_and_on(cluster: Cluster, api: Api, namespace: str) -> None:
    manifest = ray_sample(cluster.tools.module("kuberay"), "ray-cluster.tpu-v6e-16-multihost.yaml")
    name = manifest["metadata"]["name"]
    without = {**CLUSTER, "addonsConfig": {"rayOperatorConfig": {"enabled": False}}}
    running = {status.name.rpartition("/")[2] for status in cluster.processes.status()}
    await cluster.plane.apply_cluster(without)
    assert running - {status.name.rpartition("/")[2] for status in cluster.processes.status()} == {"kuberay"}
    # The users' objects remain, and new ones are not validated: the add-on is deleted, its CRDs are not.
    wrong = {**manifest, "metadata": {"name": "unchecked"}}
    wrong["spec"]["workerGroupSpecs"][0]["numOfHosts"] = 2
    # The API server goes on asking the webhook for a moment.
    await taken(api, f"{RAY}/{namespace}/rayclusters", wrong)
    await api.request("DELETE", f"{RAY}/{namespace}/rayclusters/unchecked")
    await cluster.plane.apply_cluster(CLUSTER)
    assert running == {status.name.rpartition("/")[2] for status in cluster.processes.status()}
    manifest["spec"]["workerGroupSpecs"][0].update(numOfHosts=4, replicas=0, minReplicas=0)
    await api.request("POST", f"{RAY}/{namespace}/rayclusters", body=manifest)
    await running_pods(api, namespace, 1)
    await api.request("DELETE", f"{RAY}/{namespace}/rayclusters/{name}")
    await empty(api, namespace)
