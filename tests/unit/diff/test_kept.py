"""Changes of adopted clusters and node pools, whose properties stay as they are by `adopted.ignoreChanges`."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane.diff import Change, Diff, diff
from tpuplane.spec import parse_platform

from tests.support.diff.every_field import with_value

pytestmark = pytest.mark.unit

DEMO: dict[str, Any] = {
    "location": "us-central1",
    "adopted": {
        "name": "demo",
        "ignoreChanges": [
            "costManagementConfig",
            "addonsConfig.gcsFuseCsiDriverConfig",
            "addonsConfig.rayOperatorConfigs",
            "enableFqdnNetworkPolicy",
        ],
    },
    "systemPool": {"maxNodes": 1, "adopted": {"names": ["default-pool"], "ignoreChanges": ["autoscaling"]}},
    "pools": {
        "v6e": {
            "generation": "v6e",
            "topology": "2x2",
            "zone": "us-central1-b",
            "autoscaling": {"maxSlices": 16},
            "adopted": {"names": ["v6e"], "ignoreChanges": ["autoscaling", "nodeConfig.diskSizeGb"]},
        }
    },
}
PLATFORM: dict[str, Any] = {"name": "demo", "project": "acme-ml", "clusters": {"demo": DEMO}}
POOL = "clusters.demo.pools.v6e"
KEPT = {
    "cluster": "clusters.demo.adopted.ignoreChanges",
    "systemPool": "clusters.demo.systemPool.adopted.ignoreChanges",
    "pool": f"{POOL}.adopted.ignoreChanges",
}
MULTI_HOST = with_value(PLATFORM, tuple(f"{POOL}.topology".split(".")), "4x4")


def changed(*settings: tuple[str, Any], before: Any = PLATFORM) -> Diff:
    after = before
    for path, value in settings:
        after = with_value(after, tuple(path.split(".")), value)
    return diff(parse_platform(before), parse_platform(after))


def only(*settings: tuple[str, Any], before: Any = PLATFORM) -> Change:
    (change,) = changed(*settings, before=before).changes
    return change


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        (
            "clusters.demo.systemPool.maxNodes",
            5,
            "`autoscaling` is in adopted.ignoreChanges of clusters.demo.systemPool",
        ),
        (f"{POOL}.autoscaling.maxSlices", 32, f"`autoscaling` is in adopted.ignoreChanges of {POOL}"),
        (f"{POOL}.diskSizeGb", 200, f"`nodeConfig.diskSizeGb` is in adopted.ignoreChanges of {POOL}"),
        (
            "clusters.demo.security.fqdnNetworkPolicy",
            True,
            "`enableFqdnNetworkPolicy` is in adopted.ignoreChanges of clusters.demo",
        ),
        (
            "clusters.demo.addons",
            {"ray": {"mode": "none"}},
            "`addonsConfig.rayOperatorConfigs` is in adopted.ignoreChanges of clusters.demo",
        ),
        ("clusters.demo.costAllocation", False, "`costManagementConfig` is in adopted.ignoreChanges of clusters.demo"),
    ],
)
def test_a_change_of_a_kept_property_has_no_effect(path: str, value: Any, why: str) -> None:
    found = changed((path, value))
    (change,) = found.changes
    assert (change.kind, change.why) == ("nothing", f"Without effect: {why}; remove it there first.")
    assert change.node_pools == ()
    assert found.before.plan.chips == found.after.plan.chips == 64


def test_a_change_of_a_kept_and_of_another_property_has_the_class_of_its_field() -> None:
    fixed = changed((f"{POOL}.autoscaling", None), (f"{POOL}.slices", 20))
    assert "Without effect" not in "".join(change.why for change in fixed.changes)


def test_a_new_node_pool_of_an_adopted_pool_keeps_nothing() -> None:
    change = only((f"{POOL}.autoscaling.maxSlices", 17), before=MULTI_HOST)
    assert (change.kind, {pool.done for pool in change.node_pools}) == ("creates", {"created"})


def test_a_renamed_pool_keeps_its_properties() -> None:
    pool: dict[str, Any] = {**DEMO["pools"]["v6e"], "formerly": "v6e", "diskSizeGb": 200}
    found = changed((POOL, None), ("clusters.demo.pools.other", pool))
    assert [change.kind for change in found.changes if change.path[-1] == "diskSizeGb"] == ["nothing"]


@pytest.mark.parametrize(
    ("part", "before", "after", "kind", "rejected"),
    [
        ("cluster", ["costManagementConfig"], [], "in-place", False),
        ("cluster", ["costManagementConfig", "resourceLabels"], ["resourceLabels"], "in-place", False),
        ("cluster", ["addonsConfig.gcsFuseCsiDriverConfig"], [], "in-place", False),
        ("cluster", ["enableShieldedNodes", "resourceLabels"], [], "rolls-nodes", False),
        ("cluster", ["addonsConfig.rayOperatorConfigs"], [], "deletes-work", False),
        ("cluster", ["datapathProvider"], [], "replaces-cluster", True),
        ("cluster", ["ipAllocationPolicy.servicesSecondaryRangeName"], [], "replaces-cluster", True),
        ("cluster", ["clusterAutoscaling.autoscalingProfile", "enableMultiNetworking"], [], "in-place", False),  # xpk's
        ("cluster", ["description"], [], "replaces-cluster", True),
        ("cluster", ["unknown"], [], "replaces-cluster", False),
        ("cluster", ["unknown", "datapathProvider"], [], "replaces-cluster", True),
        ("cluster", [], ["datapathProvider"], "nothing", False),
        ("systemPool", ["autoscaling"], [], "in-place", False),
        ("pool", ["upgradeSettings.maxSurge", "upgradeSettings.maxUnavailable"], [], "in-place", False),
        ("pool", ["upgradeSettings"], [], "in-place", False),
        ("pool", ["nodeConfig.labels"], [], "in-place", False),
        ("pool", ["nodeConfig.labels"], ["nodeConfig.labels", "nodeConfig.tags"], "nothing", False),
        ("pool", ["nodeConfig.gvnic"], [], "rolls-nodes", False),
        ("pool", ["nodeConfig.oauthScopes", "nodeConfig.labels"], [], "replaces-pools", True),
        ("pool", ["nodeConfig"], [], "replaces-pools", True),
        ("pool", ["nodeConfig.resourceManagerTags"], [], "in-place", False),
        ("pool", ["unknown"], [], "replaces-pools", False),
        ("cluster", ["ipAllocationPolicy"], [], "replaces-cluster", True),
        ("cluster", ["ipAllocationPolicy.stackType"], [], "in-place", False),
        ("cluster", ["ipAllocationPolicy.additionalPodRangesConfig.podRangeNames"], [], "in-place", False),
        ("cluster", ["secretSyncConfig", "networkPerformanceConfig", "rollbackSafeUpgrade"], [], "in-place", False),
        ("cluster", ["nodeLocations"], [], "deletes-nodes", False),
        ("cluster", ["enableFqdnNetworkPolicy"], [], "replaces-cluster", False),  # off: only with a new cluster
        ("pool", ["maintenancePolicies", "nodeConfig.taintConfig"], [], "in-place", False),
        ("pool", ["nodeConfig.kubeletConfig.cpuManagerPolicy"], [], "rolls-nodes", False),
        ("pool", ["nodeConfig.reservationAffinity.values"], [], "replaces-pools", True),
        ("pool", ["nodeConfig.machineType"], [], "replaces-pools", True),  # by replaceOnChanges of a TPU pool
        ("systemPool", ["nodeConfig.machineType"], [], "rolls-nodes", False),
        ("pool", ["nodeLocations", "placementPolicy.type"], [], "deletes-nodes", False),
        ("slice", ["nodeLocations"], [], "replaces-pools", True),
        ("slice", ["placementPolicy.type"], [], "replaces-pools", True),
    ],
)
def test_a_removed_property_has_a_class(
    part: str, before: list[str], after: list[str], kind: str, *, rejected: bool
) -> None:
    """Only a property that certainly replaces its resource advises against the protection of the cluster."""
    place = KEPT["pool" if part == "slice" else part]
    former = with_value(MULTI_HOST if part == "slice" else PLATFORM, tuple(place.split(".")), before)
    found = changed((place, after), before=former)
    (change,) = found.changes
    assert change.kind == kind
    assert bool(found.rejected) == rejected


@pytest.mark.parametrize(
    ("removed", "closes"),
    [
        ("privateClusterConfig.enablePrivateEndpoint", True),
        ("privateClusterConfig", True),
        ("masterAuthorizedNetworksConfig", True),
        ("masterAuthorizedNetworksConfig.cidrBlocks", True),
        ("controlPlaneEndpointsConfig.ipEndpointsConfig", True),
        ("privateClusterConfig.enablePrivateNodes", False),
        ("resourceLabels", False),
    ],
)
def test_a_property_that_guards_the_control_plane_closes(removed: str, *, closes: bool) -> None:
    former = with_value(PLATFORM, tuple(KEPT["cluster"].split(".")), [removed, "description"])
    found = changed((KEPT["cluster"], ["description"]), before=former)
    assert [closing.value for closing in found.closes] == [(removed,)] * closes
    assert found.reaches("closes") == closes


def test_a_kept_guard_closes_when_it_leaves_the_list() -> None:
    networks = [{"cidr": "203.0.113.0/24", "name": "office"}, {"cidr": "198.51.100.0/24", "name": "vpn"}]
    plane = {"publicEndpoint": True, "authorizedNetworks": networks}
    former = with_value(PLATFORM, ("clusters", "demo", "controlPlane"), plane)
    fewer = ("clusters.demo.controlPlane.authorizedNetworks", networks[:1])
    assert changed(fewer, before=former).reaches("closes")
    kept = with_value(former, tuple(KEPT["cluster"].split(".")), ["masterAuthorizedNetworksConfig.cidrBlocks"])
    assert not changed(fewer, before=kept).reaches("closes")
    assert changed(fewer, (KEPT["cluster"], []), before=kept).reaches("closes")


@pytest.mark.parametrize(("field", "value"), [("topology", "2x2x2"), ("acceleratorTopologyMode", "AUTO_CONNECT")])
def test_slices_whose_placement_is_kept_stay_as_they_are(field: str, value: str) -> None:
    cubes = {"generation": "tpu7x", "topology": "4x4x4", "zone": "us-central1-c"}
    adopted = {"names": ["v6e-0"], "ignoreChanges": ["nodeConfig.tags", "placementPolicy"]}
    former = with_value(PLATFORM, tuple(POOL.split(".")), {**cubes, "adopted": adopted})
    change = (f"{POOL}.{field}", value)
    (rejection,) = changed(change, before=former).rejected
    kept = f"`placementPolicy` is in adopted.ignoreChanges of {POOL}"
    assert rejection.why == f"The update would keep the former placement of v6e-0, because {kept}"
    released = changed(change, (KEPT["pool"], ["nodeConfig.tags"]), before=former).rejected
    assert not any("placementPolicy" in other.why for other in released)


def test_a_single_host_slice_has_no_placement_to_keep() -> None:
    adopted = {"names": ["v6e-0"], "ignoreChanges": ["placementPolicy"]}
    single = {"generation": "v6e", "topology": "2x2", "adopted": adopted}
    former = with_value(PLATFORM, tuple(POOL.split(".")), single)
    rejected = changed((f"{POOL}.topology", "1x1"), before=former).rejected
    assert not any("placementPolicy" in other.why for other in rejected)


def test_a_switch_that_is_on_is_released_in_place() -> None:
    former = with_value(PLATFORM, ("clusters", "demo", "security"), {"fqdnNetworkPolicy": True})
    assert only((KEPT["cluster"], DEMO["adopted"]["ignoreChanges"][:-1]), before=former).kind == "in-place"


def test_a_change_of_two_kept_properties_names_both() -> None:
    former = with_value(PLATFORM, tuple(KEPT["cluster"].split(".")), ["resourceLabels"])
    for pool in ("pool", "systemPool"):
        former = with_value(former, tuple(KEPT[pool].split(".")), ["nodeConfig.resourceLabels"])
    why = only(("clusters.demo.labels", {"env": "prod"}), before=former).why
    assert why.startswith("Without effect: `resourceLabels` is in adopted.ignoreChanges of clusters.demo and ")
    assert why.endswith("; remove them there first.")


@pytest.mark.parametrize(
    ("kept", "before", "after", "kind"),
    [
        (["nodeConfig.maxRunDuration"], "flex-start", {"flexStart": {"maxRunDuration": "3d"}}, "nothing"),
        (["nodeConfig.maxRunDuration"], "flex-start", {"flexStart": {"maxRunDuration": "168h"}}, "nothing"),
        (["nodeConfig.diskType"], "flex-start", {"flexStart": {"maxRunDuration": "168h"}}, "nothing"),  # its default
        (["nodeConfig.maxRunDuration"], "flex-start", {"flexStart": {"queued": True}}, "replaces-pools"),
        (["nodeConfig.maxRunDuration"], "flex-start", {"capacity": "spot"}, "replaces-pools"),
        (["queuedProvisioning"], "flex-start", {"flexStart": {"queued": True}}, "nothing"),
        ([], "flex-start", {"flexStart": {"maxRunDuration": "3d"}}, "replaces-pools"),
        (["nodeConfig.spot", "nodeConfig.labels"], "spot", {"capacity": "on-demand"}, "nothing"),
        (["nodeConfig.spot"], "spot", {"capacity": "on-demand"}, "in-place"),  # the label of the capacity changes
        (["nodeConfig.labels"], "spot", {"capacity": "on-demand"}, "replaces-pools"),
        (["nodeConfig.spot"], "spot", {"capacity": "flex-start"}, "replaces-pools"),
        (["nodeConfig", "queuedProvisioning"], "spot", {"capacity": "flex-start"}, "in-place"),  # no repair
        (["nodeConfig", "queuedProvisioning", "management"], "spot", {"capacity": "flex-start"}, "nothing"),
        (["nodeConfig.reservationAffinity"], "reservation", {"reservation": {"name": "beta"}}, "nothing"),
        (["nodeConfig.spot"], "reservation", {"reservation": {"name": "beta"}}, "replaces-pools"),
    ],
)
def test_a_change_of_capacity_keeps_every_property_that_it_becomes(
    kept: list[str], before: str, after: dict[str, Any], kind: str
) -> None:
    reservations = {key: {"generation": "v6e", "zone": "us-central1-b", "chips": 64} for key in ("alpha", "beta")}
    pool = {**DEMO["pools"]["v6e"], "capacity": before, "adopted": {"names": ["v6e"], "ignoreChanges": kept}}
    pool |= {"reservation": {"name": "alpha"}} if before == "reservation" else {}
    former = with_value({**PLATFORM, "reservations": reservations}, tuple(POOL.split(".")), pool)
    found = changed((POOL, {**pool, **after}), before=former)
    assert [change.kind for change in found.changes] == [kind]
    assert {done.done for change in found.changes for done in change.node_pools} == (
        {"replaced"} if kind == "replaces-pools" else set()
    )
