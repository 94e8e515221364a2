"""Node pools, by the request sequences of the official provider, and the ways in which they fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.gcp.twin_api import CLUSTERS, COMPUTE, Api, slice_pool

pytestmark = pytest.mark.twin

POOLS = f"{CLUSTERS}/c1/nodePools"


async def add(api: Api, **fields: Any) -> dict[str, Any]:
    """A CPU pool "cpu" of one node per zone."""
    body = {"name": "cpu", "initialNodeCount": 1, "config": {"machineType": "e2-standard-4"}, **fields}
    await api.done("POST", POOLS, {"nodePool": body})
    return await api.call("GET", f"{POOLS}/{body['name']}")


async def test_create_list_groups_and_read(cluster: Api) -> None:
    assert (await cluster.rejected("GET", f"{POOLS}/slice", None, 404)).startswith("Not found: projects/acme/")
    await cluster.done("POST", POOLS, {"nodePool": slice_pool()})
    (listed,) = (await cluster.call("GET", POOLS))["nodePools"]
    assert listed == await cluster.call("GET", f"{POOLS}/slice")
    assert listed["status"] == "RUNNING"
    assert listed["config"]["diskSizeGb"] == 100
    assert listed["config"]["diskType"] == "hyperdisk-balanced"
    (group,) = (await cluster.call("GET", f"{COMPUTE}/zones/us-central1-b/instanceGroupManagers"))["items"]
    assert listed["instanceGroupUrls"] == [group["selfLink"].replace("/beta/", "/v1/")]
    assert group["targetSize"] == 0
    again = await cluster.call("GET", f"{COMPUTE}/zones/us-central1-b/instanceGroupManagers/{group['name']}")
    assert again == group


async def test_a_pool_is_read_as_it_was_requested(cluster: Api) -> None:
    asked = slice_pool()
    await cluster.done("POST", POOLS, {"nodePool": asked})
    found = await cluster.call("GET", f"{POOLS}/slice")
    for field in ("locations", "placementPolicy", "autoscaling", "management"):
        assert found[field] == asked[field]


async def test_nodes_of_a_regional_pool_are_counted_per_zone(cluster: Api) -> None:
    pool = await add(cluster, initialNodeCount=2)
    zones = ["us-central1-a", "us-central1-b", "us-central1-c"]
    assert pool["locations"] == zones
    assert cluster.backend.clusters["c1"].pools["cpu"] == dict.fromkeys(zones, 2)
    found = await cluster.call("GET", f"{CLUSTERS}/c1")
    assert found["currentNodeCount"] == 6


@pytest.mark.parametrize(
    ("limits", "counts"),
    [
        ({"minNodeCount": 2, "maxNodeCount": 3}, [2, 2, 2]),
        ({"totalMinNodeCount": 4, "totalMaxNodeCount": 9}, [2, 1, 1]),
        ({"maxNodeCount": 3}, [0, 0, 0]),
    ],
)
async def test_autoscaling_starts_at_its_minimum(cluster: Api, limits: dict[str, int], counts: list[int]) -> None:
    await add(cluster, initialNodeCount=0, autoscaling={"enabled": True, **limits})
    assert list(cluster.backend.clusters["c1"].pools["cpu"].values()) == counts


async def test_node_labels_taints_and_tags_unwrap(cluster: Api) -> None:
    await add(cluster)
    await cluster.done("PUT", f"{POOLS}/cpu", {"labels": {"labels": {"a": "b"}}, "name": f"{POOLS}/cpu"})
    taints = [{"key": "k", "value": "v", "effect": "NO_SCHEDULE"}]
    await cluster.done("PUT", f"{POOLS}/cpu", {"taints": {"taints": taints}})
    await cluster.done("PUT", f"{POOLS}/cpu", {"tags": {"tags": ["t"]}})
    config = (await cluster.call("GET", f"{POOLS}/cpu"))["config"]
    assert (config["labels"], config["taints"], config["tags"]) == ({"a": "b"}, taints, ["t"])


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, {"node-pool-provisioning-model": "on-demand"}),
        ({"config": {"machineType": "e2-standard-4", "spot": True}}, {"node-pool-provisioning-model": "spot"}),
        ({"config": {"machineType": "e2-standard-4", "preemptible": True}}, {"node-pool-provisioning-model": "spot"}),
        (
            slice_pool("cpu", initialNodeCount=4),
            {
                "accelerator-type": "tpu-v6e-slice",
                "node-pool-provisioning-model": "on-demand",
                "tpu-node-pool-type": "multi-host",
            },
        ),
        (
            {"config": {"machineType": "ct6e-standard-8t"}, "locations": ["us-central1-b"]},
            {
                "accelerator-type": "tpu-v6e-slice",
                "node-pool-provisioning-model": "on-demand",
                "tpu-node-pool-type": "single-host",
            },
        ),
        (
            {"config": {"machineType": "g2-standard-4"}, "locations": ["us-central1-a"]},
            {"accelerator-type": "nvidia-l4", "node-pool-provisioning-model": "on-demand"},
        ),
    ],
)
async def test_gke_labels_a_pool_and_no_update_removes_that(
    cluster: Api, fields: dict[str, Any], expected: dict[str, str]
) -> None:
    own = {f"goog-gke-{name}": value for name, value in expected.items()}
    assert (await add(cluster, **fields))["config"]["resourceLabels"] == own
    await cluster.done("PUT", f"{POOLS}/cpu", {"resourceLabels": {"labels": {"team": "a"}}})
    assert (await cluster.call("GET", f"{POOLS}/cpu"))["config"]["resourceLabels"] == {"team": "a", **own}


GPU_POOL: dict[str, Any] = {"config": {"machineType": "g2-standard-4"}, "locations": ["us-central1-a"]}
QUEUED: dict[str, Any] = {
    "config": {**GPU_POOL["config"], "reservationAffinity": {"consumeReservationType": "NO_RESERVATION"}},
    "initialNodeCount": 0,
    "autoscaling": {"enabled": True, "maxNodeCount": 4},
    "queuedProvisioning": {"enabled": True},
}


@pytest.mark.parametrize(
    ("fields", "own"),
    [
        ({}, {}),
        (slice_pool("cpu", initialNodeCount=4), {"google.com/tpu": "present"}),
        (GPU_POOL, {"nvidia.com/gpu": "present"}),
        ({**GPU_POOL, **QUEUED}, {"nvidia.com/gpu": "present", "cloud.google.com/gke-queued": "true"}),
    ],
)
async def test_gke_taints_a_pool_and_no_update_removes_that(
    cluster: Api, fields: dict[str, Any], own: dict[str, str]
) -> None:
    gkes = [{"key": key, "value": value, "effect": "NO_SCHEDULE"} for key, value in own.items()]
    assert (await add(cluster, **fields))["config"].get("taints", []) == gkes
    taint = {"key": "k", "value": "v", "effect": "NO_SCHEDULE"}
    await cluster.done("PUT", f"{POOLS}/cpu", {"taints": {"taints": [taint]}})
    assert (await cluster.call("GET", f"{POOLS}/cpu"))["config"]["taints"] == [taint, *gkes]


async def test_a_taint_that_a_request_has_with_gkes_key_is_the_only_one_with_it(cluster: Api) -> None:
    taint = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_EXECUTE"}
    pool = await add(cluster, **GPU_POOL | {"config": {**GPU_POOL["config"], "taints": [taint]}})
    assert pool["config"]["taints"] == [taint]


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        (
            {"kubeletConfig": {"cpuManagerPolicy": "static", "cpuCfsQuota": True}},
            {"kubeletConfig": {"podPidsLimit": "2048", "insecureKubeletReadonlyPortEnabled": False}},
            {"kubeletConfig": {"podPidsLimit": "2048", "insecureKubeletReadonlyPortEnabled": False}},
        ),
        (
            {"kubeletConfig": {"cpuManagerPolicy": "static"}},
            {"kubeletConfig": {"insecureKubeletReadonlyPortEnabled": False}},
            {"kubeletConfig": {"cpuManagerPolicy": "static", "insecureKubeletReadonlyPortEnabled": False}},
        ),
        (
            {"linuxNodeConfig": {"sysctls": {"net.core.somaxconn": "4096"}}},
            {"linuxNodeConfig": {"sysctls": {"net.core.netdev_max_backlog": "10000"}}},
            {"linuxNodeConfig": {"sysctls": {"net.core.netdev_max_backlog": "10000"}}},
        ),
        (
            {"linuxNodeConfig": {"accurateTimeConfig": {"enablePtpKvmTimeSync": True}}},
            {"linuxNodeConfig": {"accurateTimeConfig": {}}},
            {"linuxNodeConfig": {"accurateTimeConfig": {}}},
        ),
    ],
)
async def test_settings_of_nodes_are_replaced_but_the_read_only_port_alone_is_added(
    cluster: Api, before: dict[str, Any], change: dict[str, Any], after: dict[str, Any]
) -> None:
    await add(cluster, config=before)
    await cluster.done("PUT", f"{POOLS}/cpu", change)
    config = (await cluster.call("GET", f"{POOLS}/cpu"))["config"]
    assert {field: config[field] for field in after} == after


async def test_an_empty_drain_configuration_switches_it_off(cluster: Api) -> None:
    await add(cluster, nodeDrainConfig={"respectPdbDuringNodePoolDeletion": True})
    await cluster.done("PUT", f"{POOLS}/cpu", {"nodeDrainConfig": {}})
    assert (await cluster.call("GET", f"{POOLS}/cpu"))["nodeDrainConfig"] == {}


async def test_machine_and_disk_are_changed_in_place(cluster: Api) -> None:
    await add(cluster)
    body = {"machineType": "n2-standard-8", "diskSizeGb": "200", "diskType": "pd-ssd", "name": "x"}
    operation = await cluster.done("PUT", f"{POOLS}/cpu", body)
    assert operation["operationType"] == "UPDATE_CLUSTER"
    config = (await cluster.call("GET", f"{POOLS}/cpu"))["config"]
    assert (config["machineType"], config["diskSizeGb"], config["diskType"]) == ("n2-standard-8", 200, "pd-ssd")
    assert config["bootDisk"] == {"diskType": "pd-ssd", "sizeGb": "200"}


async def test_node_version_stays_behind_the_control_plane(cluster: Api) -> None:
    await add(cluster, version="1.34.6-gke.1100000")
    newer = {"nodePoolId": "cpu", "nodeVersion": "1.35.4-gke.1200000"}
    message = await cluster.rejected("PUT", f"{POOLS}/cpu", newer, 400)
    assert message == (
        'Node version "1.35.4-gke.1200000" must not have a greater version than master version "1.35.4-gke.1000000".'
    )
    operation = await cluster.done("PUT", f"{POOLS}/cpu", {"nodePoolId": "cpu", "nodeVersion": "-"})
    assert operation["operationType"] == "UPGRADE_NODES"
    assert (await cluster.call("GET", f"{POOLS}/cpu"))["version"] == "1.35.4-gke.1000000"


async def test_autoscaling_is_changed_through_the_cluster(cluster: Api) -> None:
    await add(cluster)
    limits = {"enabled": True, "minNodeCount": 3, "maxNodeCount": 5}
    update = {"desiredNodePoolAutoscaling": limits, "desiredNodePoolId": "cpu"}
    await cluster.done("PUT", f"{CLUSTERS}/c1", {"update": update})
    assert (await cluster.call("GET", f"{POOLS}/cpu"))["autoscaling"] == limits
    assert set(cluster.backend.clusters["c1"].pools["cpu"].values()) == {3}


async def test_size_and_management_have_their_own_methods(cluster: Api) -> None:
    await add(cluster, locations=["us-central1-a"])
    await cluster.done("POST", f"{POOLS}/cpu:setSize", {"nodeCount": 5})
    management = {"autoRepair": False, "autoUpgrade": True}
    await cluster.done("POST", f"{POOLS}/cpu:setManagement", {"management": management})
    found = await cluster.call("GET", f"{POOLS}/cpu")
    assert (found["initialNodeCount"], found["management"]) == (5, management)
    assert cluster.backend.clusters["c1"].pools["cpu"] == {"us-central1-a": 5}


async def test_upgrade_settings_without_a_number_have_0(cluster: Api) -> None:
    pool = await add(cluster, upgradeSettings={"maxUnavailable": 1})
    assert pool["upgradeSettings"] == {"strategy": "SURGE", "maxUnavailable": 1}
    other = await add(cluster, name="other")
    assert other["upgradeSettings"] == {"strategy": "SURGE", "maxSurge": 1}


@pytest.mark.parametrize("settings", [{"strategy": "SURGE"}, {"strategy": "SURGE", "maxSurge": 0, "maxUnavailable": 0}])
async def test_a_surge_upgrade_has_nodes_to_work_with(cluster: Api, settings: dict[str, object]) -> None:
    message = "Max surge and max unavailable cannot both be 0."
    body = {"nodePool": {"name": "cpu", "initialNodeCount": 1, "upgradeSettings": settings}}
    assert await cluster.rejected("POST", POOLS, body, 400) == message
    await add(cluster, upgradeSettings={})
    await cluster.done("PUT", f"{POOLS}/cpu", {"upgradeSettings": {"maxSurge": 2}})
    assert await cluster.rejected("PUT", f"{POOLS}/cpu", {"upgradeSettings": settings}, 400) == message
    assert (await cluster.call("GET", f"{POOLS}/cpu"))["upgradeSettings"] == {"strategy": "SURGE", "maxSurge": 2}


async def test_an_image_type_is_shown_in_its_own_form(cluster: Api) -> None:
    assert (await add(cluster, config={"imageType": "ubuntu_containerd"}))["config"]["imageType"] == "UBUNTU_CONTAINERD"
    await cluster.done("PUT", f"{POOLS}/cpu", {"imageType": "cos_containerd"})
    assert (await cluster.call("GET", f"{POOLS}/cpu"))["config"]["imageType"] == "COS_CONTAINERD"
    rejected = (
        'Image type "nope" is not supported; allowed: COS_CONTAINERD, UBUNTU_CONTAINERD, WINDOWS_LTSC_CONTAINERD.'
    )
    new = {"nodePool": {"name": "other", "initialNodeCount": 1, "config": {"imageType": "nope"}}}
    assert await cluster.rejected("POST", POOLS, new, 400) == rejected
    assert await cluster.rejected("PUT", f"{POOLS}/cpu", {"imageType": "nope"}, 400) == rejected
    assert await cluster.rejected("PUT", f"{CLUSTERS}/c1", {"update": {"desiredImageType": "nope"}}, 400) == rejected


async def test_an_empty_update_is_rejected(cluster: Api) -> None:
    await add(cluster)
    message = await cluster.rejected("PUT", f"{POOLS}/cpu", {}, 400)
    assert message.startswith("At least one of ['node_version', 'image_type',")


async def test_a_pool_keeps_at_least_one_zone(cluster: Api) -> None:
    await add(cluster)
    said = await cluster.rejected("PUT", f"{POOLS}/cpu", {"locations": []}, 400)
    assert said == "Must specify at least one location."


async def test_a_stale_etag_is_rejected(cluster: Api) -> None:
    etag = (await add(cluster))["etag"]
    await cluster.done("PUT", f"{POOLS}/cpu", {"tags": {"tags": ["t"]}, "etag": etag})
    await cluster.rejected("PUT", f"{POOLS}/cpu", {"tags": {"tags": ["u"]}, "etag": etag}, 409)


async def test_a_failed_creation_leaves_the_pool_in_error(cluster: Api) -> None:
    cluster.backend.reject["slice"] = "no more chips"
    operation = await cluster.wait(await cluster.call("POST", POOLS, {"nodePool": slice_pool()}))
    assert operation["statusMessage"] == "no more chips"
    pool = await cluster.call("GET", f"{POOLS}/slice")
    assert (pool["status"], pool["statusMessage"]) == ("ERROR", "no more chips")
    assert pool["conditions"][0]["message"] == "no more chips"
    cluster.backend.reject.clear()
    await cluster.done("DELETE", f"{POOLS}/slice")
    await cluster.rejected("GET", f"{POOLS}/slice", None, 404)


async def test_a_failed_update_keeps_the_pool_and_a_good_one_heals_it(cluster: Api) -> None:
    await add(cluster)
    cluster.backend.reject["cpu"] = "a bad day"
    failed = await cluster.wait(await cluster.call("POST", f"{POOLS}/cpu:setSize", {"nodeCount": 2}))
    assert failed["statusMessage"] == "a bad day"
    assert (await cluster.call("GET", f"{POOLS}/cpu"))["status"] == "RUNNING_WITH_ERROR"
    cluster.backend.reject.clear()
    await cluster.done("POST", f"{POOLS}/cpu:setSize", {"nodeCount": 3})
    healed = await cluster.call("GET", f"{POOLS}/cpu")
    assert healed["status"] == "RUNNING"
    assert "statusMessage" not in healed


async def test_a_rollback_is_to_the_last_update_that_succeeded(cluster: Api) -> None:
    await add(cluster)
    cluster.backend.hold()
    first, second = [
        await cluster.call("PUT", f"{POOLS}/cpu", {"labels": {"labels": {"a": value}}}) for value in ("1", "2")
    ]
    cluster.backend.step()
    await cluster.wait(first)
    assert (await cluster.call("GET", f"{POOLS}/cpu"))["status"] == "RECONCILING"
    cluster.backend.reject["cpu"] = "a bad day"
    cluster.backend.go.set()
    assert (await cluster.wait(second))["statusMessage"] == "a bad day"
    cluster.backend.reject.clear()
    await cluster.done("POST", f"{POOLS}/cpu:rollback", {})
    assert (await cluster.call("GET", f"{POOLS}/cpu"))["config"]["labels"]["a"] == "1"


async def test_a_zone_without_the_machine_type_is_rejected(cluster: Api) -> None:
    config, zones = {"machineType": "c4d-standard-8"}, ["us-central1-a", "us-central1-f"]
    asked = {"name": "cpu", "initialNodeCount": 1, "locations": zones, "config": config}
    message = await cluster.rejected("POST", POOLS, {"nodePool": asked}, 400)
    assert message == 'Invalid machine type "c4d-standard-8" in zone "us-central1-f": GCE_NOT_FOUND'
    assert (await add(cluster, locations=zones[:1], config=config))["locations"] == zones[:1]


async def test_missing_resources_are_rejected(cluster: Api) -> None:
    pool = {"nodePool": {"name": "p", "initialNodeCount": 1}}
    missing = await cluster.rejected("POST", POOLS.replace("c1", "c9"), pool, 404)
    assert missing == "Not found: projects/acme/locations/us-central1/clusters/c9."
    await cluster.done("POST", POOLS, pool)
    taken = await cluster.rejected("POST", POOLS, pool, 409)
    assert taken == "Already exists: projects/acme/locations/us-central1/clusters/c1/nodePools/p."
    zone = {"nodePool": {"name": "q", "locations": ["us-east1-b"]}}
    assert "us-east1-b" in await cluster.rejected("POST", POOLS, zone, 400)
