"""Compute Engine: networks, subnetworks, routers, firewalls, resource policies and their operations."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.gcp.twin_api import COMPUTE, LOCATION, Api

pytestmark = pytest.mark.twin

NETWORKS = f"{COMPUTE}/global/networks"
FIREWALLS = f"{COMPUTE}/global/firewalls"
REGION = f"{COMPUTE}/regions/{LOCATION}"
SUBNETS = f"{REGION}/subnetworks"
ROUTERS = f"{REGION}/routers"
LINK = "https://www.googleapis.com/compute/beta/projects/acme"


async def test_network_insert_poll_get_delete(api: Api) -> None:
    operation = await api.call("POST", NETWORKS, {"name": "n", "autoCreateSubnetworks": False})
    polled = await api.call("GET", f"{COMPUTE}/global/operations/{operation['name']}")
    assert (polled["status"], polled["progress"], polled["operationType"]) == ("DONE", 100, "insert")
    waited = await api.call("POST", f"{COMPUTE}/global/operations/{operation['name']}/wait")
    assert waited == polled
    network = await api.call("GET", f"{NETWORKS}/n")
    assert network["selfLink"] == polled["targetLink"] == f"{LINK}/global/networks/n"
    assert network["routingConfig"] == {"routingMode": "REGIONAL", "bgpBestPathSelectionMode": "LEGACY"}
    assert network["id"] == polled["targetId"]
    assert [found["name"] for found in (await api.call("GET", NETWORKS))["items"]] == ["default", "n"]
    await api.call("DELETE", f"{NETWORKS}/n")
    await api.rejected("GET", f"{NETWORKS}/n", None, 404)


async def test_invalid_and_duplicate_names_are_rejected(api: Api) -> None:
    assert "Must be a match of regex" in await api.rejected("POST", NETWORKS, {"name": "Upper"}, 400)
    assert await api.rejected("POST", NETWORKS, {}, 400) == "Required field 'resource.name' not specified"
    await api.call("POST", NETWORKS, {"name": "n"})
    taken = await api.rejected("POST", NETWORKS, {"name": "n"}, 409)
    assert taken == "The resource 'projects/acme/global/networks/n' already exists"


async def test_auto_mode_has_a_subnetwork_in_every_region_and_takes_them_along(api: Api) -> None:
    await api.call("POST", NETWORKS, {"name": "auto", "autoCreateSubnetworks": True})
    regions = [found["name"] for found in (await api.call("GET", f"{COMPUTE}/regions"))["items"]]
    subnets = (await api.call("GET", f"{NETWORKS}/auto"))["subnetworks"]
    assert sorted(subnets) == [f"{LINK}/regions/{region}/subnetworks/auto" for region in sorted(regions)]
    blocks = {
        region: (await api.call("GET", f"{COMPUTE}/regions/{region}/subnetworks/auto"))["ipCidrRange"]
        for region in regions
    }
    # https://docs.cloud.google.com/vpc/docs/subnets#ip-ranges
    assert (blocks["us-central1"], blocks["europe-west4"], blocks["us-east5"]) == (
        "10.128.0.0/20",
        "10.164.0.0/20",
        "10.202.0.0/20",
    )
    assert len(set(blocks.values())) == len(regions)
    await api.call("DELETE", f"{NETWORKS}/auto")
    await api.rejected("GET", f"{SUBNETS}/auto", None, 404)


async def test_a_new_project_has_googles_default_network(api: Api) -> None:
    network = await api.call("GET", f"{NETWORKS}/default")
    assert network["autoCreateSubnetworks"] is True
    subnet = await api.call("GET", f"{SUBNETS}/default")
    assert (subnet["ipCidrRange"], subnet["selfLink"] in network["subnetworks"]) == ("10.128.0.0/20", True)
    rules = (await api.call("GET", f"{COMPUTE}/global/firewalls"))["items"]
    assert {rule["name"]: (rule["priority"], *rule["sourceRanges"]) for rule in rules} == {
        "default-allow-icmp": (65534, "0.0.0.0/0"),
        "default-allow-internal": (65534, "10.128.0.0/9"),
        "default-allow-rdp": (65534, "0.0.0.0/0"),
        "default-allow-ssh": (65534, "0.0.0.0/0"),
    }
    assert "already being used" in await api.rejected("DELETE", f"{NETWORKS}/default", None, 400)
    for rule in rules:
        await api.call("DELETE", f"{COMPUTE}/global/firewalls/{rule['name']}")
    await api.call("DELETE", f"{NETWORKS}/default")
    await api.rejected("GET", f"{NETWORKS}/default", None, 404)
    assert (await api.call("GET", NETWORKS))["items"] == []


async def test_subnetwork_reads_back_whole(project: Api) -> None:
    subnet = await project.call("GET", f"{SUBNETS}/sub")
    assert subnet["network"] == f"{LINK}/global/networks/net"
    assert subnet["region"] == f"{LINK}/regions/us-central1"
    assert subnet["gatewayAddress"] == "10.0.0.1"
    assert [found["rangeName"] for found in subnet["secondaryIpRanges"]] == ["pods", "services"]
    assert subnet["privateIpGoogleAccess"] is False
    assert (await project.call("GET", f"{NETWORKS}/net"))["subnetworks"] == [subnet["selfLink"]]


async def test_private_google_access_is_switched_and_empty_means_off(project: Api) -> None:
    access = f"{SUBNETS}/sub/setPrivateIpGoogleAccess"
    await project.call("POST", access, {"privateIpGoogleAccess": True})
    assert (await project.call("GET", f"{SUBNETS}/sub"))["privateIpGoogleAccess"] is True
    await project.call("POST", access, {})
    assert (await project.call("GET", f"{SUBNETS}/sub"))["privateIpGoogleAccess"] is False


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"network": "global/networks/nope"}, "The resource 'projects/acme/global/networks/nope' was not found"),
        ({"ipCidrRange": "10.0.0.1/20"}, "Must be a CIDR address range"),
        ({"ipCidrRange": "10.9.0.0/30"}, "10.9.0.0/30 is too small; the smallest range is a /29"),
        (
            {"secondaryIpRanges": [{"rangeName": "r", "ipCidrRange": "10.64.0.1"}]},
            "10.64.0.1/32 is too small; the smallest range is a /29",
        ),
        ({"ipCidrRange": "10.0.8.0/24"}, "conflicts with existing subnetwork 'sub' in region 'us-central1'"),
        (
            {"secondaryIpRanges": [{"rangeName": "r", "ipCidrRange": "10.16.0.0/20"}]},
            "conflicts with existing subnetwork 'sub'",
        ),
        (
            {"secondaryIpRanges": [{"rangeName": "r", "ipCidrRange": "10.9.0.0/24"}]},
            "It overlaps with ipCidrRange 10.9.0.0/20.",
        ),
        (
            {"secondaryIpRanges": [{"ipCidrRange": "10.64.0.0/24"}]},
            "Required field 'resource.secondaryIpRanges[0].rangeName' not specified",
        ),
    ],
)
async def test_subnetworks_that_cannot_be(project: Api, fields: dict[str, Any], message: str) -> None:
    body = {"name": "s2", "network": "global/networks/net", "ipCidrRange": "10.9.0.0/20", **fields}
    status = 404 if "not found" in message else 400
    assert message in await project.rejected("POST", SUBNETS, body, status)


async def test_patch_needs_the_fingerprint_it_read(project: Api) -> None:
    before = await project.call("GET", f"{SUBNETS}/sub")
    ranges = [*before["secondaryIpRanges"], {"rangeName": "more", "ipCidrRange": "10.64.0.0/20"}]
    # proto3's bytes: the padding may be left out
    change = {"secondaryIpRanges": ranges, "fingerprint": before["fingerprint"].rstrip("=")}
    await project.call("PATCH", f"{SUBNETS}/sub", change)
    after = await project.call("GET", f"{SUBNETS}/sub")
    assert len(after["secondaryIpRanges"]) == 3
    assert await project.rejected("PATCH", f"{SUBNETS}/sub", change, 412) == "Invalid fingerprint."


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"secondaryIpRanges": [("pods", "10.64.0.0/14"), ("services", "10.32.0.0/20")]}, "range cannot be modified."),
        ({"secondaryIpRanges": [("pods", "10.16.0.0/14"), ("new", "10.64.0.0/20")]}, "Cannot add and remove secondary"),
        ({"ipCidrRange": "10.0.0.0/19"}, "can only be expanded, by expandIpCidrRange."),
        ({"fingerprint": None}, "Required field 'resource.fingerprint' not specified"),
    ],
)
async def test_ranges_that_are_there_do_not_change(project: Api, change: dict[str, Any], message: str) -> None:
    before = await project.call("GET", f"{SUBNETS}/sub")
    ranges = [{"rangeName": name, "ipCidrRange": block} for name, block in change.pop("secondaryIpRanges", [])]
    body = {"fingerprint": before["fingerprint"], **({"secondaryIpRanges": ranges} if ranges else {}), **change}
    assert message in await project.rejected("PATCH", f"{SUBNETS}/sub", body, 400)
    assert await project.call("GET", f"{SUBNETS}/sub") == before


async def test_secondary_ranges_go_in_a_request_of_their_own(project: Api) -> None:
    before = await project.call("GET", f"{SUBNETS}/sub")
    kept = before["secondaryIpRanges"][:1]
    await project.call("PATCH", f"{SUBNETS}/sub", {"secondaryIpRanges": kept, "fingerprint": before["fingerprint"]})
    assert (await project.call("GET", f"{SUBNETS}/sub"))["secondaryIpRanges"] == kept


async def test_the_primary_range_grows_and_never_shrinks(project: Api) -> None:
    expand, before = f"{SUBNETS}/sub/expandIpCidrRange", await project.call("GET", f"{SUBNETS}/sub")
    operation = await project.call("POST", expand, {"ipCidrRange": "10.0.0.0/19"})
    assert (operation["operationType"], operation["targetId"]) == ("expandIpCidrRange", before["id"])
    after = await project.call("GET", f"{SUBNETS}/sub")
    assert after["ipCidrRange"] == "10.0.0.0/19"
    assert after["fingerprint"] != before["fingerprint"]
    assert after["secondaryIpRanges"] == before["secondaryIpRanges"]
    for block in ("10.0.0.0/19", "10.0.0.0/20", "10.8.0.0/18"):
        assert "and be larger" in await project.rejected("POST", expand, {"ipCidrRange": block}, 400)
    assert "overlaps with ipCidrRange" in await project.rejected("POST", expand, {"ipCidrRange": "10.0.0.0/11"}, 400)
    await project.rejected("POST", expand, {}, 400)


async def test_a_region_has_one_active_subnetwork_for_proxies(project: Api) -> None:
    body = {"network": "global/networks/net", "purpose": "REGIONAL_MANAGED_PROXY", "role": "ACTIVE"}
    small = {**body, "name": "proxies", "ipCidrRange": "10.9.0.0/27"}
    assert "must be a /26 or larger" in await project.rejected("POST", SUBNETS, small, 400)
    first = {**small, "ipCidrRange": "10.9.0.0/23"}
    without = {name: value for name, value in first.items() if name != "role"}
    assert "'resource.role' not specified" in await project.rejected("POST", SUBNETS, without, 400)
    await project.call("POST", SUBNETS, first)
    expand = f"{SUBNETS}/proxies/expandIpCidrRange"
    assert "cannot change" in await project.rejected("POST", expand, {"ipCidrRange": "10.9.0.0/22"}, 400)
    second = {**body, "name": "more", "ipCidrRange": "10.10.0.0/23"}
    message = await project.rejected("POST", SUBNETS, second, 400)
    assert "The region already has the active proxy-only subnetwork 'proxies'." in message
    await project.call("POST", SUBNETS, {**second, "role": "BACKUP"})
    await project.call(
        "POST", SUBNETS.replace("us-central1", "us-east5"), {**second, "name": "east", "ipCidrRange": "10.11.0.0/23"}
    )


async def test_nat_is_an_entry_of_its_router(project: Api) -> None:
    await project.call("POST", ROUTERS, {"name": "r", "network": f"{LINK}/global/networks/net"})
    nat = {
        "name": "nat",
        "natIpAllocateOption": "AUTO_ONLY",
        "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES",
        "logConfig": {"enable": True, "filter": "ERRORS_ONLY"},
    }
    await project.call("PATCH", f"{ROUTERS}/r", {"nats": [nat]})
    router = await project.call("GET", f"{ROUTERS}/r")
    assert nat.items() <= router["nats"][0].items()
    assert router["network"] == f"{LINK}/global/networks/net"
    missing = await project.rejected("PATCH", f"{ROUTERS}/r", {"nats": [{"name": "x"}]}, 400)
    assert missing == "Required field 'resource.nats[0].natIpAllocateOption' not specified"
    await project.call("PATCH", f"{ROUTERS}/r", {"nats": []})
    assert (await project.call("GET", f"{ROUTERS}/r"))["nats"] == []


async def test_static_addresses_of_a_nat(project: Api) -> None:
    addresses = f"{REGION}/addresses"
    await project.call("POST", addresses, {"name": "one"})
    await project.call("POST", addresses, {"name": "two"})
    links = [f"{LINK}/regions/{LOCATION}/addresses/{name}" for name in ("one", "two")]
    one, two = (await project.call("GET", addresses))["items"]
    assert (one["address"], two["address"], one["status"]) == ("198.18.0.2", "198.18.0.3", "RESERVED")
    nat = {
        "name": "nat",
        "natIpAllocateOption": "MANUAL_ONLY",
        "natIps": links,
        "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES",
    }
    await project.call("POST", ROUTERS, {"name": "r", "network": "global/networks/net", "nats": [nat]})
    used = await project.call("GET", f"{addresses}/one")
    assert (used["status"], used["users"]) == ("IN_USE", [f"{LINK}/regions/{LOCATION}/routers/r"])
    assert "already being used by" in await project.rejected("DELETE", f"{addresses}/one", None, 400)
    unknown = {"nats": [{**nat, "natIps": [f"{links[0]}-none"]}]}
    await project.rejected("PATCH", f"{ROUTERS}/r", unknown, 404)
    drained = {**nat, "natIps": links[1:], "drainNatIps": [f"projects/acme/regions/{LOCATION}/addresses/one"]}
    await project.call("PATCH", f"{ROUTERS}/r", {"nats": [drained]})
    assert (await project.call("GET", f"{ROUTERS}/r"))["nats"][0]["drainNatIps"] == links[:1]
    assert (await project.call("GET", f"{addresses}/one"))["status"] == "IN_USE"
    action = {"sourceNatActiveIps": drained["drainNatIps"]}
    rules = [{"ruleNumber": 1, "match": "destination.ip == '1.1.0.1'", "action": action}]
    await project.call("PATCH", f"{ROUTERS}/r", {"nats": [{**nat, "natIps": links[1:], "rules": rules}]})
    rule = (await project.call("GET", f"{ROUTERS}/r"))["nats"][0]["rules"][0]
    assert rule["action"] == {"sourceNatActiveIps": links[:1]}
    assert "already being used by" in await project.rejected("DELETE", f"{addresses}/one", None, 400)
    bare = {field: rules[0][field] for field in ("ruleNumber", "match")}
    nulls = {"drainNatIps": None, "rules": [{**bare, "action": None}]}
    await project.call("PATCH", f"{ROUTERS}/r", {"nats": [{**nat, "natIps": links[1:], **nulls}]})
    changed = (await project.call("GET", f"{ROUTERS}/r"))["nats"][0]
    assert (changed["rules"], "drainNatIps" in changed) == ([bare], False)
    await project.call("DELETE", f"{ROUTERS}/r")
    await project.call("DELETE", f"{addresses}/one")


async def test_a_subnetwork_has_a_policy_until_it_is_deleted(project: Api) -> None:
    path = f"{SUBNETS}/sub"
    granted = [{"role": "roles/compute.networkUser", "members": ["user:a@example.com"]}]
    await project.call("POST", f"{path}/setIamPolicy", {"policy": {"bindings": granted}})
    found = await project.call("GET", f"{path}/getIamPolicy?optionsRequestedPolicyVersion=3")
    assert found["bindings"] == granted
    await project.call("POST", f"{path}/setIamPolicy", {"bindings": granted})  # the older form
    assert (await project.call("GET", f"{path}/getIamPolicy"))["bindings"] == granted
    await project.rejected("GET", f"{SUBNETS}/none/getIamPolicy", None, 404)
    subnet = await project.call("GET", path)
    await project.call("DELETE", path)
    await project.call("POST", SUBNETS, {field: subnet[field] for field in ("name", "network", "ipCidrRange")})
    assert (await project.call("GET", f"{path}/getIamPolicy"))["bindings"] == []


async def test_addresses_have_labels_and_may_be_internal(project: Api) -> None:
    addresses = f"{REGION}/addresses"
    internal = {"name": "inside", "addressType": "INTERNAL", "subnetwork": f"regions/{LOCATION}/subnetworks/sub"}
    await project.call("POST", addresses, internal)
    made = await project.call("GET", f"{addresses}/inside")
    assert (made["address"], made["purpose"]) == ("10.0.0.2", "GCE_ENDPOINT")
    assert made["subnetwork"] == f"{LINK}/regions/{LOCATION}/subnetworks/sub"
    message = await project.rejected("DELETE", f"{SUBNETS}/sub", None, 400)
    assert message.endswith(f"is already being used by 'projects/acme/regions/{LOCATION}/addresses/inside'")
    labels = {"labels": {"team": "a"}, "labelFingerprint": made["labelFingerprint"]}
    await project.call("POST", f"{addresses}/inside/setLabels", labels)
    assert (await project.call("GET", f"{addresses}/inside"))["labels"] == {"team": "a"}
    message = await project.rejected("POST", f"{addresses}/inside/setLabels", labels, 412)
    assert message == "Labels fingerprint either invalid or resource labels have changed"
    for address in ("10.0.0.2", "10.99.0.1"):
        rejected = {**internal, "name": "other", "address": address}
        assert "It must be a free address of 10.0.0.0/" in await project.rejected("POST", addresses, rejected, 400)
    await project.call("POST", NETWORKS, {"name": "two", "autoCreateSubnetworks": False})
    alike = {"name": "two", "network": "global/networks/two", "ipCidrRange": "10.0.0.0/20"}
    await project.call("POST", SUBNETS, alike)
    elsewhere = {**internal, "name": "other", "subnetwork": f"regions/{LOCATION}/subnetworks/two"}
    await project.call("POST", addresses, {**elsewhere, "address": "10.0.0.2"})


async def test_an_internal_address_is_by_default_of_the_network_default(project: Api) -> None:
    addresses = f"{REGION}/addresses"
    await project.call("POST", addresses, {"name": "inside", "addressType": "INTERNAL"})
    made = await project.call("GET", f"{addresses}/inside")
    assert made["subnetwork"] == f"{LINK}/regions/{LOCATION}/subnetworks/default"


async def test_null_in_a_patch_clears(project: Api) -> None:
    await project.call("POST", ROUTERS, {"name": "r", "network": "global/networks/net", "description": "old"})
    await project.call("PATCH", f"{ROUTERS}/r", {"description": None})
    assert "description" not in await project.call("GET", f"{ROUTERS}/r")


async def test_firewalls(project: Api) -> None:
    rule = {"name": "f", "network": "global/networks/net", "allowed": [{"IPProtocol": "tcp", "ports": ["443"]}]}
    await project.call("POST", FIREWALLS, rule)
    found = await project.call("GET", f"{FIREWALLS}/f")
    assert (found["direction"], found["priority"], found["sourceRanges"]) == ("INGRESS", 1000, ["0.0.0.0/0"])
    both = {**rule, "name": "g", "denied": [{"IPProtocol": "all"}]}
    assert "exactly one of allowed and denied" in await project.rejected("POST", FIREWALLS, both, 400)


async def test_put_replaces_a_rule_and_a_router(project: Api) -> None:
    network = "global/networks/net"
    rule = {"name": "f", "network": network, "allowed": [{"IPProtocol": "tcp"}], "sourceRanges": ["10.0.0.0/8"]}
    await project.call("POST", FIREWALLS, {**rule, "priority": 10, "targetTags": ["tpu"]})
    before = await project.call("GET", f"{FIREWALLS}/f")
    replaced = {"name": "f", "network": network, "denied": [{"IPProtocol": "udp"}], "sourceTags": ["cpu"]}
    operation = await project.call("PUT", f"{FIREWALLS}/f", replaced)
    assert operation["operationType"] == "update"
    after = await project.call("GET", f"{FIREWALLS}/f")
    assert (after["denied"], after["sourceTags"], after["priority"]) == ([{"IPProtocol": "udp"}], ["cpu"], 1000)
    assert not {"allowed", "targetTags", "sourceRanges"} & after.keys()
    for field in ("id", "name", "kind", "selfLink", "creationTimestamp"):
        assert after[field] == before[field]

    await project.call("POST", ROUTERS, {"name": "r", "network": network, "description": "old", "bgp": {"asn": 64512}})
    await project.call("PUT", f"{ROUTERS}/r", {"network": network})
    router = await project.call("GET", f"{ROUTERS}/r")
    assert not {"description", "bgp"} & router.keys()
    assert (router["name"], router["region"]) == ("r", f"{LINK}/regions/{LOCATION}")
    renamed = await project.rejected("PUT", f"{ROUTERS}/r", {"name": "s", "network": network}, 400)
    assert "The name cannot be changed." in renamed


async def test_used_resources_cannot_be_deleted(cluster: Api) -> None:
    answer = await cluster.call("DELETE", f"{NETWORKS}/net", status=400)
    assert answer["error"]["errors"][0]["reason"] == "resourceInUseByAnotherResource"
    assert answer["error"]["message"] == (
        "The network resource 'projects/acme/global/networks/net' is already being used by"
        " 'projects/acme/regions/us-central1/subnetworks/sub'"
    )
    message = await cluster.rejected("DELETE", f"{SUBNETS}/sub", None, 400)
    assert message.endswith("is already being used by 'projects/acme/locations/us-central1/clusters/c1'")


async def test_a_secondary_range_of_a_cluster_cannot_be_removed(cluster: Api) -> None:
    found = await cluster.call("GET", f"{SUBNETS}/sub")
    change = {"fingerprint": found["fingerprint"], "secondaryIpRanges": []}
    answer = await cluster.call("PATCH", f"{SUBNETS}/sub", change, status=400)
    assert answer["error"]["errors"][0]["reason"] == "resourceInUseByAnotherResource"
    assert (await cluster.call("GET", f"{SUBNETS}/sub"))["secondaryIpRanges"] == found["secondaryIpRanges"]


async def test_a_resource_policy_is_of_one_kind(api: Api) -> None:
    assert "Set exactly one of" in await api.rejected("POST", f"{REGION}/resourcePolicies", {"name": "p"}, 400)


async def test_zones_regions_and_pages(api: Api) -> None:
    region = await api.call("GET", REGION)
    assert f"{LINK}/zones/us-central1-a" in region["zones"]
    assert (await api.call("GET", f"{COMPUTE}/zones/us-central1-a"))["region"] == region["selfLink"]
    first = await api.call("GET", f"{COMPUTE}/zones?maxResults=2")
    second = await api.call("GET", f"{COMPUTE}/zones?maxResults=2&pageToken={first['nextPageToken']}")
    assert len({zone["name"] for page in (first, second) for zone in page["items"]}) == 4
    await api.rejected("GET", f"{COMPUTE}/zones/us-central1-z", None, 404)
    await api.rejected("GET", f"{COMPUTE}/regions/nowhere/subnetworks", None, 404)
    await api.rejected("GET", f"{COMPUTE}/zones?maxResults=x", None, 400)


async def test_v1_serves_the_same(project: Api) -> None:
    stable = SUBNETS.replace("/beta/", "/v1/")
    assert [found["name"] for found in (await project.call("GET", stable))["items"]] == ["default", "sub"]
