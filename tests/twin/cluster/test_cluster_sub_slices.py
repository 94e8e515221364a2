"""Parts of a slice, with the real Kueue: four jobs of 4x4 on one 8x8, the fifth waits, and a whole slice needs all."""

from __future__ import annotations

from collections import Counter

import pytest
from tpuplane.addons.kueue_objects import flavor_spec
from tpuplane.labels import TPU, sub_slice_label
from tpuplane.plan import plan
from tpuplane.plan.flavors import FLAVOR_LABEL
from tpuplane.spec import parse_platform
from tpuplane.workloads import MultisliceSpec, multislice_manifest
from tpuplane_twin.cluster.api import Api, Object

from tests.support.cluster.cluster_objects import (
    JOBSETS,
    Cluster,
    MakePools,
    empty,
    eventually,
    running_pods,
    slice_pool,
)

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
POOL = {"generation": "v6e", "topology": "8x8", "zone": "us-east5-b", "subSlices": ["2x4", "4x4"]}


def queueing(namespace: str) -> list[tuple[str, Object]]:
    """The flavor and the topology that the platform makes for the pool, and one queue for all of its chips."""
    team = {"clusters": {"main": {"pools": {"trainer": {"slices": 1}}}}}
    cluster = {"location": "us-east5", "addons": {"kueue": {}}, "pools": {"trainer": POOL}}
    spec = {"name": "lab", "project": "tpuplane-lab", "teams": {"a": team}, "clusters": {"main": cluster}}
    queues = plan(parse_platform(spec)).clusters[0].queues
    assert queues is not None
    flavor, topology = queues.flavors[-1], queues.topologies[-1]
    assert (flavor.name, flavor.topology) == ("v6e-8x8-of-4x4-2x4", topology.name)
    covered = [*flavor.per_slice]
    quota = [{"name": resource, "nominalQuota": 64 if resource == TPU else "100Ti"} for resource in covered]
    groups = [{"coveredResources": covered, "flavors": [{"name": flavor.name, "resources": quota}]}]
    levels = {"levels": [{"nodeLabel": label} for label in topology.levels]}
    objects = [
        ("topologies", "Topology", topology.name, levels),
        ("resourceflavors", "ResourceFlavor", flavor.name, flavor_spec(flavor)),
        ("clusterqueues", "ClusterQueue", "parts", {"namespaceSelector": {}, "resourceGroups": groups}),
        (f"namespaces/{namespace}/localqueues", "LocalQueue", "parts", {"clusterQueue": "parts"}),
    ]
    return [
        (f"{KUEUE}/{path}", {"apiVersion": KUEUE[6:], "kind": kind, "metadata": {"name": name}, "spec": spec})
        for path, kind, name, spec in objects
    ]


def job(namespace: str, name: str, topology: str, whole: str | None) -> Object:
    spec = {"namespace": namespace, "queue": "parts", "generation": "v6e", "topology": topology, "subSliceOf": whole}
    return multislice_manifest(
        name, MultisliceSpec.model_validate({**spec, "image": "train", "command": ["train"], "cpu": 1, "memoryGb": 1})
    )


async def test_four_jobs_share_a_slice_and_the_fifth_waits(
    cluster: Cluster, make_pools: MakePools, api: Api, namespace: str
) -> None:
    objects = queueing(namespace)
    labels = next(item["spec"]["nodeLabels"] for _, item in objects if item["kind"] == "ResourceFlavor")
    trainer = slice_pool("trainer", "ct6e-standard-4t", "8x8", 16)
    own = {label: labels[label] for label in (FLAVOR_LABEL, "tpuplane-capacity")}
    trainer["config"] = {**trainer["config"], "labels": own}
    await make_pools(trainer)
    for url, item in objects:
        await api.request("POST", url, body=item)
    url, names = f"{JOBSETS}/{namespace}/jobsets", [f"small-{number}" for number in range(5)]
    for name in names:
        await api.request("POST", url, body=job(namespace, name, "4x4", "8x8"))
    pods = await running_pods(api, namespace, 16)
    nodes = {node["metadata"]["name"]: node["metadata"]["labels"] for node in await api.list("Node")}
    used = Counter(
        (
            pod["metadata"]["labels"]["jobset.sigs.k8s.io/jobset-name"],
            nodes[pod["spec"]["nodeName"]][sub_slice_label("4x4")],
        )
        for pod in pods
    )
    assert [*used.values()] == [4] * 4
    assert len({part for _, part in used}) == 4
    (waiting,) = {*names} - {name for name, _ in used}

    async def rejected() -> bool:
        workloads = (await api.request("GET", f"{KUEUE}/namespaces/{namespace}/workloads"))["items"]
        return any(
            condition["type"] == "QuotaReserved" and condition["status"] == "False"
            for workload in workloads
            if workload["metadata"]["ownerReferences"][0]["name"] == waiting
            for condition in workload.get("status", {}).get("conditions", [])
        )

    await eventually(rejected)
    ended = next(name for name, _ in used)
    await api.request("DELETE", f"{url}/{ended}")

    async def started() -> bool:
        selector = f"jobset.sigs.k8s.io/jobset-name={waiting}"
        return len(await api.list("Pod", namespace, labelSelector=selector)) == 4

    await eventually(started)
    for name in {*names} - {ended}:
        await api.request("DELETE", f"{url}/{name}")
    await empty(api, namespace)
    await api.request("POST", url, body=job(namespace, "whole", "8x8", None))
    await running_pods(api, namespace, 16)
    await api.request("DELETE", f"{url}/whole")
    await empty(api, namespace)
    for url, item in reversed(objects):
        await api.request("DELETE", f"{url}/{item['metadata']['name']}")
