"""The failure policies of JobSet that its own suite tests, on the twin: docs/fidelity.md lists the published cases."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane_twin.cluster.api import Api, Object

from tests.support.cluster.cluster_objects import JOBSETS, Cluster, MakePools, empty, running_pods, slice_pool
from tests.support.eventually import eventually

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

FAILS = "pod-container-running-failed.stage.kwok.x-k8s.io"
RESTART = {"name": "again", "action": "RestartJobSet", "targetReplicatedJobs": ["first"]}
FAIL = {"name": "end", "action": "FailJobSet", "targetReplicatedJobs": ["first"]}


def program(rules: list[Object] | None) -> Object:
    """Two jobs of one pod. Without rules, the JobSet has no failure policy."""
    container = {"name": "train", "image": "python:3.11"}
    pod = {"restartPolicy": "Never", "containers": [container], "tolerations": [{"operator": "Exists"}]}
    job = {"template": {"spec": {"backoffLimit": 0, "template": {"spec": pod}}}}
    policy = {} if rules is None else {"failurePolicy": {"maxRestarts": 2, "rules": rules}}
    spec = {"replicatedJobs": [{"name": name, **job} for name in ("first", "second")], **policy}
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "train"}, "spec": spec}


@pytest.mark.parametrize(
    ("rules", "job", "reason"),
    [
        (None, "first", "FailedJobs"),
        ([FAIL], "first", "FailJobSetFailurePolicyAction"),
        ([FAIL], "second", ""),
        ([RESTART, FAIL], "first", ""),
        ([FAIL, RESTART], "first", "FailJobSetFailurePolicyAction"),
    ],
    ids=["no policy", "a rule ends it", "another job restarts it", "the first rule restarts", "the first rule ends"],
)
async def test_a_failed_job_has_the_effect_of_its_policy(
    cluster: Cluster, make_pools: MakePools, api: Api, namespace: str, rules: list[Object] | None, job: str, reason: str
) -> None:
    await make_pools(slice_pool("slice-a", "ct6e-standard-4t", "4x4", 4))
    url = f"{JOBSETS}/{namespace}/jobsets"
    await api.request("POST", url, body=program(rules))
    pods = await running_pods(api, namespace, 2)
    (pod,) = (found for found in pods if found["metadata"]["labels"]["jobset.sigs.k8s.io/replicatedjob-name"] == job)
    await cluster.kubectl("label", "pod", "-n", namespace, pod["metadata"]["name"], f"{FAILS}=true")

    async def outcome() -> tuple[str, int] | None:
        status: dict[str, Any] = (await api.request("GET", f"{url}/train")).get("status", {})
        failed = [found["reason"] for found in status.get("conditions", ()) if found["type"] == "Failed"]
        restarts = status.get("restarts", 0)
        return ("".join(failed), restarts) if failed or restarts else None

    assert await eventually(outcome) == (reason, 0 if reason else 1)
    if not reason:  # all jobs were created again
        again = await running_pods(api, namespace, 2)
        assert not {found["metadata"]["uid"] for found in again} & {found["metadata"]["uid"] for found in pods}
    await api.request("DELETE", f"{url}/train")
    await empty(api, namespace)
