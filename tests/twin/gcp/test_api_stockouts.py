"""Stockouts: failures with GKE's messages, unaffected capacity, and reclaimed hosts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tpuplane_twin.failures.incidents import INCIDENT, Incidents, Target
from tpuplane_twin.gcp.app import RECONCILER, create_pool, delete_pool
from tpuplane_twin.gcp.backend import BackendError
from tpuplane_twin.gcp.errors import ApiError
from tpuplane_twin.gcp.store import Store

from tests.support.gcp.twin_api import CLUSTERS, COMPUTE, LOCATION, PROJECT, Api, MemoryBackend, serving, slice_pool

pytestmark = pytest.mark.twin

POOLS = f"{CLUSTERS}/c1/nodePools"
KEY = f"projects/{PROJECT}/locations/{LOCATION}/clusters/c1"
ZONE = "us-central1-b"
FIXED: dict[str, Any] = {"autoscaling": {}, "initialNodeCount": 4}
SPOT = {"machineType": "ct6e-standard-4t", "spot": True}
RESERVED = {
    "reservationAffinity": {
        "consumeReservationType": "SPECIFIC_RESERVATION",
        "key": "compute.googleapis.com/reservation-name",
        "values": ["ours"],
    }
}
RESERVATION = {
    "name": "ours",
    "specificReservation": {"count": "4", "instanceProperties": {"machineType": "ct6e-standard-4t"}},
}


async def stockout(api: Api, capacity: str | None = None) -> None:
    body = {"zone": ZONE, "generation": "v6e", "capacity": capacity}
    assert (await api.call("POST", "/twin/stockouts", body))["stockouts"]


async def test_a_pool_without_capacity_is_in_error_with_zone_and_reason(cluster: Api) -> None:
    await stockout(cluster)
    operation = await cluster.wait(await cluster.call("POST", POOLS, {"nodePool": slice_pool("tpu", **FIXED)}))
    assert "Expected 4, running 0, transitioning 4. Current errors: [GCE_STOCKOUT]" in operation["statusMessage"]
    assert f"The zone 'projects/{PROJECT}/zones/{ZONE}' does not have enough resources" in operation["statusMessage"]
    found = await cluster.call("GET", f"{POOLS}/tpu")
    assert (found["status"], found["statusMessage"]) == ("ERROR", operation["statusMessage"])
    group = (
        found["instanceGroupUrls"][0].partition("/compute/v1/")[2].replace("instanceGroupManagers", "instanceGroups")
    )
    assert (await cluster.call("GET", f"/compute/v1/{group}"))["size"] == 0
    await cluster.call("DELETE", "/twin/stockouts")
    await cluster.done("DELETE", f"{POOLS}/tpu")
    await cluster.done("POST", POOLS, {"nodePool": slice_pool("tpu", **FIXED)})


@pytest.mark.parametrize(
    ("capacity", "config", "fails"),
    [
        (None, {}, True),
        (None, {"spot": True}, True),
        (None, RESERVED, False),
        ("spot", {}, False),
        ("spot", {"spot": True}, True),
        ("on-demand", {"spot": True}, False),
        ("reservation", RESERVED, True),
        ("reservation", {}, False),
    ],
)
async def test_a_stockout_affects_its_provisioning_model(
    cluster: Api, capacity: str | None, config: dict[str, Any], fails: bool
) -> None:
    await cluster.call("POST", f"{COMPUTE}/zones/{ZONE}/reservations", RESERVATION)
    await stockout(cluster, capacity)
    pool = slice_pool("tpu", **FIXED, config={"machineType": "ct6e-standard-4t", **config})
    operation = await cluster.wait(await cluster.call("POST", POOLS, {"nodePool": pool}))
    assert ("statusMessage" in operation) == fails
    if fails and config is RESERVED:
        assert "Specified reservations [ours] do not have available resources" in operation["statusMessage"]


async def test_a_zone_has_a_number_of_chips(cluster: Api) -> None:
    """Pools of other models, and one in ERROR, use none of them."""
    await cluster.done("POST", POOLS, {"nodePool": slice_pool("cheap", **FIXED, config=SPOT)})
    await cluster.done("POST", POOLS, {"nodePool": slice_pool("first", **FIXED)})
    body = {"zone": ZONE, "generation": "v6e", "capacity": "on-demand", "chips": 40}
    assert (await cluster.call("POST", "/twin/stockouts", body))["stockouts"] == [body]
    await cluster.done("POST", POOLS, {"nodePool": slice_pool("second", **FIXED)})
    operation = await cluster.wait(await cluster.call("POST", POOLS, {"nodePool": slice_pool("third", **FIXED)}))
    assert "GCE_STOCKOUT" in operation["statusMessage"]
    await cluster.done("DELETE", f"{POOLS}/first")
    await cluster.done("POST", POOLS, {"nodePool": slice_pool("fourth", **FIXED)})
    assert (await cluster.call("DELETE", "/twin/stockouts", {"zone": ZONE}))["stockouts"] == []
    assert "-1 is not a number of chips" in await cluster.rejected(
        "POST", "/twin/stockouts", {**body, "chips": -1}, 400
    )


async def test_a_stockout_affects_the_autoscaler_and_no_existing_node(cluster: Api) -> None:
    await create_pool(cluster.app, KEY, slice_pool("tpu"))
    key, none, four = f"{KEY}/nodePools/tpu", {ZONE: []}, {ZONE: [0, 1, 2, 3]}
    await stockout(cluster)
    with pytest.raises(BackendError, match="GCE_STOCKOUT"):
        await cluster.app[RECONCILER].resize(key, none, four)
    await cluster.call("DELETE", "/twin/stockouts", {"zone": ZONE})
    assert await cluster.app[RECONCILER].resize(key, none, four)
    await stockout(cluster)
    labels = {"labels": {"labels": {"a": "b"}}}
    await cluster.done("PUT", f"{POOLS}/tpu", labels)
    assert cluster.backend.clusters["c1"].pools["tpu"] == {ZONE: 4}
    await delete_pool(cluster.app, key)
    assert "tpu" not in cluster.backend.clusters["c1"].pools


async def test_it_is_kept_in_the_state(tmp_path: Path) -> None:
    for turn in range(2):
        store = Store(tmp_path / "state.db")
        async with serving(store, MemoryBackend()) as api:
            if turn == 0:
                await stockout(api, "spot")
            found = (await api.call("GET", "/twin/stockouts"))["stockouts"]
        store.close()
    assert found == [{"zone": ZONE, "generation": "v6e", "capacity": "spot"}]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"zone": "mars-b", "generation": "v6e"}, "'mars-b' is not a zone; give one such as us-central1-b"),
        ({"zone": ZONE, "generation": "v7"}, "'v7' is not a TPU generation; allowed: "),
        (
            {"zone": ZONE, "generation": "v6e", "capacity": "free"},
            "'free' is not a provisioning model; allowed: on-demand",
        ),
    ],
)
async def test_invalid_stockouts_are_rejected(api: Api, body: dict[str, Any], message: str) -> None:
    for method in ("POST", "DELETE"):
        assert (await api.rejected(method, "/twin/stockouts", body, 400)).startswith(message)


@pytest.mark.parametrize("field", ["zone", "generation"])
async def test_a_stockout_is_of_a_generation_in_a_zone(api: Api, field: str) -> None:
    body = {"zone": ZONE, "generation": "v6e", field: None}
    assert f"no {field} is given" in await api.rejected("POST", "/twin/stockouts", body, 400)


@pytest.mark.parametrize("name", ["v6e", "tpu-v6e-slice"])
async def test_a_generation_may_be_called_by_any_of_its_names(api: Api, name: str) -> None:
    body = {"zone": ZONE, "generation": name}
    assert [
        each_stockout["generation"] for each_stockout in (await api.call("POST", "/twin/stockouts", body))["stockouts"]
    ] == ["v6e"]
    assert await api.call("DELETE", "/twin/stockouts", {"generation": name}) == {
        "stockouts": [],
        "quotas": [],
        "backoff": [],
    }


async def test_a_rejected_pool_is_not_created(cluster: Api) -> None:
    with pytest.raises(BackendError, match="is not a valid size of TPU pod slice"):
        await create_pool(cluster.app, KEY, slice_pool("tpu", autoscaling={"enabled": True, "maxNodeCount": 8}))
    assert (await cluster.call("GET", POOLS)).get("nodePools", []) == []


async def test_spot_hosts_are_taken_back(cluster: Api) -> None:
    spot = {"machineType": "ct6e-standard-4t", "spot": True}
    await cluster.done("POST", POOLS, {"nodePool": slice_pool("fixed", **FIXED, config=spot)})
    await cluster.done("POST", POOLS, {"nodePool": slice_pool("scaled", config=spot)})
    await cluster.done("POST", POOLS, {"nodePool": slice_pool("kept", **FIXED)})
    four = {ZONE: [0, 1, 2, 3]}
    assert await cluster.app[RECONCILER].resize(f"{KEY}/nodePools/scaled", {ZONE: []}, four)
    for name, left in (("fixed", 4), ("scaled", 0)):
        assert await cluster.call("POST", "/twin/reclaim", {"pool": name}) == {"pool": f"{KEY}/nodePools/{name}"}
        assert cluster.backend.clusters["c1"].pools[name] == {ZONE: left}
    assert ("delete_node_pool", "fixed") in cluster.backend.calls
    answer = await cluster.call("POST", "/twin/reclaim", {"pool": "scaled"})  # its autoscaler has not created others
    assert answer["error"] == f"Node pool {KEY}/nodePools/scaled has no hosts."
    rejected = await cluster.rejected("POST", "/twin/reclaim", {"pool": "kept"}, 400)
    assert rejected == (
        "'kept' is on-demand, and only spot and reserved hosts are reclaimed; pools with such hosts: fixed, scaled"
    )
    assert "there is no node pool 'nope'" in await cluster.rejected("POST", "/twin/reclaim", {"pool": "nope"}, 400)
    await stockout(cluster)
    assert "GCE_STOCKOUT" in (await cluster.call("POST", "/twin/reclaim", {"pool": "fixed"}))["error"]
    assert (await cluster.call("GET", f"{POOLS}/fixed"))["status"] == "ERROR"


async def test_a_quota_limits_the_chips_of_all_pools_in_a_region(cluster: Api) -> None:
    """Pools of another provisioning model, in ERROR or in a reservation use none of it."""
    await cluster.call("POST", f"{COMPUTE}/zones/{ZONE}/reservations", RESERVATION)
    body = {"region": ZONE[:-2], "generation": "v6e", "capacity": "on-demand", "chips": 16}
    ((limit,), row) = (await cluster.call("POST", "/twin/quotas", body))["quotas"], "tpus_per_tpu_family"
    assert (limit["metric"], limit["dimensions"]["tpu_family"]) == (f"compute.googleapis.com/{row}", "CT6E")
    for name, config in (("first", {}), ("cheap", SPOT), ("ours", RESERVED)):
        pool = slice_pool(name, **FIXED, config={"machineType": "ct6e-standard-4t", **config})
        await cluster.done("POST", POOLS, {"nodePool": pool})
    for _ in range(2):
        operation = await cluster.wait(await cluster.call("POST", POOLS, {"nodePool": slice_pool("over", **FIXED)}))
        assert operation["statusMessage"].endswith(
            "Quota 'TPUS_PER_TPU_FAMILY' exceeded.  Limit: 16.0 in region us-central1."
        )
        assert (await cluster.call("GET", f"{POOLS}/over"))["conditions"][0]["code"] == "GCE_QUOTA_EXCEEDED"
        await cluster.done("DELETE", f"{POOLS}/over")
    more = (await cluster.call("POST", "/twin/quotas", {**body, "chips": 32}))["quotas"]
    assert [found["overrideValue"] for found in more] == ["32"]
    await cluster.done("POST", POOLS, {"nodePool": slice_pool("over", **FIXED)})
    assert (await cluster.call("DELETE", "/twin/quotas"))["quotas"] == []


async def test_a_creation_that_waits_for_its_turn_uses_no_capacity(cluster: Api) -> None:
    """As `pulumi up` asks: for all pools at once. Two of three fit."""
    await cluster.call("POST", "/twin/quotas", {"region": ZONE[:-2], "generation": "v6e", "chips": 32})
    asked = [await cluster.call("POST", POOLS, {"nodePool": slice_pool(name, **FIXED)}) for name in ("a", "b", "c")]
    ended = [await cluster.wait(operation) for operation in asked]
    assert ["exceeded" in operation.get("statusMessage", "") for operation in ended] == [False, False, True]


async def test_a_quota_limits_new_hosts_of_a_pool(cluster: Api) -> None:
    single = {**slice_pool("tpu"), "initialNodeCount": 1, "config": {"machineType": "ct6e-standard-8t"}}
    single = {key: value for key, value in single.items() if key not in ("autoscaling", "placementPolicy")}
    await cluster.done("POST", POOLS, {"nodePool": single})
    await cluster.call("POST", "/twin/quotas", {"region": ZONE[:-2], "generation": "v6e", "chips": 8})
    operation = await cluster.wait(await cluster.call("POST", f"{POOLS}/tpu:setSize", {"nodeCount": 5}))
    assert "Limit: 8.0 in region us-central1" in operation["statusMessage"]
    assert cluster.backend.clusters["c1"].pools["tpu"] == {ZONE: 1}
    assert (await cluster.call("GET", f"{POOLS}/tpu"))["status"] == "RUNNING_WITH_ERROR"


async def test_an_update_of_a_pool_in_error_brings_no_hosts(cluster: Api) -> None:
    await stockout(cluster)
    managed = {"management": {"autoUpgrade": True, "autoRepair": True}}
    await cluster.wait(await cluster.call("POST", POOLS, {"nodePool": slice_pool("tpu", **FIXED, **managed)}))
    cluster.backend.calls.clear()
    await cluster.done("PUT", f"{POOLS}/tpu", {"labels": {"labels": {"a": "b"}}})
    body = {"cluster": "c1", "version": "1.35.4-gke.1200000", "now": True}
    upgraded = (await cluster.call("POST", "/twin/upgrade", body))["upgraded"]
    assert [line.partition(":")[0] for line in upgraded] == ["c1"]
    assert cluster.backend.calls == [("update_cluster", "c1")]
    found = await cluster.call("GET", f"{POOLS}/tpu")
    assert (found["status"], found["config"]["labels"]["a"]) == ("ERROR", "b")
    assert "GCE_STOCKOUT" in found["statusMessage"]
    assert (await cluster.call("GET", f"{CLUSTERS}/c1"))["currentNodeCount"] == 0


async def test_a_pool_in_error_uses_nothing_of_its_reservation(cluster: Api) -> None:
    await cluster.call("POST", f"{COMPUTE}/zones/{ZONE}/reservations", RESERVATION)
    await stockout(cluster, "reservation")
    reserved = {"machineType": "ct6e-standard-4t", **RESERVED}
    await cluster.wait(await cluster.call("POST", POOLS, {"nodePool": slice_pool("one", **FIXED, config=reserved)}))
    await cluster.call("DELETE", "/twin/stockouts")
    found = await cluster.call("GET", f"{COMPUTE}/zones/{ZONE}/reservations/ours")
    assert found["specificReservation"]["inUseCount"] == "0"
    await cluster.done("POST", POOLS, {"nodePool": slice_pool("two", **FIXED, config=reserved)})


async def test_a_deletion_that_fails_leaves_a_pool_with_its_hosts(cluster: Api) -> None:
    await cluster.done("POST", POOLS, {"nodePool": slice_pool("tpu", **FIXED)})
    cluster.backend.reject["tpu"] = "Slices use its nodes"
    assert (await cluster.wait(await cluster.call("DELETE", f"{POOLS}/tpu")))["statusMessage"] == "Slices use its nodes"
    assert (await cluster.call("GET", f"{POOLS}/tpu"))["status"] == "RUNNING_WITH_ERROR"


async def test_a_reclaim_is_not_interrupted_by_another_incident(cluster: Api) -> None:
    pool = f"{KEY}/nodePools/spot"
    reclaim = {"id": "one", "kind": "preemption", "pool": pool, "nodes": ["a", "b"], "since": "", "step": 3}
    cluster.store.put(INCIDENT, "one", reclaim)
    incidents = Incidents(cluster.store, lambda _: None, cluster.app[RECONCILER])
    with pytest.raises(ApiError, match="Compute Engine is deleting the hosts of spot; wait until new ones are there"):
        incidents.begin("host-error", Target(pool, ["b"]))
    assert cluster.store.get(INCIDENT, "one") == reclaim


async def test_a_quota_that_a_client_lowers_stops_the_autoscaler(cluster: Api) -> None:
    """As `gcloud alpha services quota update` does, also for all regions at once."""
    await create_pool(cluster.app, KEY, slice_pool("tpu", config=SPOT))
    spot = {"metric": "compute.googleapis.com/preemptible_tpu_v6e", "overrideValue": "15"}
    metrics = f"/serviceusage/v1beta1/projects/{PROJECT}/services/compute.googleapis.com/consumerQuotaMetrics"
    await cluster.call("POST", f"{metrics}:importConsumerOverrides", {"inlineSource": {"overrides": [spot]}})
    listed = {found["metric"]: found for found in (await cluster.call("GET", metrics))["metrics"]}
    (limit,) = listed[spot["metric"]]["consumerQuotaLimits"]
    assert limit["quotaBuckets"][0]["effectiveLimit"] == "15"
    with pytest.raises(BackendError, match=r"Quota 'PREEMPTIBLE_TPU_V6E' exceeded\.  Limit: 15\.0"):
        await cluster.app[RECONCILER].resize(f"{KEY}/nodePools/tpu", {ZONE: []}, {ZONE: [0, 1, 2, 3]})


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"region": "mars", "generation": "v6e"}, "'mars' is not a region"),
        ({"region": "us-central1"}, "no generation is given"),
        (
            {"region": "us-central1", "generation": "v6e", "capacity": "reservation"},
            "'reservation' has no quota of chips; allowed: on-demand, spot, flex-start",
        ),
        ({"region": "us-central1", "generation": "v6e", "chips": "8"}, "'8' is not a number of chips"),
        (
            {"region": "us-central1", "generation": "v3", "capacity": "spot"},
            "v3 has no quota of this capacity; allowed: on-demand",
        ),
    ],
)
async def test_invalid_quotas_are_rejected(cluster: Api, body: dict[str, Any], message: str) -> None:
    assert message in await cluster.rejected("POST", "/twin/quotas", body, 400)
