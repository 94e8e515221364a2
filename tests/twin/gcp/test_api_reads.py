"""Reads that tools make of Compute Engine: lists by scope, filters, orders, pages, parts of answers, batches."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import quote

import pytest
from tpuplane_twin.gcp.app import RECONCILER
from tpuplane_twin.gcp.backend import BackendError
from tpuplane_twin.gcp.container.names import group_names

from tests.support.gcp.twin_api import CLUSTERS, COMPUTE, LOCATION, PROJECT, Api, googles_client, slice_pool

pytestmark = pytest.mark.twin

LINK = f"https://www.googleapis.com/compute/beta/projects/{PROJECT}"
SPOT = {"machineType": "e2-standard-4", "spot": True}


@pytest.fixture
async def pools(cluster: Api) -> Api:
    """A slice that has its hosts, and a spot pool of two zones."""
    await cluster.done("POST", f"{CLUSTERS}/c1/nodePools", {"nodePool": slice_pool(initialNodeCount=4)})
    locations = ["us-central1-a", "us-central1-b"]
    spot = {"name": "spot", "config": SPOT, "initialNodeCount": 1, "locations": locations}
    await cluster.done("POST", f"{CLUSTERS}/c1/nodePools", {"nodePool": spot})
    return cluster


async def test_a_project_may_be_named_by_its_number(cluster: Api) -> None:
    number = (await cluster.call("GET", f"/crm/v1/projects/{PROJECT}"))["projectNumber"]
    await cluster.call(
        "POST", f"/monitoring/v1/projects/{PROJECT}/dashboards", {"displayName": "TPUs", "mosaicLayout": {}}
    )
    for path in ("/crm/v1/projects/%s", "/compute/v1/projects/%s", f"{COMPUTE}/global/networks/net", CLUSTERS):
        named = path.replace(f"projects/{PROJECT}", "projects/%s")
        assert await cluster.call("GET", named % number) == await cluster.call("GET", named % PROJECT)
    listed = await cluster.call("GET", "/crm/v1/projects")
    assert [project["projectId"] for project in listed["projects"]] == [PROJECT]


async def test_the_older_paths_of_kubernetes_engine(cluster: Api) -> None:
    zones = f"/v1/projects/{PROJECT}/zones/{LOCATION}"
    locations = zones.replace("zones", "locations")
    pool = {"nodePool": {"name": "cpu", "initialNodeCount": 1}}
    operation = await cluster.wait(await cluster.call("POST", f"{zones}/clusters/c1/nodePools", pool))
    for path in (
        "clusters",
        "clusters/c1",
        "clusters/c1/nodePools/cpu",
        f"operations/{operation['name']}",
        "operations",
    ):
        assert await cluster.call("GET", f"{zones}/{path}") == await cluster.call("GET", f"{locations}/{path}")
    assert (await cluster.call("GET", f"{zones}/serverconfig"))["defaultImageType"] == "COS_CONTAINERD"
    assert (await cluster.call("GET", f"/v1/projects/{PROJECT}/zones/-/clusters"))["clusters"]
    message = await cluster.rejected("POST", f"{zones}/clusters/c1/addons", {}, 400)
    assert message == "The twin does not serve container.projects.zones.clusters.addons."


async def names(api: Api, path: str, field: str = "items", **query: str) -> list[str]:
    text = "&".join(f"{key}={quote(value)}" for key, value in query.items())
    return [item["name"] for item in (await api.call("GET", f"{COMPUTE}/{path}?{text}"))[field]]


async def test_an_aggregated_list_has_the_resources_by_their_scope(pools: Api) -> None:
    listed = (await pools.call("GET", f"{COMPUTE}/aggregated/instanceGroupManagers"))["items"]
    assert {scope: len(found["instanceGroupManagers"]) for scope, found in listed.items()} == {
        "zones/us-central1-a": 1,
        "zones/us-central1-b": 2,
    }
    subnets = (await pools.call("GET", f"{COMPUTE}/aggregated/subnetworks"))["items"]
    assert [subnetwork["name"] for subnetwork in subnets[f"regions/{LOCATION}"]["subnetworks"]] == ["default", "sub"]
    templates = (await pools.call("GET", f"{COMPUTE}/aggregated/instanceTemplates"))["items"]
    assert len(templates[f"regions/{LOCATION}"]["instanceTemplates"]) == 3
    operations = (await pools.call("GET", f"{COMPUTE}/aggregated/operations"))["items"]
    assert {"global", f"regions/{LOCATION}"} <= operations.keys()


async def test_pages_of_an_aggregated_list_have_everything_once(pools: Api) -> None:
    seen: list[str] = []
    token = ""
    while True:
        path = f"{COMPUTE}/aggregated/instanceGroups?maxResults=2&includeAllScopes=true&pageToken={token}"
        page = await pools.call("GET", path)
        seen += [item["name"] for found in page["items"].values() for item in found["instanceGroups"]]
        if not (token := page.get("nextPageToken", "")):
            break
    assert len(seen) == len(set(seen)) == 3


async def test_a_group_its_manager_and_its_template_name_each_other(pools: Api) -> None:
    zone = f"{COMPUTE}/zones/us-central1-b"
    found = await names(pools, "zones/us-central1-b/instanceGroupManagers", filter="name:*-slice-*")
    manager = await pools.call("GET", f"{zone}/instanceGroupManagers/{found[0]}")
    group = await pools.call("GET", f"{zone}/instanceGroups/{found[0]}")
    assert manager["instanceGroup"] == group["selfLink"]
    assert manager["targetSize"] == group["size"] == 4
    template = await pools.call("GET", f"{COMPUTE}/{manager['instanceTemplate'].removeprefix(f'{LINK}/')}")
    assert template["properties"]["machineType"] == "ct6e-standard-4t"
    # As Cluster Toolkit looks for it.
    listed = await names(pools, f"regions/{LOCATION}/instanceTemplates", filter="name: gke-c1-slice*")
    assert listed == [template["name"]]
    assert await names(pools, "global/instanceTemplates") == []


@pytest.mark.parametrize(
    ("cluster", "pool", "stem"),
    [
        ("c1", "slice", "gke-c1-slice"),
        ("a-cluster-of-a-long-name", "slice", "gke-a-cluster-of-a-long-name-slice"),
        ("a-cluster-of-a-long-name", "trainer-0001", "gke-a-cluster-of-a-long--trainer-0001"),
        ("c1", "a-pool-whose-name-is-forty-characters-lo", "gke-c1-a-pool-whose-name-is-forty-cha"),
        ("a-cluster-of-a-long-name", "a-pool-of-a-long-name", "gke-a-cluster-of-a-l-a-pool-of-a-long"),
    ],
)
def test_names_are_cut_as_gke_cuts_them(cluster: str, pool: str, stem: str) -> None:
    (name,) = group_names(cluster, {"name": pool, "locations": ["us-central1-b"]}).values()
    assert name.removesuffix("-grp").rpartition("-")[0] == stem


async def test_the_catalogues_are_what_the_zones_offer(api: Api) -> None:
    zone = "zones/us-central1-b"
    large = await names(api, f"{zone}/machineTypes", filter="guestCpus >= 49 AND memoryMb >= 238592")
    assert {"n1-standard-64", "ct6e-standard-4t"} <= set(large)
    assert "e2-standard-4" not in large
    machine = await api.call("GET", f"{COMPUTE}/{zone}/machineTypes/ct6e-standard-4t")
    assert (machine["guestCpus"], machine["zone"]) == (180, "us-central1-b")
    assert machine["accelerators"] == [{"guestAcceleratorType": "ct6e", "guestAcceleratorCount": 4}]
    await api.rejected("GET", f"{COMPUTE}/{zone}/machineTypes/banana", None, 404)
    tpus = await names(api, f"{zone}/acceleratorTypes", filter="name = ct*")
    assert "ct6e" in tpus
    assert await names(api, "zones/us-central2-b/machineTypes", filter="name:c3-*") == []
    assert await names(api, "zones/us-central1-f/machineTypes", filter="name:c4d-*") == []
    assert "hyperdisk-balanced" in await names(api, f"{zone}/diskTypes")
    everywhere = await api.call("GET", f"{COMPUTE}/aggregated/acceleratorTypes?filter={quote('name=ct4p')}")
    assert list(everywhere["items"]) == ["zones/us-central2-b"]


async def test_a_project_has_its_number_and_default_account(api: Api) -> None:
    project = await api.call("GET", COMPUTE)
    number = (await api.call("GET", f"/crm/v1/projects/{PROJECT}"))["projectNumber"]
    email = f"{number}-compute@developer.gserviceaccount.com"
    assert project["defaultServiceAccount"] == email
    account = await api.call("GET", f"/iam/v1/projects/-/serviceAccounts/{email}")
    assert account["name"] == f"projects/{PROJECT}/serviceAccounts/{email}"
    await api.call("DELETE", f"/iam/v1/{account['name']}")
    await api.call("GET", COMPUTE)
    await api.rejected("GET", f"/iam/v1/{account['name']}", None, 404)


async def test_collections_without_creation_are_empty(api: Api) -> None:
    nothing = await api.call("GET", f"{COMPUTE}/aggregated/autoscalers?returnPartialSuccess=true")
    link = f"{LINK}/aggregated/autoscalers"
    assert nothing == {"kind": "compute#autoscalerAggregatedList", "selfLink": link, "items": {}}
    assert await names(api, "zones/us-central1-a/autoscalers") == []
    await api.rejected("GET", f"{COMPUTE}/zones/{LOCATION}-a/autoscalers/mine", None, 404)
    await api.rejected("GET", f"{COMPUTE}/zones/nowhere/autoscalers", None, 404)
    # Google has public images.
    await api.rejected("GET", f"{COMPUTE}/global/images", None, 400)


@pytest.mark.parametrize("expression", ["nam = x", "name ~ x", "labels", "(name eq x) (nam eq y)"])
async def test_an_invalid_filter_is_rejected(api: Api, expression: str) -> None:
    message = await api.rejected("GET", f"{COMPUTE}/zones?filter={quote(expression)}", None, 400)
    assert message.startswith(f"Invalid value for field 'filter': '{expression}'. Invalid list filter expression")


async def test_filters_read_networks_as_cluster_toolkit_and_gcloud_ask(project: Api) -> None:
    for name in ("web", "ssh"):
        rule = {"name": name, "network": "global/networks/net", "allowed": [{"IPProtocol": "tcp"}]}
        await project.call("POST", f"{COMPUTE}/global/firewalls", rule)
    assert await names(
        project, "global/firewalls", filter=f'network="{LINK.replace("beta", "v1")}/global/networks/net"'
    )
    assert await names(project, "global/networks", filter='name eq ".*ne.*"') == ["net"]
    assert await names(project, "global/firewalls", filter=r'(name eq "(w|s).*")(name ne ssh)') == ["web"]
    regions = await names(project, "regions", filter="name=us-central1 OR name=us-east5", orderBy="name desc")
    assert regions == ["us-east5", "us-central1"]
    await project.rejected("GET", f"{COMPUTE}/regions?orderBy=nam", None, 400)


async def test_a_filter_reads_proto_names_too(api: Api) -> None:
    policy = {
        "displayName": "one",
        "combiner": "OR",
        "conditions": [{"displayName": "c", "conditionMatchedLog": {"filter": "x"}}],
        "alertStrategy": {"notificationRateLimit": {"period": "300s"}},
    }
    path = f"/monitoring/v3/projects/{PROJECT}/alertPolicies"
    for name in ("one", "two"):
        await api.call("POST", path, {**policy, "displayName": name})
    expression = quote('display_name="two"')
    listed = await api.call("GET", f"{path}?filter={expression}&orderBy=display_name")
    assert [alert_policy["displayName"] for alert_policy in listed["alertPolicies"]] == ["two"]


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ("", {"name", "autoCreateSubnetworks", "selfLink", "routingConfig", "kind", "id", "mtu"}),
        ("name", {"name"}),
        ("name,routingConfig/routingMode", {"name", "routingConfig"}),
        ("routingConfig(routingMode),name", {"name", "routingConfig"}),
        ("*", {"name", "routingConfig", "kind"}),
    ],
)
async def test_a_mask_names_the_fields_of_an_answer(project: Api, mask: str, expected: set[str]) -> None:
    found = await project.call("GET", f"{COMPUTE}/global/networks/net?fields={quote(mask)}")
    assert expected <= found.keys()
    if mask not in ("", "*"):
        assert found.keys() == expected
    if "routingMode" in mask:
        assert found["routingConfig"] == {"routingMode": "REGIONAL"}


async def test_a_mask_reaches_into_lists(project: Api) -> None:
    listed = await project.call("GET", f"{COMPUTE}/aggregated/subnetworks?fields={quote('items/*/subnetworks(name)')}")
    assert listed.keys() == {"items"}
    assert listed["items"][f"regions/{LOCATION}"] == {"subnetworks": [{"name": "default"}, {"name": "sub"}]}


@pytest.mark.parametrize("mask", ["nam", "items(name", "name(x)", "routingConfig/mode"])
async def test_a_mask_of_unknown_fields_is_rejected(project: Api, mask: str) -> None:
    message = await project.rejected("GET", f"{COMPUTE}/global/networks/net?fields={quote(mask)}", None, 400)
    assert message.startswith("Invalid field selection")


async def test_a_batch_of_googles_client(project: Api) -> None:
    compute = await asyncio.to_thread(googles_client, project, "compute", "v1", "")
    answers: dict[str, Any] = {}

    def keep(name: str, answer: Any, error: Exception | None) -> None:
        answers[name] = error or answer

    batch = compute.new_batch_http_request(callback=keep)
    batch.add(compute.networks().get(project=PROJECT, network="net"), request_id="first")
    batch.add(compute.networks().get(project=PROJECT, network="nope"), request_id="second")
    batch.add(compute.networks().insert(project=PROJECT, body={"name": "made"}), request_id="third")
    await asyncio.to_thread(batch.execute)
    assert answers["first"]["name"] == "net"
    assert answers["second"].status_code == 404
    assert answers["third"]["operationType"] == "insert"
    assert "made" in await names(project, "global/networks")


async def test_a_batch_that_is_none(api: Api) -> None:
    for headers in ({"Content-Type": "application/json"}, {"Content-Type": "multipart/mixed; boundary=b"}):
        async with api.session.post(
            f"{api.url}/batch/compute/v1", data=b"--b\r\n\r\nx\r\n--b--", headers=headers
        ) as response:
            assert response.status == 400


async def test_the_machines_of_a_pool(pools: Api) -> None:
    listed = (await pools.call("GET", f"{COMPUTE}/aggregated/instances"))["items"]
    assert {scope: len(found["instances"]) for scope, found in listed.items()} == {
        "zones/us-central1-a": 1,
        "zones/us-central1-b": 5,
    }
    zone = f"{COMPUTE}/zones/us-central1-b"
    machine = await pools.call("GET", f"{zone}/instances/slice-b-0")
    assert machine["machineType"] == f"{LINK}/zones/us-central1-b/machineTypes/ct6e-standard-4t"
    assert machine["networkInterfaces"][0]["networkIP"] == "10.0.0.9"
    disk = await pools.call("GET", f"{COMPUTE}/{machine['disks'][0]['source'].removeprefix(f'{LINK}/')}")
    assert disk["users"] == [machine["selfLink"]]
    spot = await pools.call("GET", f"{zone}/instances/spot-b-0")
    assert spot["scheduling"] == {"provisioningModel": "SPOT"}
    await pools.rejected("GET", f"{zone}/instances/nope", None, 404)


async def test_the_members_of_a_group(pools: Api) -> None:
    zone = f"{COMPUTE}/zones/us-central1-b"
    (group,) = await names(pools, "zones/us-central1-b/instanceGroupManagers", filter="name:*-slice-*")
    managed = await pools.call("POST", f"{zone}/instanceGroupManagers/{group}/listManagedInstances?maxResults=3")
    assert [instance["name"] for instance in managed["managedInstances"]] == ["slice-b-0", "slice-b-1", "slice-b-2"]
    listed = await pools.call("POST", f"{zone}/instanceGroups/{group}/listInstances", {"instanceState": "RUNNING"})
    assert len(listed["items"]) == 4
    await pools.rejected("POST", f"{zone}/instanceGroupManagers/nope/listManagedInstances", None, 404)


async def test_machines_of_a_cluster_that_does_not_answer_are_not_counted_as_none(pools: Api) -> None:
    pools.backend.reject["c1"] = "the API server does not answer"
    message = await pools.rejected("GET", f"{COMPUTE}/aggregated/instances", None, 503)
    assert message.endswith("cannot be read: the API server does not answer")


RESERVATIONS = f"{COMPUTE}/zones/us-central1-b/reservations"


def reservation(name: str, **specific: Any) -> dict[str, Any]:
    properties = {"machineType": "ct6e-standard-4t"}
    return {"name": name, "specificReservation": {"count": "8", "instanceProperties": properties, **specific}}


def reserved_pool(name: str, value: str, **fields: Any) -> dict[str, Any]:
    affinity = {"consumeReservationType": "SPECIFIC_RESERVATION", "key": "compute.googleapis.com/reservation-name"}
    config = {"machineType": "ct6e-standard-4t", "reservationAffinity": {**affinity, "values": [value]}}
    return {"nodePool": slice_pool(name, config=config, **{"initialNodeCount": 4, **fields})}


async def test_a_reservation_shows_its_use_by_pools_and_ends_after_it(cluster: Api) -> None:
    await cluster.call("POST", RESERVATIONS, reservation("made"))
    for name, value in (("one", "made"), ("two", f"projects/{PROJECT}/reservations/made/reservationBlocks/b")):
        await cluster.done("POST", f"{CLUSTERS}/c1/nodePools", reserved_pool(name, value))
    (listed,) = (await cluster.call("GET", RESERVATIONS))["items"]
    assert (listed["specificReservation"]["count"], listed["specificReservation"]["inUseCount"]) == ("8", "8")
    found = await cluster.call("GET", f"{RESERVATIONS}/made")
    assert found == listed
    assert found["id"] and found["creationTimestamp"]
    everywhere = (await cluster.call("GET", f"{COMPUTE}/aggregated/reservations"))["items"]
    assert everywhere["zones/us-central1-b"]["reservations"] == [found]
    assert found["shareSettings"] == {"shareType": "LOCAL"}
    message = await cluster.rejected("DELETE", f"{RESERVATIONS}/made", None, 400)
    assert f"/reservations/made' is already being used by 'projects/{PROJECT}/zones/us-central1-b/instance" in message
    for name in ("one", "two"):
        await cluster.done("DELETE", f"{CLUSTERS}/c1/nodePools/{name}")
    await cluster.call("DELETE", f"{RESERVATIONS}/made")
    assert await names(cluster, "zones/us-central1-b/reservations") == []


async def test_a_reservation_that_is_missing_or_too_small(cluster: Api) -> None:
    pools = f"{CLUSTERS}/c1/nodePools"
    missing = await cluster.rejected("POST", pools, reserved_pool("one", "made/reservationBlocks/b"), 404)
    assert missing == (
        'Google Compute Engine: reservation "made/reservationBlocks/b" not found for node pool "one" at zone '
        '"us-central1-b".'
    )
    await cluster.call("POST", RESERVATIONS, reservation("made", count="6"))
    await cluster.done("POST", pools, reserved_pool("one", "made"))
    short = await cluster.rejected("POST", pools, reserved_pool("two", "made"), 429)
    assert short == (
        'Reservation does not have enough resources for the request: specific reservation "made" is insufficient for '
        'node pool "two" at zone "us-central1-b": required 4 and short of 2 VM count of machine type ct6e-standard-4t.'
    )
    labels = {"labels": {"labels": {"team": "a"}}}
    await cluster.done("PUT", f"{pools}/one", labels)  # its own nodes do not count twice
    autoscaled = reserved_pool("two", "made", initialNodeCount=0)
    await cluster.done("POST", pools, autoscaled)
    key = f"projects/{PROJECT}/locations/{LOCATION}/clusters/c1/nodePools/two"
    full = r"Specified reservations \[made\] do not have available resources"
    with pytest.raises(BackendError, match=full):
        await cluster.app[RECONCILER].resize(key, {"us-central1-b": []}, {"us-central1-b": [0, 1, 2, 3]})
    await cluster.done("DELETE", f"{pools}/one")
    assert await cluster.app[RECONCILER].resize(key, {"us-central1-b": []}, {"us-central1-b": [0, 1, 2, 3]})


async def test_a_reservation_is_resized_and_has_no_blocks(cluster: Api) -> None:
    pools, made = f"{CLUSTERS}/c1/nodePools", f"{RESERVATIONS}/made"
    await cluster.call("POST", RESERVATIONS, reservation("made", count="2"))
    await cluster.rejected("POST", pools, reserved_pool("one", "made"), 429)
    operation = await cluster.call("POST", f"{made}/resize", {"specificSkuCount": "4"})
    assert operation["operationType"] == "resize"
    await cluster.done("POST", pools, reserved_pool("one", "made"))
    assert (await cluster.call("GET", made))["specificReservation"]["count"] == "4"
    await cluster.rejected("POST", f"{made}/resize", {}, 400)
    used = await cluster.rejected("POST", f"{made}/resize", {"specificSkuCount": "3"}, 400)
    assert used == "The resize instance count cannot be lower than the in use count for a specific reservation."
    for blocks in ("reservationBlocks", "reservationBlocks/b/reservationSubBlocks"):
        assert (await cluster.call("GET", f"{made}/{blocks}"))["items"] == []
        await cluster.rejected("GET", f"{RESERVATIONS}/other/{blocks}", None, 404)


async def test_a_reservation_of_chips(cluster: Api) -> None:
    parts = [{"accelerator": {"acceleratorCount": 28, "acceleratorType": "ct6e"}}]
    whole = {"vmFamily": "VM_FAMILY_CLOUD_TPU_LITE_POD_SLICE_CT6E", "reservedResources": parts}
    await cluster.call("POST", RESERVATIONS, {"name": "chips", "aggregateReservation": whole})
    pools = f"{CLUSTERS}/c1/nodePools"
    await cluster.done("POST", pools, reserved_pool("one", "chips"))
    found = await cluster.call("GET", f"{RESERVATIONS}/chips")
    assert found["aggregateReservation"]["inUseResources"] == [{"accelerator": {"acceleratorCount": 16}}]
    short = await cluster.rejected("POST", pools, reserved_pool("two", "chips"), 429)
    assert "required 4 and short of 1 VM count" in short


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"name": "r"}, "Set exactly one of specificReservation, aggregateReservation."),
        (reservation("r", count="0"), "Required field 'resource.specificReservation.count' not specified"),
        (reservation("r", instanceProperties={}), "machineType' not specified"),
        (
            reservation("r", instanceProperties={"machineType": "banana"}),
            "The machine type does not exist in the zone.",
        ),
    ],
)
async def test_reservations_that_cannot_be(api: Api, body: dict[str, Any], message: str) -> None:
    assert message in await api.rejected("POST", RESERVATIONS, body, 400)
    await api.rejected("GET", f"{RESERVATIONS}/r", None, 404)


async def test_usable_subnetworks_show_the_use_of_their_ranges(project: Api) -> None:
    path = f"/v1/projects/{PROJECT}/aggregated/usableSubnetworks"

    async def uses() -> dict[str, str]:
        found = {
            subnetwork["subnetwork"]: subnetwork for subnetwork in (await project.call("GET", path))["subnetworks"]
        }
        ranges = found[f"projects/{PROJECT}/regions/{LOCATION}/subnetworks/sub"]["secondaryIpRanges"]
        return {secondary_range["rangeName"]: secondary_range["status"] for secondary_range in ranges}

    assert await uses() == {"pods": "UNUSED", "services": "UNUSED"}
    await project.add_cluster()
    assert await uses() == {"pods": "IN_USE_SHAREABLE_POD", "services": "IN_USE_SERVICE"}
    assert (await project.call("GET", f"{path}?filter=networkProjectId%3Dother"))["subnetworks"] == []
    host = f"/v1/projects/service/aggregated/usableSubnetworks?filter=networkProjectId%3D{PROJECT}"
    assert (await project.call("GET", host))["subnetworks"] == (await project.call("GET", path))["subnetworks"]
    usable = (await project.call("GET", f"{COMPUTE}/aggregated/subnetworks/listUsable"))["items"]
    assert usable[-1]["subnetwork"].endswith("/subnetworks/sub")


async def test_projects_services_and_billing(project: Api) -> None:
    assert (await project.call("GET", f"/cloudbilling/v1/projects/{PROJECT}/billingInfo"))["billingEnabled"] is True
    listed = await project.call("GET", f"/crm/v1/projects?filter=id:{PROJECT}")
    assert [each_project["projectId"] for each_project in listed["projects"]] == [PROJECT]
    services = f"/serviceusage/v1/projects/{PROJECT}/services"
    found = (await project.call("GET", f"{services}?filter=state:ENABLED"))["services"]
    assert "container.googleapis.com" in {service["config"]["name"] for service in found}
    assert (await project.call("GET", f"{services}?filter=state:DISABLED"))["services"] == []
    names = [f"projects/{PROJECT}/services/{name}.googleapis.com" for name in ("container", "file")]
    batch = await project.call("GET", f"{services}:batchGet?names={names[0]}&names={names[1]}")
    assert [service["state"] for service in batch["services"]] == ["ENABLED", "ENABLED"]
    enabled = {"serviceIds": ["file.googleapis.com", "cloudbuild.googleapis.com"]}
    assert (await project.call("POST", f"{services}:batchEnable", enabled))["done"]
    await project.call("POST", f"{services}/tpu.googleapis.com:disable", {})
    for state, name in (("ENABLED", "cloudbuild"), ("DISABLED", "tpu")):
        found = (await project.call("GET", f"{services}?filter=state:{state}"))["services"]
        assert f"{name}.googleapis.com" in {service["config"]["name"] for service in found}
    await project.rejected("GET", f"{services}/banana", None, 404)
