"""Filestore, by the requests of the official provider."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.gcp.twin_api import Api

pytestmark = pytest.mark.twin

COMPUTE = "/compute/beta/projects/acme"
ZONE, REGION = (f"/file/v1/projects/acme/locations/{place}/instances" for place in ("us-central1-b", "us-central1"))
NETWORKS = [{"network": "net", "modes": ["MODE_IPV4"], "connectMode": "DIRECT_PEERING"}]


def home(capacity: int = 1024, tier: str = "ZONAL", **fields: Any) -> dict[str, Any]:
    return {"tier": tier, "networks": NETWORKS, "fileShares": [{"name": "share", "capacityGb": capacity}], **fields}


@pytest.fixture
async def network(api: Api) -> Api:
    await api.call("POST", f"{COMPUTE}/global/networks", {"name": "net", "autoCreateSubnetworks": False})
    subnet = {"name": "sub", "network": "global/networks/net", "ipCidrRange": "10.0.0.0/16"}
    await api.call("POST", f"{COMPUTE}/regions/us-central1/subnetworks", subnet)
    return api


async def test_an_instance_has_an_address_outside_of_the_subnetworks(network: Api) -> None:
    begun = await network.call("POST", f"{ZONE}?instanceId=home", home(labels={"team": "ml"}))
    ended = await network.call("GET", f"/file/v1/{begun['name']}")
    assert ended["done"]
    assert ended["response"]["networks"][0]["ipAddresses"] == ["10.1.0.2"]
    await network.call("POST", f"{REGION}?instanceId=notes", home(tier="REGIONAL"))
    found = await network.call("GET", f"{REGION}/notes")
    assert (found["state"], found["networks"][0]["ipAddresses"]) == ("READY", ["10.1.0.66"])
    assert [each["name"].rpartition("/")[2] for each in (await network.call("GET", ZONE))["instances"]] == ["home"]
    everywhere = await network.call("GET", "/file/v1/projects/acme/locations/-/instances")
    assert {each["tier"] for each in everywhere["instances"]} == {"ZONAL", "REGIONAL"}
    await network.rejected("POST", f"{ZONE}?instanceId=home", home(), 409)
    await network.call("DELETE", f"{ZONE}/home")
    await network.rejected("GET", f"{ZONE}/home", None, 404)


@pytest.mark.parametrize(
    ("place", "name", "body", "message"),
    [
        (ZONE, "Home", home(), "Invalid instance_id"),
        (ZONE, "home", home(tier="ENTERPRISE"), 'Tier "ENTERPRISE" is not supported; allowed: BASIC_HDD'),
        (
            ZONE,
            "home",
            home(tier="REGIONAL"),
            "Tier REGIONAL is not supported in location us-central1-b: it needs a region",
        ),
        (REGION, "home", home(), "Tier ZONAL is not supported in location us-central1: it needs a zone"),
        (ZONE, "home", home(1000), "Invalid capacity_gb 1000"),
        (ZONE, "home", home(fileShares=[]), "exactly one file share"),
        (ZONE, "home", home(fileShares=[{"name": "Share", "capacityGb": 1024}]), 'Invalid file share name "Share"'),
        (
            ZONE,
            "home",
            home(tier="BASIC_HDD", fileShares=[{"name": "a" * 17, "capacityGb": 1024}]),
            "tier BASIC_HDD allows 1 to 16 lower-case letters",
        ),
        (ZONE, "home", home(networks=[]), "exactly one network"),
    ],
)
async def test_google_rejects(network: Api, place: str, name: str, body: dict[str, Any], message: str) -> None:
    assert message in await network.rejected("POST", f"{place}?instanceId={name}", body, 400)


@pytest.mark.parametrize(
    ("tier", "before", "after", "accepted"),
    [
        ("ZONAL", 1024, 1280, True),
        ("ZONAL", 1280, 1024, True),
        ("ZONAL", 9984, 10240, False),
        ("BASIC_HDD", 1024, 1025, True),
        ("BASIC_HDD", 1025, 1024, False),
    ],
)
async def test_capacities_change_within_a_range(
    network: Api, tier: str, before: int, after: int, *, accepted: bool
) -> None:
    await network.call("POST", f"{ZONE}?instanceId=home", home(before, tier))
    body = {"fileShares": [{"name": "share", "capacityGb": after}]}
    path = f"{ZONE}/home?updateMask=fileShares"
    if accepted:
        await network.call("PATCH", path, body)
    else:
        assert f"Invalid capacity_gb {after}: allowed: " in await network.rejected("PATCH", path, body, 400)
    kept = await network.call("GET", f"{ZONE}/home")
    assert int(kept["fileShares"][0]["capacityGb"]) == (after if accepted else before)
    assert "cannot be updated: tier" in await network.rejected("PATCH", f"{ZONE}/home?updateMask=tier", {}, 400)
