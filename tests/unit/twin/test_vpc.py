"""Whom a control plane's private endpoint answers: what GKE's options say of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tpuplane_twin.cluster.vpc import PrivateEndpoint, Vpc

pytestmark = pytest.mark.unit

HUB, STRANGER = "10.64.3.7", "10.99.0.1"


def endpoint(**changes: Any) -> PrivateEndpoint:
    """Of a cluster in us-central1 whose pods are in 10.68.0.0/14."""
    control = {"enabled": True, "globalAccess": changes.pop("globally", False)} | changes.pop("control", {})
    cluster = {
        "location": "us-central1-b",
        "clusterIpv4Cidr": "10.68.0.0/14",
        "networkConfig": {"network": "projects/p/global/networks/lab"},
        "privateClusterConfig": {"privateEndpoint": "10.0.16.2"},
        "controlPlaneEndpointsConfig": {"ipEndpointsConfig": control},
        **changes,
    }
    found = PrivateEndpoint.of(cluster)
    assert found is not None
    return found


def authorized(*blocks: str) -> dict[str, Any]:
    cidrs = [{"cidrBlock": block, "displayName": "x"} for block in blocks]
    return {"masterAuthorizedNetworksConfig": {"enabled": True, "cidrBlocks": cidrs}}


def test_its_own_pods_are_always_answered() -> None:
    assert endpoint(**authorized()).rejection("10.68.0.9", "us-central1") is None


def test_without_authorized_networks_the_whole_vpc_is_answered() -> None:
    assert endpoint().rejection(STRANGER, "us-central1") is None


def test_only_authorized_networks_are_answered() -> None:
    found = endpoint(**authorized("10.64.0.0/14"))
    assert found.rejection(HUB, "us-central1") is None
    assert found.rejection(STRANGER, "us-central1") == "10.99.0.1 is in none of the authorized networks"


def test_other_regions_are_answered_with_global_access_only() -> None:
    assert endpoint(globally=True, **authorized("10.64.0.0/14")).rejection(HUB, "us-east5") is None
    assert endpoint(globally=True, **authorized()).rejection(HUB, "us-east5") is not None
    said = endpoint(**authorized("10.64.0.0/14")).rejection(HUB, "us-east5")
    assert said == "10.64.3.7 is in us-east5, and the private endpoint is for us-central1 alone: no global access"


def test_a_cluster_without_an_address_has_no_endpoint() -> None:
    assert PrivateEndpoint.of({"location": "us-central1"}) is None
    assert endpoint(control={"enabled": False}).answers is False


def test_a_vpc_shows_what_serves_in_the_same_network_and_tells_of_changes() -> None:
    vpc, changed, mine = Vpc(), asyncio.Event(), endpoint()
    elsewhere = endpoint(networkConfig={"network": "projects/p/global/networks/other"})
    vpc.watch(changed)
    vpc.publish("a", mine, 20001)
    vpc.publish("b", elsewhere, 20002)
    assert changed.is_set()
    assert vpc.seen_from(mine.network) == {"10.0.16.2": (mine, 20001)}
    changed.clear()
    vpc.withdraw("a")
    assert changed.is_set()
    assert vpc.seen_from(mine.network) == {}
    changed.clear()
    vpc.withdraw("a")
    vpc.unwatch(changed)
    vpc.publish("a", mine, 20001)
    assert not changed.is_set()
