"""Upgrades and their rollback, and the rotation of a cluster's credentials."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.support.gcp.twin_api import CLUSTERS, Api

pytestmark = pytest.mark.twin

CLUSTER = f"{CLUSTERS}/c1"
POOL = f"{CLUSTER}/nodePools/p"
OLD, NEW = "1.35.4-gke.1000000", "1.35.4-gke.1200000"


def exclusion(scope: str) -> dict[str, Any]:
    times = {"startTime": "2020-01-01T00:00:00Z", "endTime": "2020-01-08T00:00:00Z"}
    if scope != "NO_UPGRADES":
        times["endTime"] = "2120-01-08T00:00:00Z"
    return {"maintenanceExclusions": {"run": {**times, "maintenanceExclusionOptions": {"scope": scope}}}}


async def add_pool(api: Api, **fields: Any) -> None:
    await api.done("POST", f"{CLUSTER}/nodePools", {"nodePool": {"name": "p", "initialNodeCount": 1, **fields}})


async def test_the_upgrade_info_of_a_cluster(cluster: Api) -> None:
    found = await cluster.call("GET", f"{CLUSTER}:fetchClusterUpgradeInfo")
    assert found == {"autoUpgradeStatus": ["ACTIVE"], "upgradeDetails": []}
    await cluster.done("PUT", CLUSTER, {"update": {"desiredReleaseChannel": {"channel": "RAPID"}}})
    found = await cluster.call("GET", f"{CLUSTER}:fetchClusterUpgradeInfo")
    assert found["minorTargetVersion"] == "1.36.3-gke.1000000"
    await cluster.done("POST", f"{CLUSTER}:updateMaster", {"masterVersion": NEW})
    found = await cluster.call("GET", f"{CLUSTER}:fetchClusterUpgradeInfo")
    (past,) = found["upgradeDetails"]
    assert past["startTime"] <= past["endTime"]
    assert (past["initialVersion"], past["targetVersion"]) == (OLD, NEW)
    assert (past["state"], past["startType"]) == ("SUCCEEDED", "MANUAL")


async def test_the_node_version_of_a_cluster_is_its_oldest(cluster: Api) -> None:
    oldest = "1.34.6-gke.1100000"
    await add_pool(cluster)
    body = {"name": "zoned", "initialNodeCount": 1, "version": oldest}
    await cluster.done("POST", f"{CLUSTER}/nodePools", {"nodePool": body})
    assert (await cluster.call("GET", CLUSTER))["currentNodeVersion"] == oldest
    await cluster.done("PUT", f"{CLUSTER}/nodePools/zoned", {"nodeVersion": "-"})
    assert (await cluster.call("GET", CLUSTER))["currentNodeVersion"] == OLD


async def test_the_upgrade_info_of_a_pool(cluster: Api) -> None:
    await add_pool(cluster, version="1.34.6-gke.1100000")
    found = await cluster.call("GET", f"{POOL}:fetchNodePoolUpgradeInfo")
    assert (found["minorTargetVersion"], found["upgradeDetails"]) == (OLD, [])
    await cluster.done("PUT", POOL, {"nodeVersion": "-"})
    found = await cluster.call("GET", f"{POOL}:fetchNodePoolUpgradeInfo")
    assert "minorTargetVersion" not in found
    assert [upgrade_detail["targetVersion"] for upgrade_detail in found["upgradeDetails"]] == [OLD]


@pytest.mark.parametrize(
    ("scope", "of_cluster", "of_pool"),
    [
        ("NO_MINOR_UPGRADES", "MINOR_UPGRADE_PAUSED", "MINOR_UPGRADE_PAUSED"),
        ("NO_MINOR_OR_NODE_UPGRADES", "MINOR_UPGRADE_PAUSED", "UPGRADE_PAUSED"),
        ("NO_UPGRADES", "ACTIVE", "ACTIVE"),  # it is over
    ],
)
async def test_an_exclusion_holds_upgrades(cluster: Api, scope: str, of_cluster: str, of_pool: str) -> None:
    await add_pool(cluster)
    policy = {"maintenancePolicy": {"window": exclusion(scope)}}
    await cluster.done("POST", f"{CLUSTER}:setMaintenancePolicy", policy)
    found = await cluster.call("GET", f"{CLUSTER}:fetchClusterUpgradeInfo")
    assert found["autoUpgradeStatus"] == [of_cluster]
    assert (await cluster.call("GET", f"{POOL}:fetchNodePoolUpgradeInfo"))["autoUpgradeStatus"] == [of_pool]
    assert found.get("pausedReason") == (
        None if of_cluster == "ACTIVE" else ["MAINTENANCE_EXCLUSION_NO_MINOR_UPGRADES"]
    )


async def test_an_update_that_failed_is_rolled_back(cluster: Api) -> None:
    await add_pool(cluster, version="1.34.6-gke.1100000")
    before = await cluster.call("GET", POOL)
    cluster.backend.reject["p"] = "no room"
    failed = await cluster.wait(await cluster.call("PUT", POOL, {"nodeVersion": OLD}))
    assert failed["statusMessage"] == "no room"
    assert (await cluster.call("GET", POOL))["version"] == OLD
    state = (await cluster.call("GET", f"{POOL}:fetchNodePoolUpgradeInfo"))["upgradeDetails"][0]["state"]
    assert state == "FAILED"
    cluster.backend.reject.clear()
    operation = await cluster.done("POST", f"{POOL}:rollback", {"respectPdb": True})
    assert operation["operationType"] == "UPGRADE_NODES"
    assert await cluster.call("GET", POOL) == before
    assert cluster.backend.applied["p"]["version"] == "1.34.6-gke.1100000"


async def test_a_rollback_after_a_success_changes_nothing(cluster: Api) -> None:
    await add_pool(cluster)
    await cluster.done("PUT", POOL, {"tags": {"tags": ["t"]}})
    before = await cluster.call("GET", POOL)
    await cluster.done("POST", f"{POOL}:rollback", {})
    assert await cluster.call("GET", POOL) == before
    assert await cluster.call("POST", f"{POOL}:completeUpgrade", {}) == {}
    await cluster.rejected("POST", f"{CLUSTER}/nodePools/q:rollback", {}, 404)


async def certificates(api: Api) -> str:
    found = await api.call("GET", CLUSTER)
    return base64.b64decode(found["masterAuth"]["clusterCaCertificate"]).decode()


async def test_credentials_are_rotated(cluster: Api) -> None:
    seen = [await certificates(cluster)]
    for step in ("startIpRotation", "startIpRotation", "completeIpRotation", "completeIpRotation", "startIpRotation"):
        body = {"rotateCredentials": True} if step == "startIpRotation" else {}
        await cluster.done("POST", f"{CLUSTER}:{step}", body)
        seen.append(await certificates(cluster))
    under_way = "certificate 1\ncertificate 0\n"
    after = "certificate 1\n"
    assert seen == ["certificate 0\n", under_way, under_way, after, after, "certificate 2\ncertificate 1\n"]


async def test_the_address_alone_stays_as_it_is(cluster: Api) -> None:
    before = await cluster.call("GET", CLUSTER)
    for step in ("startIpRotation", "completeIpRotation"):
        await cluster.done("POST", f"{CLUSTER}:{step}", {})
        assert {**await cluster.call("GET", CLUSTER), "etag": before["etag"]} == before


async def test_a_rotation_that_failed_is_tried_again(cluster: Api) -> None:
    path, body = f"{CLUSTER}:startIpRotation", {"rotateCredentials": True}
    cluster.backend.reject["c1"] = "no room"
    failed = await cluster.wait(await cluster.call("POST", path, body))
    assert (failed["operationType"], failed["statusMessage"]) == ("UPDATE_CLUSTER", "no room")
    assert (await cluster.call("GET", CLUSTER))["status"] == "DEGRADED"
    cluster.backend.reject.clear()
    await cluster.done("POST", path, body)
    assert (await cluster.call("GET", CLUSTER))["status"] == "RUNNING"
    assert (await certificates(cluster)).startswith("certificate 1")
