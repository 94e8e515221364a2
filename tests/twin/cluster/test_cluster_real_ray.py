"""Ray's pods as real Ray processes: what KubeRay makes comes up, finishes and answers. The examples' own programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tpuplane.workloads import RayJobSpec, RayServiceSpec, ray_job_manifest, ray_service_manifest
from tpuplane_twin.cluster.api import Api, Object

from tests.support.cluster.cluster_objects import RAY, Cluster, ray_sample
from tests.support.cluster.real_ray import EXAMPLES, NAMESPACE, PATIENCE, PROGRAM, cluster, ended, program, proxy
from tests.support.eventually import eventually

pytestmark = [pytest.mark.ray, pytest.mark.asyncio(loop_scope="session")]


async def test_kuberays_sample_is_a_ray_cluster_of_a_head_and_a_whole_slice(with_ray: Cluster, research: Api) -> None:
    sample = ray_sample(with_ray.tools.module("kuberay"), "ray-cluster.tpu-v6e-16-multihost.yaml")
    await research.request("POST", f"{RAY}/{NAMESPACE}/rayclusters", body=sample)
    name = sample["metadata"]["name"]

    async def alive() -> list[Object]:
        found = await proxy(research, f"{name}-head-svc:8265", "api/v0/nodes?detail=1")
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
        cluster = await research.request("GET", f"{RAY}/{NAMESPACE}/rayclusters/{name}")
        return bool(cluster.get("status", {}).get("state") == "ready")

    await eventually(ready, within=PATIENCE)


async def test_a_ray_job_trains_on_a_slice_and_succeeds(with_ray: Cluster, research: Api) -> None:
    await program(research, "train", EXAMPLES / "ray-train" / "train.py")
    job = {"cluster": cluster("train"), "entrypoint": f"python {PROGRAM}/train.py", "keep_seconds": 0}
    job["cluster"] |= {"buckets": {"/checkpoints": "checkpoints"}}
    manifest = ray_job_manifest("fit", RayJobSpec.model_validate(job))
    await research.request("POST", f"{RAY}/{NAMESPACE}/rayjobs", body=manifest)

    status = await ended(research, "fit")
    assert (status["jobDeploymentStatus"], status["jobStatus"]) == ("Complete", "SUCCEEDED"), status
    said = "".join(path.read_text() for path in (with_ray.folder / "logs").glob(f"pod-{NAMESPACE}_fit-*.log"))
    assert "'devices': 16" in said
    assert "'processes': 4" in said


async def test_a_ray_service_answers(with_ray: Cluster, research: Api) -> None:
    await program(research, "serve", EXAMPLES / "ray-serve" / "app.py")
    service = {"cluster": cluster("serve"), "serve_config": (EXAMPLES / "ray-serve" / "serve.yaml").read_text()}
    manifest = ray_service_manifest("softmax", RayServiceSpec.model_validate(service))
    await research.request("POST", f"{RAY}/{NAMESPACE}/rayservices", body=manifest)

    async def answer() -> Any:
        return await proxy(research, "softmax-serve-svc:8000", "", body=[0, 0])

    found = await eventually(answer, within=PATIENCE)
    assert found["softmax"] == [0.5, 0.5]
    assert len(found["devices"]) == 4


async def test_rays_autoscaler_brings_a_whole_slice_for_work_on_all_of_its_hosts_and_gives_it_back(
    with_ray: Cluster, research: Api
) -> None:
    await program(research, "gang", Path(__file__).with_name("gang.py"))
    workers = cluster("gang")["workers"]
    workers["tpu"] |= {"slices": 0, "max_slices": 1}
    scaled = cluster("gang", workers=workers, autoscaling=True, idle_timeout_seconds=10)
    # The cluster stays after the job, and its autoscaler with it.
    job = {"cluster": scaled, "entrypoint": f"python {PROGRAM}/gang.py", "keep_seconds": 3600}
    manifest = ray_job_manifest("gang", RayJobSpec.model_validate(job))
    await research.request("POST", f"{RAY}/{NAMESPACE}/rayjobs", body=manifest)

    assert (await ended(research, "gang"))["jobStatus"] == "SUCCEEDED"
    said = "".join(path.read_text() for path in (with_ray.folder / "logs").glob(f"pod-{NAMESPACE}_gang-*.log"))
    assert "placed [('tpu-0', 0), ('tpu-0', 1), ('tpu-0', 2), ('tpu-0', 3)]" in said

    async def given_back() -> bool:
        (found,) = (await research.request("GET", f"{RAY}/{NAMESPACE}/rayclusters"))["items"]
        pods = await research.list("Pod", NAMESPACE, labelSelector="ray.io/node-type=worker")
        return found["spec"]["workerGroupSpecs"][0]["replicas"] == 0 and not pods

    await eventually(given_back, within=PATIENCE)
    heads = await research.list("Pod", NAMESPACE, labelSelector="ray.io/node-type=head")
    assert [pod["status"]["phase"] for pod in heads] == ["Running"]
