"""Queued capacity with real Kueue: a job gets its whole slice, runs on it, and the slice is deleted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tpuplane.status.owners import Owners
from tpuplane.status.queues import describe_queues
from tpuplane.status.reasons import helps, in_plain_words

from tests.support.elasticity.elastic_twin import CLUSTER, ZONE, ElasticTwin
from tests.support.elasticity.queued_team import QueuedTeam, planned
from tests.support.eventually import eventually
from tests.support.status.api_server import parsed

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

Json = dict[str, Any]
POOL = "later-0"
FLAVOR = "v6e-4x4-flex-start-queued"
SCARCE = {"zone": ZONE, "generation": "v6e", "capacity": "flex-start"}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def research(twin: ElasticTwin) -> AsyncIterator[QueuedTeam]:
    found = QueuedTeam(twin, planned())
    await found.make()
    yield found
    await found.remove()


@pytest_asyncio.fixture(loop_scope="session")
async def team(research: QueuedTeam) -> AsyncIterator[QueuedTeam]:
    """A team with two slices that it could have, and no work yet."""
    yield research
    await research.twin.end_shortages()
    await research.clear()


async def stockouts(twin: ElasticTwin, method: str, body: Json | None = None) -> None:
    async with twin.session.request(method, f"{twin.url}/twin/stockouts", json=body) as answer:
        assert answer.status == 200, await answer.text()


async def test_a_job_waits_for_its_slice_and_then_has_it_alone(team: QueuedTeam) -> None:
    twin = team.twin
    await stockouts(twin, "POST", SCARCE)
    await team.submit("train", seconds=1)
    check = await team.check("does not have enough resources")
    assert (check["name"], check["state"]) == (FLAVOR, "Pending")
    assert ZONE in check["message"]
    assert await twin.nodes(POOL) == []
    assert await twin.kubernetes.list("Pod", team.namespace) == []
    kinds = {"queues": "ClusterQueue", "local_queues": "LocalQueue", "workloads": "Workload"}
    lists = {name: parsed(name, await twin.kubernetes.list(kind)) for name, kind in kinds.items()}
    (queue,) = describe_queues(**lists, pods=(), nodes=(), owners=Owners({}))
    assert [(work["job"], work["state"]) for work in queue["workloads"]] == [("train", "waiting")]

    await stockouts(twin, "DELETE", SCARCE)
    twin.pass_time(11)
    request = await team.request("Provisioned")
    nodes = await team.labelled(request)
    assert nodes == await twin.nodes(POOL)
    assert len(nodes) == 4
    assert request["spec"]["parameters"] == {"maxRunDurationSeconds": "43200"}
    await team.condition("Admitted")
    (assigned,) = (await team.workload())["status"]["admission"]["podSetAssignments"]
    assert assigned["delayedTopologyRequest"] == "Ready"
    assert assigned["topologyAssignment"]["levels"][-1] == "kubernetes.io/hostname"
    await team.condition("Finished")
    used = {pod["spec"]["nodeName"] for pod in await twin.kubernetes.list("Pod", team.namespace)}
    assert used == set(nodes)

    async def requests() -> list[Json]:
        return await twin.kubernetes.list("ProvisioningRequest", team.namespace)

    await eventually(requests, lambda left: not left)  # Kueue deletes the request of finished work
    await twin.idle_since_noticed(POOL, 0)


async def test_a_job_waits_for_the_quota_of_the_project_and_is_told_so(team: QueuedTeam) -> None:
    twin = team.twin
    await twin.limit_quota("flex-start", 8)
    await team.submit("train")
    check = await team.check("exceeded")
    told = in_plain_words(f"has its quota, and waits for {check['name']} ({check['message']})")
    start = f"has its quota, and waits for hosts of {FLAVOR}: Google Cloud allows the project 8 chips in us-east5 ("
    assert told.startswith(start)
    (help,) = helps(told, {}, general=False)
    assert help.startswith("Request more of Google Cloud's quota ")
    await twin.limit_quota()
    twin.pass_time(11)
    await team.condition("Admitted")


async def test_a_job_whose_hosts_time_is_over_is_ended_and_not_started_again(team: QueuedTeam) -> None:
    twin = team.twin
    await team.submit("endless")
    await team.condition("Admitted")
    assert len(await twin.running(team.namespace, 4)) == 4
    await team.expired()
    assert len(await twin.nodes(POOL)) == 4  # its pods keep them
    twin.pass_time(43_200)
    await twin.resized(POOL, 0)

    async def deactivated() -> bool:
        return (await team.workload())["spec"].get("active") is False

    # Kueue does so once it has seen the request's CapacityRevoked; then it deletes the request at once.
    await eventually(deactivated)
    told = in_plain_words(await team.condition("Evicted"))
    # Kueue may see that the hosts are gone before it sees the request's condition.
    lost = told.startswith("Workload eviction triggered due to multiple TAS assigned node failures")
    assert lost or told.startswith(f'failed, because an admission check of its queue rejected it: "{FLAVOR}" (')


async def test_a_job_that_no_pool_can_hold_gives_back_its_quota_and_is_tried_again(team: QueuedTeam) -> None:
    await team.submit("wide", hosts=8)
    await team.request("Accepted", "NotAccepted")
    team.twin.pass_time(121)
    await team.request("Failed", "ProvisioningRequestSingleZoneInfeasible")
    assert (await team.check("Previously: Retry"))["retryCount"] == 1
    assert (await team.workload())["spec"].get("active", True)
    assert await team.twin.nodes(POOL) == []


async def test_nodes_keep_the_name_of_their_request_when_their_pool_is_relabelled(team: QueuedTeam) -> None:
    twin = team.twin
    await team.submit("train")
    await team.condition("Admitted")
    before = await team.labelled(await team.request("Provisioned"))
    labels = {"labels": {"labels": {**planned().tpu_pools[0].node_labels, "team": "research"}}}
    await twin.google("PUT", f"/v1beta1/{CLUSTER}/nodePools/{POOL}", labels)
    assert await team.labelled(await team.request("Provisioned")) == before
    nodes = await twin.kubernetes.list("Node", labelSelector="team=research")
    assert sorted(node["metadata"]["name"] for node in nodes) == before
