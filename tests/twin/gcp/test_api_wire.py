"""The wire: credentials, routes, unknown fields, types and error shapes."""

from __future__ import annotations

import json

import aiohttp
import pytest
from googleapiclient.discovery_cache import get_static_doc
from tpuplane_twin.gcp.app import every_handler
from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.discovery import Document

from tests.support.gcp.twin_api import CLUSTERS, COMPUTE, PROJECT_PATH, TOKEN, Api, cluster_body

pytestmark = pytest.mark.twin


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer another"}, {"Authorization": "Basic x"}])
async def test_requests_without_the_token_are_rejected(api: Api, headers: dict[str, str]) -> None:
    async with aiohttp.ClientSession(headers=headers) as session, session.get(api.url + CLUSTERS) as response:
        assert response.status == 401
        assert (await response.json())["error"]["status"] == "UNAUTHENTICATED"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "container.googleapis.com:443", "127.0.0.1.evil:1"]
)
async def test_other_hosts_are_rejected_with_the_token_too(api: Api, host: str) -> None:
    headers = {"Host": host, "Authorization": f"Bearer {TOKEN}"}
    async with aiohttp.ClientSession(headers=headers) as session, session.get(api.url + CLUSTERS) as response:
        assert response.status == 403
        assert (await response.json())["error"][
            "message"
        ] == f"The twin does not answer for host {host}; allowed: 127.0.0.1, localhost."


async def test_an_unknown_field_is_rejected_with_google_s_message(project: Api) -> None:
    body = {"cluster": cluster_body(nodePools=[{"name": "p", "config": {"foo": 1}}], bar=2)}
    answer = await project.call("POST", CLUSTERS, body, status=400)
    assert answer["error"]["status"] == "INVALID_ARGUMENT"
    assert answer["error"]["message"].split("\n") == [
        "Invalid JSON payload received. Unknown name \"foo\" at 'cluster.node_pools[0].config': Cannot find field.",
        "Invalid JSON payload received. Unknown name \"bar\" at 'cluster': Cannot find field.",
    ]
    violations = answer["error"]["details"][0]["fieldViolations"]
    assert [found["field"] for found in violations] == ["cluster.node_pools[0].config", "cluster"]


@pytest.mark.parametrize(
    ("pool", "message"),
    [
        ({"name": 5}, "Invalid value at 'node_pool.name' (TYPE_STRING), 5"),
        ({"initialNodeCount": "x"}, "Invalid value at 'node_pool.initial_node_count' (TYPE_INT32), \"x\""),
        ({"initialNodeCount": 2**31}, "Invalid value at 'node_pool.initial_node_count' (TYPE_INT32), 2147483648"),
        ({"config": {"spot": "yes"}}, "Invalid value at 'node_pool.config.spot' (TYPE_BOOL), \"yes\""),
        (
            {"placementPolicy": {"type": "NOPE"}},
            "Invalid value at 'node_pool.placement_policy.type'"
            ' (type.googleapis.com/google.container.v1beta1.PlacementPolicy.Type), "NOPE"',
        ),
        (
            {"config": {"maxRunDuration": "7d"}},
            "Invalid value at 'node_pool.config.max_run_duration'"
            ' (type.googleapis.com/google.protobuf.Duration), "7d"',
        ),
        ({"locations": "us-central1-a"}, "Invalid value at 'node_pool.locations', 'us-central1-a' is not a list."),
        ({"config": []}, "Invalid value at 'node_pool.config': expected a JSON object, got []."),
    ],
)
async def test_wrong_types_are_rejected(cluster: Api, pool: dict[str, object], message: str) -> None:
    assert await cluster.rejected("POST", f"{CLUSTERS}/c1/nodePools", {"nodePool": pool}, 400) == message


async def test_undocumented_fields_of_the_official_provider_are_accepted_and_not_stored(api: Api) -> None:
    network, router = f"{COMPUTE}/global/networks", f"{COMPUTE}/regions/us-central1/routers"
    routing = {"routingMode": "REGIONAL", "bgpBestPathSelectionMode": "LEGACY"}
    asked = {"name": "n", "autoCreateSubnetworks": False}
    await api.call("POST", network, {**asked, "routingConfig": {**routing, "deleteBgpAlwaysCompareMed": False}})
    await api.call("PATCH", f"{network}/n", {"mtu": 8896, "fingerprint": None})
    found = await api.call("GET", f"{network}/n")
    assert (found["mtu"], found["routingConfig"], found.get("fingerprint")) == (8896, routing, None)
    await api.call("POST", router, {"name": "r", "network": "projects/acme/global/networks/n"})
    nat = {
        "name": "out",
        "natIpAllocateOption": "AUTO_ONLY",
        "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES",
    }
    for ips in ([], None):
        await api.call("PATCH", f"{router}/r", {"nats": [{**nat, "initialNatIps": ips}]})
        (kept,) = (await api.call("GET", f"{router}/r"))["nats"]
        assert nat.items() <= kept.items()
        assert "initialNatIps" not in kept


@pytest.mark.parametrize(
    ("service", "version"), [(name, version) for name in data("undocumented_fields") for version in ("v1", "beta")]
)
def test_undocumented_fields_are_in_no_document(service: str, version: str) -> None:
    schemas = json.loads(str(get_static_doc(service, version)))["schemas"]
    for message, fields in data("undocumented_fields")[service].items():
        assert not fields.keys() & schemas[message]["properties"].keys()


async def test_output_fields_and_null_are_ignored_and_numbers_may_be_strings(cluster: Api) -> None:
    body = {"name": "p", "initialNodeCount": "2", "status": "ERROR", "selfLink": "x", "networkConfig": None}
    await cluster.done("POST", f"{CLUSTERS}/c1/nodePools", {"nodePool": body})
    found = await cluster.call("GET", f"{CLUSTERS}/c1/nodePools/p")
    assert (found["initialNodeCount"], found["status"]) == (2, "RUNNING")
    assert found["selfLink"].startswith("https://container.googleapis.com/")


@pytest.mark.parametrize("wrong", ["a", "AAAA\n", "A=AA", "+-*/"])
async def test_invalid_base64_is_rejected(api: Api, wrong: str) -> None:
    body = {"policy": {"etag": wrong, "bindings": []}}
    message = await api.rejected("POST", "/crm/v1/projects/acme:setIamPolicy", body, 400)
    assert "Invalid value at 'policy.etag' (TYPE_BYTES)" in message


@pytest.mark.parametrize("sent", ["+/+/+/8=", "-_-_-_8=", "-_-_-_8", "+/-_+/8"])
def test_bytes_are_the_same_in_either_alphabet_and_without_padding(sent: str) -> None:
    types = Document("cloudresourcemanager", "v1", ["cloudresourcemanager.projects.setIamPolicy"]).schemas
    assert types.parse("SetIamPolicyRequest", {"policy": {"etag": sent}}) == {"policy": {"etag": "+/+/+/8="}}


async def test_documented_but_not_served(cluster: Api) -> None:
    """Rejected for good: Google's clients try 429 and 5xx again, and take 404 for an object that is not there."""
    legacy = CLUSTERS.replace("/locations/us-central1", "/zones/us-central1-a")
    message = await cluster.rejected("POST", f"{legacy}/c1/logging", {}, 400)
    assert message == "The twin does not serve container.projects.zones.clusters.logging."
    images = await cluster.call("GET", f"{COMPUTE}/global/images", status=400)
    assert images["error"]["errors"][0]["reason"] == "notImplemented"


@pytest.mark.parametrize("version", ["v1alpha1", "v1beta1", "v1"])
async def test_links_are_of_the_version_that_is_asked(cluster: Api, version: str) -> None:
    await cluster.done("POST", f"{CLUSTERS}/c1/nodePools", {"nodePool": {"name": "p", "initialNodeCount": 1}})
    path = CLUSTERS.replace("v1beta1", version)
    listed = (await cluster.call("GET", path))["clusters"][0]
    own = f"https://container.googleapis.com{path}/c1"
    assert (listed["selfLink"], listed["nodePools"][0]["selfLink"]) == (own, f"{own}/nodePools/p")
    # Kubernetes Engine names Compute Engine's groups in v1, whatever was asked of itself
    assert listed["instanceGroupUrls"][0].startswith("https://www.googleapis.com/compute/v1/projects/acme/zones/")
    operation = (await cluster.call("GET", path.replace("clusters", "operations")))["operations"][-1]
    links = [operation["selfLink"], operation["targetLink"]]
    assert all(link.startswith(f"https://container.googleapis.com/{version}/projects/acme/") for link in links)


@pytest.mark.parametrize("version", ["alpha", "beta", "v1"])
async def test_links_of_compute_are_of_the_version_that_is_asked(project: Api, version: str) -> None:
    path = COMPUTE.replace("beta", version)
    base = f"https://www.googleapis.com{path}"
    found = await project.call("GET", f"{path}/regions/us-central1/subnetworks/sub")
    assert found["selfLink"] == f"{base}/regions/us-central1/subnetworks/sub"
    assert (found["network"], found["region"]) == (f"{base}/global/networks/net", f"{base}/regions/us-central1")
    # and a link of any version names the network
    body = {"name": "s2", "network": f"{base}/global/networks/net", "ipCidrRange": "10.9.0.0/20"}
    await project.call("POST", f"{path}/regions/us-central1/subnetworks", body)


@pytest.mark.parametrize("path", ["/", "/v1beta1/projects/acme/nope", "/v2/projects", f"{CLUSTERS}/c1:nope"])
async def test_undocumented_paths_are_not_found(api: Api, path: str) -> None:
    await api.rejected("GET", path, None, 404)


async def test_unknown_query_parameters_are_rejected(api: Api) -> None:
    message = await api.rejected("GET", f"{CLUSTERS}?nope=1", None, 400)
    assert 'Unknown name "nope": Cannot bind query parameter.' in message
    await api.call("GET", f"{CLUSTERS}?alt=json&prettyPrint=false")


async def test_broken_json(api: Api) -> None:
    async with api.session.post(api.url + CLUSTERS, data=b"{nope") as response:
        assert response.status == 400
        assert (await response.json())["error"]["message"].startswith("Invalid JSON payload received.")


@pytest.mark.parametrize(("body", "status"), [(b"[" * 100_000, 400), (b" " * 9_000_000, 413)])
async def test_bodies_that_are_too_much(api: Api, body: bytes, status: int) -> None:
    async with api.session.post(api.url + CLUSTERS, data=body) as response:
        assert response.status == status
        assert (await response.json())["error"]["code"] == status


async def test_compute_errors_have_their_own_shape(api: Api) -> None:
    answer = await api.call("GET", f"{COMPUTE}/global/networks/nope", status=404)
    message = "The resource 'projects/acme/global/networks/nope' was not found"
    assert answer == {
        "error": {
            "code": 404,
            "message": message,
            "errors": [{"message": message, "domain": "global", "reason": "notFound"}],
        }
    }


async def test_a_bug_answers_in_googles_shape(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api.store, "items", lambda *_: 1 / 0)
    answer = await api.call("GET", CLUSTERS, status=500)
    assert answer["error"]["status"] == "INTERNAL"


def test_every_handler_is_a_documented_method() -> None:
    nothing: object = object()
    served = set(every_handler(nothing, nothing, nothing))  # type: ignore[arg-type]
    known: dict[str, set[str]] = {}
    for api in data("apis")["paths"].values():
        methods = Document(api["name"], api.get("described", api["version"]), ()).methods
        known.setdefault(api["name"], set()).update(methods)
    for service, documented in known.items():
        mine = {method for method in served if method.startswith(f"{service}.")}
        assert mine
        assert mine <= documented
    assert {method.partition(".")[0] for method in served} == set(known)


def test_routes_are_googles_own() -> None:
    document = Document("container", "v1beta1", ())
    found = document.match("GET", "projects/p/locations/-/clusters")
    assert found is not None
    assert (found[0].id, found[1]["locationsId"]) == ("container.projects.locations.clusters.list", "-")
    encoded = Document("iam", "v1", ()).match("GET", "projects/p/serviceAccounts/a%40p.iam.gserviceaccount.com")
    assert encoded is not None
    assert encoded[1]["serviceAccountsId"] == "a@p.iam.gserviceaccount.com"
    assert document.match("PATCH", PROJECT_PATH.removeprefix("/v1beta1/") + "/clusters/c") is None
