"""Kueue, the real one: quota in chips, and a slice as the domain that a job must fit in."""

from __future__ import annotations

import re

import pytest
import yaml
from tpuplane.labels import GKE_POOL_LABEL
from tpuplane.spec.addons.catalogue import addon_catalogue
from tpuplane_twin import tools as twin_tools
from tpuplane_twin.cluster.api import Api, Object, accepting

from benchmarks.multislice import host_name_policy
from tests.support.cluster.cluster_objects import (
    JOBSETS,
    Cluster,
    MakePools,
    empty,
    eventually,
    jobset,
    pools_of,
    running_pods,
    slice_pool,
)

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
RULES = "/apis/admissionregistration.k8s.io/v1"


def queueing(namespace: str) -> list[tuple[str, Object]]:
    """One flavor, one queue for 32 chips; the levels of the topology are node pool and host."""
    levels = [{"nodeLabel": GKE_POOL_LABEL}, {"nodeLabel": "kubernetes.io/hostname"}]
    flavor = {"name": "v6e", "resources": [{"name": "google.com/tpu", "nominalQuota": 32}]}
    groups = [{"coveredResources": ["google.com/tpu"], "flavors": [flavor]}]
    objects = [
        ("topologies", "Topology", "slices", {"levels": levels}),
        (
            "resourceflavors",
            "ResourceFlavor",
            "v6e",
            {
                "nodeLabels": {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice"},
                "topologyName": "slices",
                "tolerations": [{"key": "google.com/tpu", "operator": "Exists", "effect": "NoSchedule"}],
            },
        ),
        ("clusterqueues", "ClusterQueue", "team", {"namespaceSelector": {}, "resourceGroups": groups}),
        (f"namespaces/{namespace}/localqueues", "LocalQueue", "team", {"clusterQueue": "team"}),
    ]
    return [
        (f"{KUEUE}/{path}", {"apiVersion": KUEUE[6:], "kind": kind, "metadata": {"name": name}, "spec": spec})
        for path, kind, name, spec in objects
    ]


async def remove(api: Api, objects: list[tuple[str, Object]]) -> None:
    """Delete the objects, the last first, and wait until they are gone."""
    for url, item in reversed(objects):
        name = f"{url}/{item['metadata']['name']}"
        await api.request("DELETE", name)

        async def gone(name: str = name) -> bool:
            with accepting(404):
                await api.request("GET", name)
                return False
            return True

        await eventually(gone)


async def test_the_gates_are_those_of_the_release(tools: twin_tools.Tools) -> None:
    """Kueue does not start with a gate that it does not know, or with another value of a locked one."""
    known = addon_catalogue()
    release = tuple(map(int, known.addons["kueue"].chart.version.split(".")[:2]))
    source = (tools.module("kueue") / "pkg" / "features" / "kube_features.go").read_text()
    default = r'MustParse\("(\d+)\.(\d+)"\), Default: (\w+), PreRelease: [\w.]+(, LockToDefault: true)?'
    found: dict[str, tuple[bool, bool]] = {}
    for name, text in re.findall(r"^\t(\w+): \{\n(.*?)^\t\}", source, re.MULTILINE | re.DOTALL):
        states = [state for state in re.findall(default, text) if (int(state[0]), int(state[1])) <= release]
        if states:
            found[name] = (states[-1][2] == "true", bool(states[-1][3]))
    assert len(found) > 50
    assert {name: on for name, (on, locked) in found.items() if locked} == known.kueue["lockedGates"]
    assert {name: on for name, (on, locked) in found.items() if not locked} == known.kueue["featureGates"]


async def test_a_job_waits_for_a_free_slice_and_then_has_all_of_it(
    cluster: Cluster, make_pools: MakePools, api: Api, namespace: str
) -> None:
    await make_pools(slice_pool("slice-a", "ct6e-standard-4t", "4x4", 4))
    objects = queueing(namespace)
    for url, item in objects:
        await api.request("POST", url, body=item)
    url = f"{JOBSETS}/{namespace}/jobsets"
    for name in ("first", "second"):
        job = jobset(name, "4x4", 4, 1, **{"kueue.x-k8s.io/podset-required-topology": GKE_POOL_LABEL})
        job["metadata"] = {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "team"}}
        await api.request("POST", url, body=job)
    running = await running_pods(api, namespace, 4)
    (winner,) = {pod["metadata"]["labels"]["jobset.sigs.k8s.io/jobset-name"] for pod in running}
    waiting = ({"first", "second"} - {winner}).pop()

    async def rejected() -> bool:
        workloads = (await api.request("GET", f"{KUEUE}/namespaces/{namespace}/workloads"))["items"]
        conditions = [item for workload in workloads for item in workload.get("status", {}).get("conditions", [])]
        return any("topology" in item["message"] for item in conditions if item["type"] == "QuotaReserved")

    await eventually(rejected)
    await make_pools(slice_pool("slice-b", "ct6e-standard-4t", "4x4", 4))
    pods = await running_pods(api, namespace, 8)
    placed = await pools_of(api, pods)
    for name, expected in ((winner, "slice-a"), (waiting, "slice-b")):
        mine = [pod for pod in pods if pod["metadata"]["labels"]["jobset.sigs.k8s.io/jobset-name"] == name]
        assert {placed[pod["metadata"]["name"]] for pod in mine} == {expected}
    for name in ("first", "second"):
        await api.request("DELETE", f"{url}/{name}")
    await empty(api, namespace)
    await remove(api, objects)


async def test_the_policy_of_the_page_gives_the_scheduler_one_node_for_each_pod(
    make_pools: MakePools, api: Api, namespace: str
) -> None:
    await make_pools(slice_pool("slice-a", "ct6e-standard-4t", "4x4", 4))
    policy, binding = yaml.safe_load_all(host_name_policy())
    objects = [
        (f"{RULES}/mutatingadmissionpolicies", policy),
        (f"{RULES}/mutatingadmissionpolicybindings", binding),
        *queueing(namespace),
    ]
    for url, item in objects:
        await api.request("POST", url, body=item)
    job = jobset("only", "4x4", 4, 1, **{"kueue.x-k8s.io/podset-required-topology": GKE_POOL_LABEL})
    job["metadata"] = {"name": "only", "labels": {"kueue.x-k8s.io/queue-name": "team"}}
    await api.request("POST", f"{JOBSETS}/{namespace}/jobsets", body=job)
    for pod in await running_pods(api, namespace, 4):
        affinity = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        host = {"key": "metadata.name", "operator": "In", "values": [pod["spec"]["nodeName"]]}
        assert affinity == {"nodeSelectorTerms": [{"matchFields": [host]}]}
    await api.request("DELETE", f"{JOBSETS}/{namespace}/jobsets/only")
    await empty(api, namespace)
    await remove(api, objects)
