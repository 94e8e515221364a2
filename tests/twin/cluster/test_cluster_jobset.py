"""JobSets and Jobs on slices: one slice each, every host told who it is, and an end where one was asked for."""

from __future__ import annotations

import pytest
from tpuplane_twin.cluster.api import Api

from tests.support.cluster.cluster_objects import (
    JOBSETS,
    Cluster,
    MakePools,
    empty,
    environment,
    eventually,
    jobset,
    pools_of,
    running_pods,
    slice_pool,
)

RUN_FOR = "pod-complete.stage.kwok.x-k8s.io/delay"

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]


async def test_each_job_of_an_exclusive_jobset_has_a_slice_of_its_own(
    cluster: Cluster, make_pools: MakePools, api: Api, namespace: str
) -> None:
    for name in ("slice-a", "slice-b"):
        await make_pools(slice_pool(name, "ct6e-standard-4t", "4x4", 4))
    for _ in range(3):
        await api.request("POST", f"{JOBSETS}/{namespace}/jobsets", body=jobset("train", "4x4", 4, 2))
        pods = await running_pods(api, namespace, 8)
        placed = await pools_of(api, pods)
        used = {}
        for index in ("0", "1"):
            label = "jobset.sigs.k8s.io/job-index"
            mine = [pod for pod in pods if pod["metadata"]["labels"][label] == index]
            (used[index],) = {placed[pod["metadata"]["name"]] for pod in mine}
            names = ",".join(f"train-slice-{index}-{host}.train" for host in range(4))
            for pod in mine:
                variables = environment(pod)
                host = pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"]
                assert variables == {
                    "JOB_COMPLETION_INDEX": "",
                    "TPU_WORKER_ID": host,
                    "TPU_WORKER_HOSTNAMES": names,
                    "MEGASCALE_NUM_SLICES": "2",
                    "MEGASCALE_SLICE_ID": index,
                    "MEGASCALE_COORDINATOR_ADDRESS": "train-slice-0-0.train",
                }
                assert f"{pod['spec']['hostname']}.{pod['spec']['subdomain']}" == names.split(",")[int(host)]
        assert sorted(used.values()) == ["slice-a", "slice-b"]
        await api.request("DELETE", f"{JOBSETS}/{namespace}/jobsets/train")
        await empty(api, namespace)


async def test_a_deleted_pod_of_a_job_with_a_failure_policy_goes(
    cluster: Cluster, make_pools: MakePools, api: Api, namespace: str
) -> None:
    """Its controller lets a deleted pod go only once the pod has ended, as every published training manifest has it."""
    await make_pools(slice_pool("slice-a", "ct6e-standard-4t", "4x4", 4))
    body = jobset("train", "4x4", 4, 1)
    (job,) = body["spec"]["replicatedJobs"]
    rule = {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [42]}}
    job["template"]["spec"]["podFailurePolicy"] = {"rules": [rule]}
    await api.request("POST", f"{JOBSETS}/{namespace}/jobsets", body=body)
    pod, *_ = await running_pods(api, namespace, 4)
    await api.delete("Pod", pod["metadata"]["name"], namespace)

    async def look() -> bool:
        return pod["metadata"]["uid"] not in {
            manifest["metadata"]["uid"] for manifest in await api.list("Pod", namespace)
        }

    assert await eventually(look)


async def test_training_ends_when_its_annotation_says_so(
    cluster: Cluster, make_pools: MakePools, api: Api, namespace: str
) -> None:
    await make_pools(slice_pool("slice-a", "ct6e-standard-4t", "4x4", 4))
    url = f"{JOBSETS}/{namespace}/jobsets"
    await api.request("POST", url, body=jobset("train", "4x4", 4, 1, **{RUN_FOR: "300ms"}))

    async def completed() -> bool:
        status = (await api.request("GET", f"{url}/train")).get("status", {})
        return bool(status.get("terminalState") == "Completed")

    await eventually(completed)
    await api.request("DELETE", f"{url}/train")
    await empty(api, namespace)
