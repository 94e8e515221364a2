"""Upgrades that GKE begins by itself: their order, and what holds them."""

from __future__ import annotations

import asyncio
import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tpuplane_twin.failures.upgrades import window_opens
from tpuplane_twin.gcp.app import repair_pool
from tpuplane_twin.gcp.errors import ApiError

from tests.support.gcp.twin_api import CLUSTERS, LOCATION, PROJECT, Api, slice_pool

pytestmark = pytest.mark.twin

Json = dict[str, Any]
CLUSTER = f"{CLUSTERS}/c1"
OLD, NEW = "1.35.4-gke.1000000", "1.35.4-gke.1200000"


async def add_pools(api: Api) -> None:
    upgraded = {"management": {"autoUpgrade": True, "autoRepair": True}}
    machine = {"machineType": "ct6e-standard-4t", "flexStart": True, "maxRunDuration": "3600s"}
    flex = {**machine, "reservationAffinity": {"consumeReservationType": "NO_RESERVATION"}}
    for pool in (
        {"name": "cpu", "initialNodeCount": 1, **upgraded},
        slice_pool("trainer", **upgraded),
        slice_pool("flex", config=flex, **upgraded),
    ):
        await api.done("POST", f"{CLUSTER}/nodePools", {"nodePool": pool})


async def upgraded(api: Api, **body: Any) -> Json:
    return await api.call("POST", "/twin/upgrade", {"cluster": "c1", "version": NEW, **body})


async def test_the_control_plane_is_upgraded_first_then_each_pool_with_auto_upgrade(cluster: Api) -> None:
    await add_pools(cluster)
    cluster.backend.calls.clear()
    assert await upgraded(cluster) == {
        "upgraded": [f"{name}: {OLD} to {NEW}" for name in ("c1", "cpu", "trainer")],
        "held": [],
    }
    assert cluster.backend.calls == [
        ("update_cluster", "c1"),
        ("apply_node_pool", "cpu"),
        ("apply_node_pool", "trainer"),
    ]
    answer = await cluster.call("GET", f"/v1beta1/projects/{PROJECT}/locations/{LOCATION}/operations")
    kinds = [found["operationType"] for found in answer["operations"]]
    assert sorted(kinds)[-3:] == ["UPGRADE_MASTER", "UPGRADE_NODES", "UPGRADE_NODES"]
    assert await upgraded(cluster) == {"upgraded": [], "held": []}


async def test_of_two_upgrades_at_once_the_second_has_nothing_to_do(cluster: Api) -> None:
    await add_pools(cluster)
    first, second = await asyncio.gather(upgraded(cluster), upgraded(cluster))
    assert [line.partition(":")[0] for line in first["upgraded"]] == ["c1", "cpu", "trainer"]
    assert second == {"upgraded": [], "held": []}


@pytest.mark.parametrize(
    ("scope", "held"), [("NO_UPGRADES", ["c1"]), ("NO_MINOR_OR_NODE_UPGRADES", ["cpu", "trainer"])]
)
async def test_an_exclusion_holds_what_its_scope_says(cluster: Api, scope: str, held: list[str]) -> None:
    await add_pools(cluster)
    now = datetime.now(UTC)
    times = {"startTime": f"{now.year - 1}-12-31T00:00:00Z", "endTime": f"{now.year + 1}-01-01T00:00:00Z"}
    if scope == "NO_UPGRADES":  # at most 90 days
        times = {"startTime": now.strftime("%Y-%m-%dT00:00:00Z"), "endTime": now.strftime("%Y-%m-%dT23:59:59Z")}
    exclusion = {**times, "maintenanceExclusionOptions": {"scope": scope}}
    await maintain(cluster, {"maintenanceExclusions": {"run": exclusion}})
    answer = await upgraded(cluster, now=True)
    assert answer["held"] == [f"{name} by the exclusion {scope}" for name in held]
    assert [line.partition(":")[0] for line in answer["upgraded"]] == ([] if held == ["c1"] else ["c1"])


@pytest.mark.parametrize(("days", "held"), [(0, False), (2, True)])
async def test_an_exclusion_holds_on_the_clock_of_the_twin(cluster: Api, days: int, held: bool) -> None:
    now = datetime.now(UTC)
    times = {"startTime": stamp(now + timedelta(days=1)), "endTime": stamp(now + timedelta(days=5))}
    await maintain(cluster, {"maintenanceExclusions": {"run": times}})
    await cluster.call("POST", "/twin/clock", {"seconds": days * 86_400})
    status = (await cluster.call("GET", f"{CLUSTER}:fetchClusterUpgradeInfo"))["autoUpgradeStatus"]
    assert status == (["UPGRADE_PAUSED"] if held else ["ACTIVE"])
    assert (await upgraded(cluster, now=True))["held"] == (["c1 by the exclusion NO_UPGRADES"] if held else [])


def stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.parametrize("seconds", [math.nan, math.inf, -math.inf, -1, True, "1", None, 400_000_000, 1e308])
async def test_a_clock_moves_by_a_number_of_seconds(api: Api, seconds: object) -> None:
    message = await api.rejected("POST", "/twin/clock", {"seconds": seconds}, 400)
    assert message == f"seconds: {seconds!r} is not a number of seconds; allowed: 0 to 315360000"
    assert (await api.call("GET", "/twin/clock"))["still"] is False


async def test_an_exclusion_of_minor_upgrades_holds_those_of_nodes(cluster: Api) -> None:
    await add_pools(cluster)
    old = {"name": "old", "initialNodeCount": 1, "version": "1.34.6-gke.1100000", "management": {"autoUpgrade": True}}
    await cluster.done("POST", f"{CLUSTER}/nodePools", {"nodePool": old})
    times = {"startTime": "2026-01-01T00:00:00Z", "endTime": f"{datetime.now(UTC).year + 1}-01-01T00:00:00Z"}
    exclusion = {**times, "maintenanceExclusionOptions": {"scope": "NO_MINOR_UPGRADES"}}
    await maintain(cluster, {"maintenanceExclusions": {"run": exclusion}})
    answer = await upgraded(cluster, now=True)
    assert answer["held"] == ["old by the exclusion NO_MINOR_UPGRADES"]
    assert [line.partition(":")[0] for line in answer["upgraded"]] == ["c1", "cpu", "trainer"]


async def test_pools_follow_a_control_plane_that_is_newer_than_the_default(cluster: Api) -> None:
    await add_pools(cluster)
    await cluster.done("PUT", CLUSTER, {"update": {"desiredMasterVersion": NEW}})
    answer = await upgraded(cluster, version=None)
    assert answer["upgraded"] == [f"{name}: {OLD} to {NEW}" for name in ("cpu", "trainer")]


async def test_a_window_holds_everything_unless_it_is_ignored(cluster: Api) -> None:
    await add_pools(cluster)
    closed = (datetime.now(UTC).hour + 12) % 24
    await maintain(cluster, {"dailyMaintenanceWindow": {"startTime": f"{closed:02}:00"}})
    answer = await upgraded(cluster)
    assert answer["upgraded"] == []
    (held,) = answer["held"]
    assert held.endswith(f" {closed:02}:00 UTC by the maintenance window")
    assert len((await upgraded(cluster, now=True))["upgraded"]) == 3


async def maintain(api: Api, window: Json) -> None:
    await api.done("POST", f"{CLUSTER}:setMaintenancePolicy", {"maintenancePolicy": {"window": window}})


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}+00:00")


@pytest.mark.parametrize(
    ("now", "opens"),
    [
        ("2026-11-25T12:00", "2026-11-28T02:00"),  # a Wednesday
        ("2026-11-28T02:00", None),
        ("2026-11-28T09:59", None),
        ("2026-11-28T10:00", "2026-11-29T02:00"),
        ("2025-01-01T00:00", "2026-01-03T02:00"),
    ],
)
def test_a_recurring_window(now: str, opens: str | None) -> None:
    window = {"startTime": "2026-01-03T02:00:00Z", "endTime": "2026-01-03T10:00:00Z"}
    recurring = {"window": window, "recurrence": "FREQ=WEEKLY;BYDAY=SA,SU"}
    expected = at(opens) if opens else None
    assert window_opens({"window": {"recurringWindow": recurring}}, at(now)) == expected
    assert window_opens({}, at(now)) is None


async def test_an_upgrade_that_fails_names_what_was_upgraded_before(cluster: Api) -> None:
    await add_pools(cluster)
    cluster.backend.reject["trainer"] = "no disk"
    answer = await upgraded(cluster)
    assert [line.partition(":")[0] for line in answer["upgraded"]] == ["c1", "cpu"]
    assert answer["error"] == "trainer: no disk"


def test_times_without_a_zone_are_utc_and_other_recurrences_are_rejected() -> None:
    window = {"startTime": "2026-01-03T02:00:00", "endTime": "2026-01-03T10:00:00"}
    policy = {"window": {"recurringWindow": {"window": window, "recurrence": "FREQ=DAILY"}}}
    assert window_opens(policy, at("2026-11-25T12:00")) == at("2026-11-26T02:00")
    policy["window"]["recurringWindow"]["recurrence"] = "EVERY=DAY"
    with pytest.raises(ApiError, match="the maintenance window has the recurrence 'EVERY=DAY': "):
        window_opens(policy, at("2026-11-25T12:00"))


async def test_a_wrong_upgrade_is_rejected(cluster: Api) -> None:
    assert await cluster.rejected("POST", "/twin/upgrade", {"cluster": "c2"}, 400) == (
        "'c2' is not a cluster; allowed: c1"
    )
    assert "9.9" in await cluster.rejected("POST", "/twin/upgrade", {"cluster": "c1", "version": "9.9"}, 400)
    asked = {"cluster": "c1", "version": NEW, "now": "no"}
    assert "now: 'no' is not a truth value" in await cluster.rejected("POST", "/twin/upgrade", asked, 400)


async def test_auto_repair_is_an_operation_on_the_pool(cluster: Api) -> None:
    await add_pools(cluster)
    cluster.backend.lost["cpu"] = [0]
    await repair_pool(cluster.app, f"projects/{PROJECT}/locations/{LOCATION}/clusters/c1/nodePools/cpu")
    assert ("repair_node_pool", "cpu") in cluster.backend.calls
    answer = await cluster.call("GET", f"/v1beta1/projects/{PROJECT}/locations/{LOCATION}/operations")
    (operation,) = [found for found in answer["operations"] if found["operationType"] == "AUTO_REPAIR_NODES"]
    assert operation["targetLink"].endswith("/nodePools/cpu")
    assert (await cluster.call("GET", f"{CLUSTER}/nodePools/cpu"))["status"] == "RUNNING"
