"""Where upgrades stand, the way back from one that failed, and the rotation of a cluster's credentials."""

from __future__ import annotations

from typing import Any

import pytest
from twin_api import CLUSTERS, Api

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
    assert found["patchTargetVersion"] == NEW
    await cluster.done("POST", f"{CLUSTER}:updateMaster", {"masterVersion": NEW})
    found = await cluster.call("GET", f"{CLUSTER}:fetchClusterUpgradeInfo")
    assert "patchTargetVersion" not in found
    (past,) = found["upgradeDetails"]
    assert past["startTime"] <= past["endTime"]
    assert (past["initialVersion"], past["targetVersion"]) == (OLD, NEW)
    assert (past["state"], past["startType"]) == ("SUCCEEDED", "MANUAL")


async def test_the_upgrade_info_of_a_pool(cluster: Api) -> None:
    await add_pool(cluster, version="1.34.6-gke.1100000")
    found = await cluster.call("GET", f"{POOL}:fetchNodePoolUpgradeInfo")
    assert (found["minorTargetVersion"], found["upgradeDetails"]) == (OLD, [])
    await cluster.done("PUT", POOL, {"nodeVersion": "-"})
    found = await cluster.call("GET", f"{POOL}:fetchNodePoolUpgradeInfo")
    assert "minorTargetVersion" not in found
    assert [it["targetVersion"] for it in found["upgradeDetails"]] == [OLD]


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
    cluster.backend.refuse["p"] = "no room"
    failed = await cluster.wait(await cluster.call("PUT", POOL, {"nodeVersion": OLD}))
    assert failed["statusMessage"] == "no room"
    assert (await cluster.call("GET", POOL))["version"] == OLD
    state = (await cluster.call("GET", f"{POOL}:fetchNodePoolUpgradeInfo"))["upgradeDetails"][0]["state"]
    assert state == "FAILED"
    cluster.backend.refuse.clear()
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
    await cluster.refused("POST", f"{CLUSTER}/nodePools/q:rollback", {}, 404)
