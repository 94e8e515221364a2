"""Hosts that fail, are maintained, or are reclaimed: nodes, pods and operations, as on GKE."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tpuplane.status.reasons import helps

from tests.support.elasticity.elastic_twin import CLUSTER, LOCATION, PROJECT, ZONE, ElasticTwin, tpu_spec
from tests.support.eventually import eventually

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

Json = dict[str, Any]
MAINTENANCE = "cloud.google.com/active-node-maintenance"
TERMINATION = "cloud.google.com/impending-node-termination"


@pytest_asyncio.fixture(loop_scope="session", params=[{}])
async def pool(twin: ElasticTwin, namespace: str, request: pytest.FixtureRequest) -> AsyncIterator[str]:
    """A namespace, and a fixed slice of two hosts."""
    config = {"machineType": "ct6e-standard-4t", **request.param}
    body = {
        "name": "trainer",
        "initialNodeCount": 2,
        "locations": [ZONE],
        "config": config,
        "placementPolicy": {"type": "COMPACT", "tpuTopology": "2x4"},
        "management": {"autoRepair": True, "autoUpgrade": True},
    }
    await twin.google("POST", f"/v1beta1/{CLUSTER}/nodePools", {"nodePool": body})
    yield namespace
    await twin.delete_pool("trainer")


@pytest_asyncio.fixture(loop_scope="session")
async def trainer(twin: ElasticTwin, pool: str) -> str:
    """A Job in the namespace, with a pod on each host."""
    spec = job(backoffLimit=9)
    spec["template"]["spec"]["tolerations"] = [{"key": "cloud.google.com/gke-spot", "operator": "Exists"}]
    made = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}, "spec": spec}
    await twin.kubernetes.request("POST", JOBS.format(pool), body=made)
    await twin.running(pool, 2)
    return pool


JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets"
JOBS = "/apis/batch/v1/namespaces/{}/jobs"
IGNORED = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}
FAILED = {"rules": [{"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget"}]}]}
UNCOUNTED = {"action": "RestartJobSetAndIgnoreMaxRestarts", "onJobFailureReasons": ["PodFailurePolicy"]}


def job(**more: Any) -> Json:
    pod = {**tpu_spec("2x4", 4), "restartPolicy": "Never", "terminationGracePeriodSeconds": 5}
    indexed = {"completions": 2, "parallelism": 2, "completionMode": "Indexed", "backoffLimit": 0}
    return {**indexed, **more, "template": {"spec": pod}}


def jobset(policy: Json | None, **more: Any) -> Json:
    policies = {} if policy is None else {"failurePolicy": policy}
    return {**policies, "replicatedJobs": [{"name": "w", "template": {"spec": job(**more)}}]}


@pytest.mark.parametrize(
    ("url", "body", "help_"),
    [
        (JOBSETS, jobset(None), "A JobSet without spec.failurePolicy fails"),
        (JOBSETS, jobset({"maxRestarts": 0}), "Raise spec.failurePolicy.maxRestarts."),
        (JOBS, job(), "Raise backoffLimit:"),
        (JOBSETS, jobset({"maxRestarts": 0, "rules": [UNCOUNTED]}, podFailurePolicy=FAILED), ""),
        (JOBS, job(podFailurePolicy=IGNORED), ""),
    ],
    ids=["jobset", "jobset-restarts", "job", "jobset-advised", "job-advised"],
)
async def test_work_that_does_not_survive_maintenance_does_so_with_the_advice_of_why(
    twin: ElasticTwin, pool: str, url: str, body: Json, help_: str
) -> None:
    kind, version = ("JobSet", "jobset.x-k8s.io/v1alpha2") if url == JOBSETS else ("Job", "batch/v1")
    made = {"apiVersion": version, "kind": kind, "metadata": {"name": "work"}, "spec": body}
    await twin.kubernetes.request("POST", url.format(pool), body=made)
    before = {pod["metadata"]["uid"] for pod in await twin.running(pool, 2)}
    await begin(twin, "maintenance", "trainer/0")

    async def ended_or_runs_again() -> str:
        found = await twin.kubernetes.request("GET", f"{url.format(pool)}/work")
        states = found.get("status", {}).get("conditions", [])
        failed = [state for state in states if state["type"] == "Failed" and state["status"] == "True"]
        if failed:
            return f"{failed[0]['reason']}: {failed[0]['message']}"
        live = [pod for pod in await pods(twin, pool) if pod["status"].get("phase") == "Running"]
        return "runs" if len(live) == 2 and not {pod["metadata"]["uid"] for pod in live} & before else ""

    message = await eventually(ended_or_runs_again)
    assert [text[: len(help_)] for text in helps(message, {}, general=False)] == ([help_] if help_ else [])
    assert (message == "runs") == (not help_)
    await twin.kubernetes.request("DELETE", f"{url.format(pool)}/work", params={"propagationPolicy": "Background"})


async def begin(twin: ElasticTwin, kind: str, target: str, **more: str) -> Json:
    body = {"kind": kind, "scope": "host", "target": target, **more}
    async with twin.session.post(f"{twin.url}/twin/incidents", json=body) as response:
        answer: Json = await response.json()
        assert response.status == 200, answer
    return answer


async def rejected(twin: ElasticTwin, body: Json) -> str:
    async with twin.session.post(f"{twin.url}/twin/incidents", json=body) as response:
        assert response.status == 400
        return str((await response.json())["error"]["message"])


async def node(twin: ElasticTwin, name: str) -> Json:
    found = await twin.kubernetes.get("Node", name)
    assert found is not None
    return found


def ready(found: Json) -> str:
    (status,) = (state["status"] for state in found["status"]["conditions"] if state["type"] == "Ready")
    return str(status)


async def uids(twin: ElasticTwin) -> dict[str, str]:
    nodes = await twin.kubernetes.list("Node", labelSelector="cloud.google.com/gke-nodepool=trainer")
    return {found["metadata"]["name"]: found["metadata"]["uid"] for found in nodes}


async def operations(twin: ElasticTwin, kind: str) -> list[Json]:
    answer = await twin.google("GET", f"/v1beta1/{PROJECT}/locations/{LOCATION}/operations")
    return [found for found in answer["operations"] if found["operationType"] == kind]


async def pods(twin: ElasticTwin, namespace: str) -> list[Json]:
    return await twin.kubernetes.list("Pod", namespace)


async def test_gke_repairs_a_slice_as_a_whole_after_the_error_of_one_host(twin: ElasticTwin, trainer: str) -> None:
    before = await uids(twin)
    lost, other = before
    assert (await begin(twin, "host-error", lost))["hosts"] == [lost]

    async def stuck() -> bool:
        """Evicted, and not deleted: no kubelet has ended the pod."""
        on_lost = [pod for pod in await pods(twin, trainer) if pod["spec"].get("nodeName") == lost]
        return [bool(pod["metadata"].get("deletionTimestamp")) for pod in on_lost] == [True]

    await eventually(stuck)
    assert ready(await node(twin, lost)) == "Unknown"
    assert ready(await node(twin, other)) == "True"
    repairs = len(await operations(twin, "AUTO_REPAIR_NODES"))
    twin.pass_time(11)

    async def repaired() -> bool:
        after = await uids(twin)
        return after.keys() == before.keys() and not set(after.values()) & set(before.values())

    await eventually(repaired)
    await twin.running(trainer, 2)
    (*_, operation) = await operations(twin, "AUTO_REPAIR_NODES")
    assert operation["targetLink"].endswith("/nodePools/trainer")
    assert len(await operations(twin, "AUTO_REPAIR_NODES")) == repairs + 1


async def test_a_jobset_whose_job_waits_for_the_pod_of_a_lost_host_runs_again_after_the_repair(
    twin: ElasticTwin, pool: str
) -> None:
    policy = {"maxRestarts": 0, "rules": [UNCOUNTED]}
    spec = jobset(policy, podFailurePolicy=FAILED)
    made = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "work"}, "spec": spec}
    await twin.kubernetes.request("POST", JOBSETS.format(pool), body=made)
    before = {pod["metadata"]["uid"] for pod in await twin.running(pool, 2)}
    nodes = await uids(twin)
    await begin(twin, "host-error", "trainer/0")

    async def repaired() -> bool:
        twin.pass_time(11)
        after = await uids(twin)
        return len(after) == 2 and not set(after.values()) & set(nodes.values())

    await eventually(repaired, pause=0.7)
    after = {pod["metadata"]["uid"] for pod in await twin.running(pool, 2)}
    assert not after & before


async def test_a_deleted_host_of_a_slice_is_created_with_all_others(twin: ElasticTwin, trainer: str) -> None:
    before = await uids(twin)
    await twin.kubernetes.delete("Node", next(iter(before)))

    async def repaired() -> bool:
        twin.pass_time(11)
        after = await uids(twin)
        return len(after) == 2 and not set(after.values()) & set(before.values())

    await eventually(repaired, pause=0.7)
    await twin.running(trainer, 2)


async def test_maintenance_of_a_host_ends_the_pods_of_its_slice_and_the_nodes_return(
    twin: ElasticTwin, trainer: str
) -> None:
    before = await uids(twin)
    first = next(iter(before))
    assert sorted((await begin(twin, "maintenance", "trainer/0", notice="20h"))["hosts"]) == sorted(before)

    async def announced() -> bool:
        labels = (await node(twin, first))["metadata"]["labels"]
        return "cloud.google.com/scheduled-maintenance-time" in labels

    await eventually(announced)
    assert len([pod for pod in await pods(twin, trainer) if pod["status"]["phase"] == "Running"]) == 2
    label = {"metadata": {"labels": {"cloud.google.com/perform-maintenance": "true"}}}
    await twin.kubernetes.merge("Node", first, label)
    seen: set[str] = set()

    async def over() -> bool:
        found = await node(twin, first)
        labels = found["metadata"]["labels"]
        seen.update(taint["key"] for taint in found["spec"].get("taints", []))
        seen.update({labels.get(MAINTENANCE, ""), f"Ready={ready(found)}"})
        for pod in await pods(twin, trainer):
            states = pod["status"].get("conditions", [])
            seen.update(state["reason"] for state in states if state["type"] == "DisruptionTarget")
        over = MAINTENANCE not in labels and "ONGOING" in seen
        return over and ready(found) == "True" and found["status"]["allocatable"]["google.com/tpu"] == "4"

    await eventually(over, pause=0.05)
    assert {"ONGOING", TERMINATION, "TerminationByKubelet", "Ready=Unknown"} <= seen
    assert "cloud.google.com/maintenance-window-started" in seen
    assert await uids(twin) == before
    await eventually(lambda: _two_run(twin, trainer))


async def test_a_host_that_recovers_in_time_is_not_repaired(twin: ElasticTwin, trainer: str) -> None:
    before = await uids(twin)
    await begin(twin, "host-error", "trainer/1")
    lost = (await begin(twin, "host-error", "trainer/1"))["hosts"][0]
    await eventually(lambda: _is_ready(twin, lost, "Unknown"))
    await begin(twin, "recovery", lost)
    await eventually(lambda: _is_ready(twin, lost, "True"))
    healthy = {state["type"]: state["status"] for state in (await node(twin, lost))["status"]["conditions"]}
    assert healthy == {"Ready": "True", **dict.fromkeys(healthy.keys() - {"Ready"}, "False")}
    twin.pass_time(11)
    await eventually(lambda: _two_run(twin, trainer))
    assert await uids(twin) == before


async def test_a_recovery_waits_until_the_api_server_can_write(
    twin: ElasticTwin, trainer: str, caplog: pytest.LogCaptureFixture
) -> None:
    lost = (await begin(twin, "host-error", "trainer/1"))["hosts"][0]
    await eventually(lambda: _is_ready(twin, lost, "Unknown"))
    (plane,) = twin.fleet.planes.values()
    await plane.etcd_alarms("ACTIVATE", "NOSPACE")
    try:
        await begin(twin, "recovery", lost)
        await eventually(lambda: "trying again" in caplog.text)
        assert ready(await node(twin, lost)) == "Unknown"
    finally:
        await plane.etcd_alarms("DEACTIVATE", "NOSPACE")

    async def with_chips() -> bool:
        found = await node(twin, lost)
        return ready(found) == "True" and found["status"]["allocatable"]["google.com/tpu"] == "4"

    await eventually(with_chips)
    await eventually(lambda: _two_run(twin, trainer))


@pytest.mark.parametrize("pool", [{"spot": True}], indirect=True)
async def test_a_spot_slice_without_capacity_is_in_error_for_good(twin: ElasticTwin, trainer: str) -> None:
    stockout = {"zone": ZONE, "generation": "v6e", "capacity": "spot"}
    async with twin.session.post(f"{twin.url}/twin/stockouts", json=stockout) as response:
        assert response.status == 200
    try:
        async with twin.session.post(f"{twin.url}/twin/reclaim", json={"pool": "trainer"}) as response:
            assert "GCE_STOCKOUT" in (await response.json())["error"]
    finally:
        async with twin.session.delete(f"{twin.url}/twin/stockouts") as response:
            assert response.status == 200
    async with twin.session.get(f"{twin.url}/v1beta1/{CLUSTER}/nodePools/trainer") as response:
        pool = await response.json()
    assert pool["status"] == "ERROR"
    assert pool["conditions"][0]["canonicalCode"] == "RESOURCE_EXHAUSTED"
    twin.pass_time(11)
    assert await twin.nodes("trainer") == []
    ended = [pod for pod in await pods(twin, trainer) if pod["status"]["phase"] == "Failed"]
    assert {pod["status"]["reason"] for pod in ended} == {"Terminated"}


async def test_unknown_hosts_are_rejected_with_the_nearest(twin: ElasticTwin, trainer: str) -> None:
    body = {"kind": "host-error", "scope": "host"}
    assert "the nearest is 'trainer'" in await rejected(twin, {**body, "target": "trianer/0"})
    assert await rejected(twin, {**body, "target": "trainer/7"}) == (
        "'trainer/7' is not a host; the hosts of 'trainer': trainer/0, trainer/1"
    )
    assert await rejected(twin, {**body, "target": "trainer"}) == (
        "the node pool 'trainer' has several hosts; name one of them: trainer/0, trainer/1"
    )
    assert await rejected(twin, {"kind": "fire", "target": "trainer/0"}) == (
        "'fire' is not an incident; allowed: host-error, maintenance, recovery"
    )
    assert "notice: '15' is not a duration" in await rejected(
        twin, {"kind": "maintenance", "target": "trainer/0", "notice": "15"}
    )


async def _two_run(twin: ElasticTwin, namespace: str) -> bool:
    return len([pod for pod in await pods(twin, namespace) if pod["status"].get("phase") == "Running"]) == 2


async def _is_ready(twin: ElasticTwin, name: str, status: str) -> bool:
    return ready(await node(twin, name)) == status
