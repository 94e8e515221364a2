"""Ray's pods as real Ray processes: what KubeRay makes comes up, finishes and answers. The examples' own programs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from cluster_objects import CLUSTER, RAY, Cluster, eventually, ray_sample, slice_pool
from conftest import OPERATORS, running
from tpuplane.workloads import RayJobSpec, RayServiceSpec, ray_job_manifest, ray_service_manifest
from tpuplane_twin import tools as twin_tools
from tpuplane_twin.cluster.api import Api, ApiError, Object
from tpuplane_twin.tools import ray

EXAMPLES = Path(__file__).parents[3] / "examples"
PATIENCE = 900  # seconds: five Ray nodes and sixteen devices on two processors, which others may use, too
NAMESPACE = "research"
PROGRAM = "/home/ray/program"

pytestmark = [pytest.mark.ray, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def with_ray(tools: twin_tools.Tools, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cluster]:
    """A cluster with Ray in its pods, and one v6e slice of four hosts."""
    tools = replace(tools, ray=ray.build())
    description = {**CLUSTER, "addonsConfig": {**CLUSTER["addonsConfig"], "gcsFuseCsiDriverConfig": {"enabled": True}}}
    async with running(tools, tmp_path_factory.mktemp("with-ray"), description, OPERATORS) as found:
        await found.plane.apply_node_pool(slice_pool("v6e", "ct6e-standard-4t", "4x4", 4), description)
        async with found.api() as api:
            await api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        yield found


@pytest_asyncio.fixture(loop_scope="session")
async def client(with_ray: Cluster) -> AsyncIterator[Api]:
    async with with_ray.api() as api:
        yield api
        for plural in ("rayjobs", "rayservices", "rayclusters"):
            await api.request("DELETE", f"{RAY}/{NAMESPACE}/{plural}")

        async def gone() -> bool:
            return not await api.list("Pod", NAMESPACE)

        await eventually(gone, within=PATIENCE)


async def test_kuberays_sample_is_a_ray_cluster_of_a_head_and_a_whole_slice(with_ray: Cluster, client: Api) -> None:
    sample = ray_sample(with_ray.tools.module("kuberay"), "ray-cluster.tpu-v6e-16-multihost.yaml")
    await client.request("POST", f"{RAY}/{NAMESPACE}/rayclusters", body=sample)
    name = sample["metadata"]["name"]

    async def alive() -> list[Object]:
        found = await proxy(client, f"{name}-head-svc:8265", "api/v0/nodes?detail=1")
        nodes = [each for each in found.get("data", {}).get("result", {}).get("result", ()) if each["state"] == "ALIVE"]
        return nodes if len(nodes) == 5 else []

    nodes = await eventually(alive, within=PATIENCE)
    workers = [node for node in nodes if not node["is_head_node"]]
    assert {node["resources_total"]["TPU"] for node in workers} == {4}
    assert {node["labels"]["ray.io/tpu-topology"] for node in workers} == {"4x4"}
    assert {node["labels"]["ray.io/tpu-slice-name"] for node in workers} == {"tpu-group-0"}
    assert sorted(node["labels"]["ray.io/tpu-worker-id"] for node in workers) == ["0", "1", "2", "3"]
    assert sum("TPU-v6e-16-head" in node["resources_total"] for node in workers) == 1

    async def ready() -> bool:
        cluster = await client.request("GET", f"{RAY}/{NAMESPACE}/rayclusters/{name}")
        return bool(cluster.get("status", {}).get("state") == "ready")

    await eventually(ready, within=PATIENCE)


async def test_a_ray_job_trains_on_a_slice_and_succeeds(with_ray: Cluster, client: Api) -> None:
    await program(client, "train", EXAMPLES / "ray-train" / "train.py")
    job = {"cluster": cluster("train"), "entrypoint": f"python {PROGRAM}/train.py", "keep_seconds": 0}
    job["cluster"] |= {"buckets": {"/checkpoints": "checkpoints"}}
    manifest = ray_job_manifest("fit", RayJobSpec.model_validate(job))
    await client.request("POST", f"{RAY}/{NAMESPACE}/rayjobs", body=manifest)

    async def ended() -> Object | None:
        found = (await client.request("GET", f"{RAY}/{NAMESPACE}/rayjobs/fit")).get("status", {})
        return found if found.get("jobDeploymentStatus") in ("Complete", "Failed") else None

    status = await eventually(ended, within=PATIENCE)
    assert (status["jobDeploymentStatus"], status["jobStatus"]) == ("Complete", "SUCCEEDED"), status
    said = "".join(path.read_text() for path in (with_ray.folder / "logs").glob(f"pod-{NAMESPACE}-fit-*.log"))
    assert "'devices': 16" in said
    assert "'processes': 4" in said


async def test_a_ray_service_answers(with_ray: Cluster, client: Api) -> None:
    await program(client, "serve", EXAMPLES / "ray-serve" / "app.py")
    service = {
        "cluster": cluster("serve"),
        "serve_config": (EXAMPLES / "ray-serve" / "serve.yaml").read_text(),
    }
    manifest = ray_service_manifest("softmax", RayServiceSpec.model_validate(service))
    await client.request("POST", f"{RAY}/{NAMESPACE}/rayservices", body=manifest)

    async def answer() -> Any:
        return await proxy(client, "softmax-serve-svc:8000", "", body=[0, 0])

    found = await eventually(answer, within=PATIENCE)
    assert found["softmax"] == [0.5, 0.5]
    assert len(found["devices"]) == 4


def cluster(config_map: str) -> dict[str, Any]:
    image = f"rayproject/ray:{ray.version()}"
    return {
        "namespace": NAMESPACE,
        "ray_version": ray.version(),
        "config_maps": {PROGRAM: config_map},
        "workers": {"tpu": {"generation": "v6e", "topology": "4x4", "image": image}},
    }


async def program(api: Api, name: str, path: Path) -> None:
    metadata = {"name": name, "namespace": NAMESPACE}
    data = {path.name: path.read_text()}  # noqa: ASYNC240
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    await api.request("POST", f"/api/v1/namespaces/{NAMESPACE}/configmaps", body=body)


async def proxy(api: Api, service: str, path: str, body: Any = None) -> Any:
    """What a Service of the cluster answers through the API server; nothing while it does not."""
    url = f"/api/v1/namespaces/{NAMESPACE}/services/http:{service}/proxy/{path}"
    try:
        return await api.request("POST" if body is not None else "GET", url, body=body)
    except (ApiError, json.JSONDecodeError):
        return {}
