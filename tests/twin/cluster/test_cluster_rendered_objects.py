"""Every Kubernetes object that the stacks render is valid to a real API server: schema, definitions and webhooks."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tpuplane_twin.cluster.api import Object

from tests.support.cluster.cluster_objects import Cluster
from tests.support.components.deployment import deploy_platform, shipped

# The loop of the cluster, which serves the tunnel to the operators' webhooks.
pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

STACKS = sorted((Path(__file__).parents[3] / "stacks").glob("Pulumi.*.yaml"))
# What no stack has yet, so that every kind of object that the components can make is judged.
EVERYTHING: dict[str, Any] = {
    "name": "every",
    "project": "tpuplane-lab",
    "classes": {"steady": {"priorities": [{"nodepools": ["trainer"]}]}},
    "teams": {
        "research": {
            "clusters": {
                "main": {
                    "pools": {"trainer": {"slices": 1}, "later": {"slices": 1}},
                    "gpuPools": {"shared": {"nodes": 1}},
                }
            }
        },
        "serving": {"clusters": {"main": {"pools": {"trainer": {"slices": 1, "borrowingLimit": 1}}}}},
    },
    "clusters": {
        "main": {
            "location": "us-east5-a",
            "namespaces": ["shared"],
            "addons": {
                "kueue": {},
                "jobset": {},
                "ray": {"mode": "operator"},
                "certManager": {},
                "monitoring": {"frontend": {}},
            },
            "pools": {
                "trainer": {"generation": "v6e", "topology": "4x4", "slices": 2},
                "later": {
                    "generation": "v6e",
                    "topology": "4x4",
                    "capacity": "flex-start",
                    "flexStart": {"queued": True},
                    "autoscaling": {"maxSlices": 1},
                },
            },
            # Its flavor would have more labels than Kueue's definition takes.
            "gpuPools": {
                "shared": {
                    "machineType": "a3-highgpu-8g",
                    "partitionSize": "1g.10gb",
                    "maxPodsPerNode": 128,
                    "sharing": {"strategy": "TIME_SHARING", "maxClients": 2},
                    "capacity": "spot",
                    "autoscaling": {"maxNodes": 1},
                }
            },
        }
    },
}


async def rendered(description: dict[str, Any]) -> list[Object]:
    """The objects that the description becomes, as the provider would be given them."""
    # Pulumi runs on an event loop of its own.
    deployment = await asyncio.to_thread(deploy_platform, description)
    return [
        resource.inputs
        for resource in deployment.custom()
        if resource.type.startswith("kubernetes:") and "kind" in resource.inputs
    ]


async def dry_run(cluster: Cluster, objects: list[Object]) -> str:
    """What a server-side dry run of these objects says; empty when all are taken."""
    kubectl = await asyncio.create_subprocess_exec(
        str(cluster.tools.binary("kubectl")),
        # The cluster of these tests has its operators, and their namespaces, from the start.
        *("apply", "--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict", "-f", "-"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={"KUBECONFIG": str(cluster.folder / "rendered.kubeconfig"), "HOME": str(cluster.folder)},
    )
    document = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    _, said = await kubectl.communicate(document.encode())
    return said.decode() if kubectl.returncode else ""


@pytest.fixture
def kubeconfig(cluster: Cluster) -> None:
    path = cluster.folder / "rendered.kubeconfig"
    path.touch(mode=0o600)
    path.write_text(cluster.kubeconfig())


def placed(objects: list[Object], namespace: str) -> list[Object]:
    """The objects in one namespace that is there: a dry run does not make those that they bring."""
    return [
        {**item, "metadata": {**item["metadata"], "namespace": namespace}} if "namespace" in item["metadata"] else item
        for item in objects
    ]


CASES = {**{stack.name: stack for stack in STACKS}, "everything": None}


@pytest.mark.usefixtures("kubeconfig")
@pytest.mark.parametrize("name", CASES)
async def test_every_object_is_taken(cluster: Cluster, namespace: str, name: str) -> None:
    stack = CASES[name]
    objects = await rendered(EVERYTHING if stack is None else shipped(stack))
    assert objects
    assert await dry_run(cluster, placed(objects, namespace)) == ""


@pytest.mark.usefixtures("kubeconfig")
async def test_an_object_with_a_field_too_many_is_not(cluster: Cluster, namespace: str) -> None:
    objects = placed(await rendered(EVERYTHING), namespace)
    kinds = {item["kind"] for item in objects}
    assert {"Namespace", "ComputeClass", "ClusterQueue", "LocalQueue", "ResourceFlavor", "PodMonitoring"} <= kinds
    assert {"ClusterPodMonitoring", "AdmissionCheck", "ProvisioningRequestConfig"} <= kinds
    for kind in sorted(kinds):
        item = next(item for item in objects if item["kind"] == kind)
        said = await dry_run(cluster, [{**item, "bananas": 1}])
        assert "bananas" in said, (kind, said)
