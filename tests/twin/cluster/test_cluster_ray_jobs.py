"""RayJobs whose pods are simulated: a job has the state of the pod that submits it."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane.workloads import RayJobSpec, ray_job_manifest
from tpuplane_twin.cluster.api import Api

from tests.support.cluster.cluster_objects import RAY, MakePools, empty, slice_pool
from tests.support.eventually import eventually

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

END = "pod-complete.stage.kwok.x-k8s.io/delay"
CLUSTER = {
    "head": {"cpu": 1, "memoryGb": 2},
    "workers": {"tpu": {"generation": "v6e", "topology": "2x2", "slices": 1, "image": "rayproject/ray:2.52.0"}},
}
SUBMITTER = {"name": "submit", "image": "rayproject/ray:2.52.0", "resources": {"requests": {"cpu": "500m"}}}


def manifest(namespace: str, **spec: Any) -> dict[str, Any]:
    """A RayJob on one host."""
    job = {"cluster": {"namespace": namespace, **CLUSTER}, "entrypoint": "python train.py"}
    made = ray_job_manifest("train", RayJobSpec.model_validate(job))
    made["spec"] |= spec
    return made


async def reached(api: Api, namespace: str, *states: str) -> dict[str, Any]:
    """The RayJob's status, once it has one of these job statuses; no other than Ray's own comes before."""

    async def look() -> dict[str, Any] | None:
        status = (await api.request("GET", f"{RAY}/{namespace}/rayjobs/train")).get("status", {})
        assert status.get("jobStatus", "") in ("", "PENDING", "RUNNING", *states), status
        return status if status.get("jobStatus") in states else None

    found = await eventually(look)
    assert found is not None
    return found


@pytest.mark.parametrize("mode", ["K8sJobMode", "HTTPMode", "SidecarMode"])
async def test_a_simulated_job_runs_and_says_that_nothing_computes(
    api: Api, make_pools: MakePools, namespace: str, mode: str
) -> None:
    await make_pools(slice_pool("host", "ct6e-standard-4t", "2x2", 1))
    more = {} if mode == "K8sJobMode" else {"submitterPodTemplate": None, "backoffLimit": None, "submissionMode": mode}
    jobs = f"{RAY}/{namespace}/rayjobs"
    await api.request("POST", jobs, body=manifest(namespace, **more))
    status = await reached(api, namespace, "RUNNING")
    assert "nothing computes" in status["message"]
    await api.request("DELETE", f"{jobs}/train")
    await empty(api, namespace)


async def test_a_simulated_job_ends_with_the_pod_that_submits_it(
    api: Api, make_pools: MakePools, namespace: str
) -> None:
    await make_pools(slice_pool("host", "ct6e-standard-4t", "2x2", 1))
    template = {"metadata": {"annotations": {END: "1s"}}, "spec": {"restartPolicy": "Never", "containers": [SUBMITTER]}}
    jobs = f"{RAY}/{namespace}/rayjobs"
    await api.request("POST", jobs, body=manifest(namespace, submitterPodTemplate=template))
    await reached(api, namespace, "SUCCEEDED")

    async def complete() -> bool:
        status = (await api.request("GET", f"{jobs}/train"))["status"]
        return bool(status["jobDeploymentStatus"] == "Complete")

    await eventually(complete)
    await api.request("DELETE", f"{jobs}/train")
    await empty(api, namespace)
