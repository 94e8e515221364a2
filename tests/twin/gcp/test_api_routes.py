"""Routes and peerings of networks, by the requests of the official provider and of gcloud."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from tpuplane_twin.gcp.projects import project_number

from tests.support.gcp.twin_api import COMPUTE, LOCATION, Api

pytestmark = pytest.mark.twin

NETWORKS = f"{COMPUTE}/global/networks"
ROUTES = f"{COMPUTE}/global/routes"
SUBNETS = f"{COMPUTE}/regions/{LOCATION}/subnetworks"
LINK = "https://www.googleapis.com/compute/beta/projects/acme/global"
GATEWAY = "global/gateways/default-internet-gateway"


@pytest.fixture
async def networks(api: Api) -> Api:
    """The networks a and b, each with a subnetwork."""
    for name, block in (("a", "10.0.0.0/20"), ("b", "10.1.0.0/20")):
        await api.call("POST", NETWORKS, {"name": name, "autoCreateSubnetworks": False})
        subnet = {"name": name, "network": f"global/networks/{name}", "ipCidrRange": block}
        await api.call("POST", SUBNETS, subnet)
    return api


async def routes(api: Api, expression: str) -> list[Any]:
    found: list[Any] = (await api.call("GET", f"{ROUTES}?filter={quote(expression)}")).get("items", [])
    return found


async def test_the_default_route_of_a_network_is_deleted_as_the_provider_does(networks: Api) -> None:
    """`delete_default_routes_on_create`: the filter has a link in the version of the request."""
    wanted = f'(network="{LINK}/networks/a") AND (destRange="0.0.0.0/0")'
    (default,) = await routes(networks, wanted)
    assert (default["nextHopGateway"], default["priority"]) == (f"{LINK}/gateways/default-internet-gateway", 1000)
    assert await networks.call("GET", f"{ROUTES}/{default['name']}") == default
    await networks.call("DELETE", f"{ROUTES}/{default['name']}")
    assert await routes(networks, wanted) == []
    assert len(await routes(networks, wanted.replace("networks/a", "networks/b"))) == 1
    await networks.rejected("DELETE", f"{ROUTES}/{default['name']}", None, 404)
    (other,) = await routes(networks, wanted.replace("networks/a", "networks/b"))
    taken = {"name": other["name"], "network": "global/networks/a", "destRange": "0.0.0.0/0"}
    assert "already exists" in await networks.rejected("POST", ROUTES, {**taken, "nextHopGateway": GATEWAY}, 409)


async def test_each_range_of_a_subnetwork_has_a_route(networks: Api) -> None:
    fingerprint = (await networks.call("GET", f"{SUBNETS}/a"))["fingerprint"]
    pods = [{"rangeName": "pods", "ipCidrRange": "10.16.0.0/16"}]
    await networks.call("PATCH", f"{SUBNETS}/a", {"secondaryIpRanges": pods, "fingerprint": fingerprint})
    found = await routes(networks, f'nextHopNetwork="{LINK}/networks/a"')
    assert [route["destRange"] for route in found] == ["10.0.0.0/20", "10.16.0.0/16"]
    await networks.rejected("DELETE", f"{ROUTES}/{found[0]['name']}", None, 400)


async def test_a_static_route_keeps_its_network(networks: Api) -> None:
    vip = {"name": "vip", "network": "global/networks/a", "destRange": "199.36.153.4/30", "nextHopGateway": GATEWAY}
    await networks.call("POST", ROUTES, vip)
    assert (await networks.call("GET", f"{ROUTES}/vip"))["priority"] == 1000
    await networks.call("DELETE", f"{SUBNETS}/a")
    assert "global/routes/vip" in await networks.rejected("DELETE", f"{NETWORKS}/a", None, 400)
    await networks.call("DELETE", f"{ROUTES}/vip")
    await networks.call("DELETE", f"{NETWORKS}/a")
    assert await routes(networks, f'network="{LINK}/networks/a"') == []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "Set exactly one of nextHopGateway and nextHopIp"),
        ({"nextHopGateway": GATEWAY, "nextHopIp": "10.0.0.7"}, "Set exactly one of"),
        ({"nextHopGateway": "global/gateways/mine"}, f"The only gateway is {GATEWAY}."),
        ({"nextHopIp": "10.0.0"}, "does not appear to be an IPv4 or IPv6 address"),
        ({"nextHopIp": "10.0.0.7", "destRange": "15.0.0.1/24"}, "has host bits set"),
        ({"nextHopIp": "10.0.0.7", "network": "global/networks/none"}, "was not found"),
    ],
)
async def test_static_routes_that_cannot_be(networks: Api, fields: dict[str, Any], message: str) -> None:
    body = {"name": "r", "network": "global/networks/a", "destRange": "15.0.0.0/24", **fields}
    status = 404 if "network" in fields else 400
    assert message in await networks.rejected("POST", ROUTES, body, status)


async def peerings(api: Api, network: str) -> dict[str, Any]:
    found = (await api.call("GET", f"{NETWORKS}/{network}")).get("peerings", [])
    return {peering["name"]: peering for peering in found}


async def peer(api: Api, network: str, other: str, name: str = "peer") -> None:
    body = {"name": name, "network": other, "exchangeSubnetRoutes": True}
    await api.call("POST", f"{NETWORKS}/{network}/addPeering", {"networkPeering": body})


async def test_a_peering_is_active_once_both_networks_have_it(networks: Api) -> None:
    await peer(networks, "a", f"{LINK}/networks/b")
    assert (await peerings(networks, "a"))["peer"]["state"] == "INACTIVE"
    await peer(networks, "b", "projects/acme/global/networks/a")
    assert {(await peerings(networks, name))["peer"]["state"] for name in "ab"} == {"ACTIVE"}
    again = {"networkPeering": {"name": "again", "network": "global/networks/b"}}
    await networks.rejected("POST", f"{NETWORKS}/a/addPeering", again, 400)
    itself = {"networkPeering": {"name": "itself", "network": "global/networks/a"}}
    assert "with itself" in await networks.rejected("POST", f"{NETWORKS}/a/addPeering", itself, 400)
    changed = {"networkPeering": {"name": "peer", "exportCustomRoutes": True}}
    await networks.call("PATCH", f"{NETWORKS}/a/updatePeering", changed)
    peering = (await peerings(networks, "a"))["peer"]
    assert (peering["exportCustomRoutes"], peering["network"]) == (True, f"{LINK}/networks/b")
    await networks.call("POST", f"{NETWORKS}/a/removePeering", {"name": "peer"})
    assert await peerings(networks, "a") == {}
    await networks.rejected("POST", f"{NETWORKS}/a/removePeering", {"name": "peer"}, 400)


async def test_peers_have_no_common_ranges(networks: Api) -> None:
    block = {"name": "same", "network": "global/networks/b", "ipCidrRange": "10.0.8.0/24"}
    await networks.call("POST", SUBNETS, block)
    said = {"networkPeering": {"name": "peer", "network": "global/networks/b"}}
    message = await networks.rejected("POST", f"{NETWORKS}/a/addPeering", said, 400)
    assert "The range 10.0.0.0/20 of the network 'projects/acme/global/networks/a' overlaps" in message
    await peer(networks, "a", "projects/elsewhere/global/networks/b")


async def test_private_services_access_is_a_peering(networks: Api) -> None:
    """Cluster Toolkit's modules of Lustre read it; `gcloud compute networks peerings delete` ends the connection."""
    reserved = {"purpose": "VPC_PEERING", "addressType": "INTERNAL", "prefixLength": 20}
    addresses = f"{COMPUTE}/global/addresses"
    await networks.call("POST", addresses, {"name": "range", "network": "global/networks/a", **reserved})
    connections = "/servicenetworking/v1/services/servicenetworking.googleapis.com/connections"
    number = f"projects/{project_number('acme')}/global/networks/a"
    asked = {"network": number, "reservedPeeringRanges": ["range"]}
    name = "servicenetworking-googleapis-com"
    await networks.call("POST", connections, asked)
    await networks.call(
        "PATCH",
        f"{NETWORKS}/a/updatePeering",
        {"networkPeering": {"name": name, "stackType": "IPV4_ONLY", "exportCustomRoutes": True}},
    )
    await networks.call("POST", connections, asked)
    found = (await peerings(networks, "a"))[name]
    assert (found["state"], found["exportCustomRoutes"]) == ("ACTIVE", True)
    await networks.call("POST", f"{NETWORKS}/a/removePeering", {"name": name})
    assert await networks.call("GET", f"{connections}?network={number}") == {"connections": []}
    await networks.call("POST", connections, asked)
    assert (await peerings(networks, "a"))[name]["exportCustomRoutes"] is False
    await networks.call("POST", f"{connections}/{name}", {"consumerNetwork": number})
    assert await peerings(networks, "a") == {}
