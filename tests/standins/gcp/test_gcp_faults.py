"""Faults of Google's API: what the provider retries by itself, and what it reports with the cause."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from aiohttp import web
from tpuplane_standins.providers.contract import InitFailed, ProviderError

from tests.support.eventually import wait_until
from tests.support.providers.gcp_driver import CLUSTER, NODE_POOL, Deployed, Driver, cluster_inputs, pool_inputs
from tests.support.providers.google_api import GoogleApi, Handler

pytestmark = pytest.mark.twin

POOLS = "/v1beta1/projects/acme/locations/us-central1/clusters/c1/nodePools"


def creations(api: GoogleApi, name: str = "slice") -> int:
    """How often the creation of the pool was requested."""
    posts = [request for request in api.requests if (request.method, request.path) == ("POST", POOLS)]
    return len([post for post in posts if post.body["nodePool"]["name"] == name])


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    "kind", ["incompatible-operation", "rate-limit", "too-many-operations", "internal", "unavailable"]
)
def test_what_passes_is_retried(api: GoogleApi, driver: Driver, kind: str) -> None:
    api.fault(kind, "nodePools.create", count=2)
    assert driver.create(NODE_POOL, "slice", **pool_inputs()).state["name"] == "slice"
    assert creations(api) == 3


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("quota", "Error 403: Insufficient regional quota to satisfy request: resource .*, forbidden"),
        ("already-exists", "Error 409: Already exists: .*/nodePools/slice., alreadyExists"),
        ("cut", f"POST .*{POOLS}"),
        ("operation-fails-absent", r"Error waiting for creating GKE NodePool: .*\[GCE_QUOTA_EXCEEDED\]"),
    ],
)
def test_what_remains_is_reported_and_the_next_up_succeeds(
    api: GoogleApi, driver: Driver, kind: str, message: str
) -> None:
    api.fault(kind, "nodePools.create", resource="nodePools/slice")
    with pytest.raises(ProviderError, match=message):
        driver.create(NODE_POOL, "slice", **pool_inputs())
    assert creations(api) == 1
    driver.create(NODE_POOL, "slice", **pool_inputs())


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(("kind", "status"), [("running-with-error", "RUNNING_WITH_ERROR"), ("error", "ERROR")])
def test_a_pool_in_error_is_reported_and_stays_in_the_state(
    api: GoogleApi, driver: Driver, kind: str, status: str
) -> None:
    api.fault(f"operation-fails-{kind}", "nodePools.create")
    kept, message = driver.broken(NODE_POOL, "slice", **pool_inputs())
    assert f'was created in the error state "{status}"' in message
    driver.delete(kept)


@pytest.mark.usefixtures("cluster")
def test_a_failed_operation_with_a_running_pool_is_a_success(api: GoogleApi, driver: Driver) -> None:
    api.fault("operation-fails-running", "nodePools.create")
    driver.create(NODE_POOL, "slice", **pool_inputs())


@pytest.mark.usefixtures("cluster")
def test_other_changes_wait_for_an_operation_that_holds_the_cluster(api: GoogleApi, driver: Driver) -> None:
    api.fault("operation-hangs", "nodePools.create", resource="nodePools/slice")
    with ThreadPoolExecutor() as threads:
        slice_ = threads.submit(driver.create, NODE_POOL, "slice", **pool_inputs())
        wait_until(lambda: creations(api) == 1)
        system = threads.submit(driver.create, NODE_POOL, "system", **pool_inputs(name="system"))
        wait_until(lambda: creations(api, "system") >= 2)
        assert not slice_.done()
        api.clear_faults()
        assert slice_.result().state["name"] == "slice"
        assert system.result().state["name"] == "system"


@pytest.mark.usefixtures("subnetwork")
def test_a_cluster_in_error_is_reported_and_can_be_deleted(api: GoogleApi, driver: Driver) -> None:
    api.fault("operation-fails-error", "clusters.create")
    kept, message = driver.broken(CLUSTER, "c1", **cluster_inputs())
    assert "Error waiting for creating GKE cluster: Insufficient quota" in message
    driver.delete(kept)
    driver.create(CLUSTER, "c1", **cluster_inputs())


def test_an_update_that_aborts_is_reported_and_repeated(api: GoogleApi, driver: Driver, cluster: Deployed) -> None:
    del cluster
    pool = driver.create(NODE_POOL, "slice", **pool_inputs())
    api.fault("operation-aborts", "nodePools.update")
    labels = {**pool_inputs()["nodeConfig"], "labels": {"a": "b"}}
    with pytest.raises(InitFailed, match="Operation was aborted"):
        driver.update(pool, nodeConfig=labels)
    updated = driver.update(pool, nodeConfig=labels)
    assert updated.state["nodeConfig"]["labels"] == {"a": "b"}


@pytest.mark.parametrize(("lost", "passes"), [(2, True), (3, False)])
def test_a_lost_answer_to_a_read_is_asked_for_again(
    api: GoogleApi, driver: Driver, cluster: Deployed, lost: int, passes: bool
) -> None:
    async def drop(request: web.Request, handler: Handler) -> web.StreamResponse:
        if len(api.requests) <= lost and request.transport is not None:
            request.transport.close()
        return await handler(request)

    api.requests.clear()
    api.meet = drop
    if passes:
        assert driver.refresh(cluster) is not None
    else:
        with pytest.raises(ProviderError, match=r"GET .*/clusters/c1"):
            driver.refresh(cluster)
