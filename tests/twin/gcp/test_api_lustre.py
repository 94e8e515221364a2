"""Managed Lustre and private services access, by the requests of the official provider."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane_twin.gcp.projects import project_number

from tests.support.gcp.twin_api import Api

pytestmark = pytest.mark.twin

COMPUTE = "/compute/beta/projects/acme/global"
CONNECTIONS = "/servicenetworking/v1/services/servicenetworking.googleapis.com/connections"
NETWORK = f"projects/{project_number('acme')}/global/networks/net"
ZONE = "/lustre/v1/projects/acme/locations/us-central1-b/instances"
RESERVED: dict[str, Any] = {"purpose": "VPC_PEERING", "addressType": "INTERNAL", "prefixLength": 20}
FILES = {"filesystem": "files", "capacityGib": "18000", "perUnitStorageThroughput": "500"}


async def network(api: Api) -> None:
    await api.call("POST", f"{COMPUTE}/networks", {"name": "net", "autoCreateSubnetworks": False})
    await api.call("POST", f"{COMPUTE}/addresses", {"name": "range", "network": "global/networks/net", **RESERVED})


async def connected(api: Api) -> Any:
    await network(api)
    return await api.call("POST", CONNECTIONS, {"network": NETWORK, "reservedPeeringRanges": ["range"]})


async def add(api: Api, name: str = "files", **fields: Any) -> Any:
    body = {"network": "projects/acme/global/networks/net", **FILES, **fields}
    return await api.call("POST", f"{ZONE}?instanceId={name}", body)


async def test_a_range_is_reserved_beside_those_of_the_network(api: Api) -> None:
    await network(api)
    subnets = "/compute/beta/projects/acme/regions/us-central1/subnetworks"
    subnet = {"name": "sub", "network": "global/networks/net", "ipCidrRange": "10.255.0.0/16"}
    said = await api.rejected("POST", subnets, subnet, 400)
    assert said.endswith("10.255.0.0/16 conflicts with the allocated range 'range'.")
    await api.call("POST", subnets, {**subnet, "ipCidrRange": "10.255.224.0/20"})
    await api.call("POST", f"{COMPUTE}/addresses", {"name": "two", "network": "global/networks/net", **RESERVED})
    found = await api.call("GET", f"{COMPUTE}/addresses/two")
    assert (found["address"], found["prefixLength"], found["status"]) == ("10.255.208.0", 20, "RESERVED")
    labels = {"labels": {"team": "ml"}, "labelFingerprint": found["labelFingerprint"]}
    await api.call("POST", f"{COMPUTE}/addresses/two/setLabels", labels)
    assert (await api.call("GET", f"{COMPUTE}/addresses/two"))["labels"] == {"team": "ml"}
    await api.rejected("DELETE", f"{COMPUTE}/networks/net", None, 400)
    await api.call("DELETE", f"{COMPUTE}/addresses/two")


async def test_a_range_leaves_room_for_subnetworks_that_are_created_after_it(api: Api) -> None:
    await api.call("POST", f"{COMPUTE}/networks", {"name": "net", "autoCreateSubnetworks": False})
    large = {"name": "range", "network": "global/networks/net", **RESERVED, "prefixLength": 16}
    await api.call("POST", f"{COMPUTE}/addresses", large)
    assert (await api.call("GET", f"{COMPUTE}/addresses/range"))["address"] == "10.255.0.0"
    subnet = {"name": "sub", "network": "global/networks/net", "ipCidrRange": "10.0.0.0/20"}
    await api.call("POST", "/compute/beta/projects/acme/regions/us-central1/subnetworks", subnet)


async def test_a_connection_has_reserved_ranges_and_changes_by_an_update(api: Api) -> None:
    begun = await connected(api)
    ended = await api.call("GET", f"/servicenetworking/v1/{begun['name']}")
    assert ended["response"]["peering"] == "servicenetworking-googleapis-com"
    listed = await api.call("GET", f"{CONNECTIONS}?network={NETWORK}")
    assert [found["reservedPeeringRanges"] for found in listed["connections"]] == [["range"]]
    await api.call("POST", f"{COMPUTE}/addresses", {"name": "two", "network": "global/networks/net", **RESERVED})
    more = {"network": NETWORK, "reservedPeeringRanges": ["range", "two"]}
    assert "Cannot modify allocated ranges" in await api.rejected("POST", CONNECTIONS, more, 400)
    await api.call("PATCH", f"{CONNECTIONS}/-?updateMask=reservedPeeringRanges&force=true", more)
    await api.rejected("POST", CONNECTIONS, {"network": NETWORK, "reservedPeeringRanges": ["none"]}, 400)
    assert await api.call("GET", f"{CONNECTIONS}?network=projects/1/global/networks/net") == {"connections": []}


async def test_an_instance_keeps_the_connection_of_its_network(api: Api) -> None:
    assert "private services access" in await api.rejected("POST", f"{ZONE}?instanceId=files", FILES, 400)
    await connected(api)
    begun = await add(api)
    ended = await api.call("GET", f"/lustre/v1/{begun['name']}")
    assert ended["done"]
    assert ended["response"]["mountPoint"] == "10.255.240.2@tcp:/files"
    await add(api, "more", filesystem="more")
    assert {found["mountPoint"] for found in (await api.call("GET", ZONE))["instances"]} == {
        "10.255.240.2@tcp:/files",
        "10.255.242.2@tcp:/more",
    }
    region, everywhere = (ZONE.replace("us-central1-b", place) for place in ("us-central1", "-"))
    assert len((await api.call("GET", everywhere))["instances"]) == 2
    assert "is not a zone" in await api.rejected("POST", f"{region}?instanceId=files", FILES, 400)
    gone = {"consumerNetwork": NETWORK}
    for name in ("files", "more"):
        await api.rejected("POST", f"{CONNECTIONS}/servicenetworking-googleapis-com", gone, 400)
        await api.call("DELETE", f"{ZONE}/{name}")
    await api.call("POST", f"{CONNECTIONS}/servicenetworking-googleapis-com", gone)
    assert not (await api.call("GET", f"{CONNECTIONS}?network={NETWORK}")).get("connections")


async def test_a_capacity_grows_within_its_tier(api: Api) -> None:
    await connected(api)
    await add(api)
    await api.call("PATCH", f"{ZONE}/files?updateMask=capacityGib,labels", {"capacityGib": "36000"})
    assert (await api.call("GET", f"{ZONE}/files"))["capacityGib"] == "36000"
    for mask, body in (
        ("capacityGib", {"capacityGib": "18000"}),
        ("capacityGib", {"capacityGib": "37000"}),
        ("capacityGib", {"capacityGib": "3168000"}),
        ("filesystem", {"filesystem": "other"}),
        ("perUnitStorageThroughput", {"perUnitStorageThroughput": "1000"}),
    ):
        await api.rejected("PATCH", f"{ZONE}/files?updateMask={mask}", body, 400)


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("Files", {}, "Invalid instance_id"),
        ("files", {"filesystem": "toolongname"}, "Invalid filesystem"),
        ("files", {"capacityGib": "9000"}, "Invalid capacity_gib 9000: allowed: "),
        ("files", {"perUnitStorageThroughput": "2000"}, "it must be one of 125, 250, 500, 1000."),
        ("files", {"capacity": "9000"}, "capacity"),
    ],
)
async def test_wrong_instances_are_rejected(api: Api, name: str, fields: Any, message: str) -> None:
    await connected(api)
    body = {"network": "projects/acme/global/networks/net", **FILES, **fields}
    assert message in await api.rejected("POST", f"{ZONE}?instanceId={name}", body, 400)
    region = ZONE.replace("us-central1-b", "us-central1")
    await api.rejected("POST", f"{region}?instanceId=files", body, 400)
