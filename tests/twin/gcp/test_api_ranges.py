"""Secondary ranges that clusters and pools make in their subnetwork, take back, and name in addition."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.gcp.twin_api import CLUSTERS, COMPUTE, LOCATION, Api, cluster_body

pytestmark = pytest.mark.twin

SUBNETS = f"{COMPUTE}/regions/{LOCATION}/subnetworks"
POOLS = f"{CLUSTERS}/c1/nodePools"
UNNAMED: dict[str, Any] = {"useIpAliases": True}


async def ranges(api: Api, subnet: str = "sub") -> dict[str, str]:
    """The secondary ranges of a subnetwork, without those that the tests' network begins with."""
    found = (await api.call("GET", f"{SUBNETS}/{subnet}")).get("secondaryIpRanges", [])
    return {
        secondary_range["rangeName"]: secondary_range["ipCidrRange"]
        for secondary_range in found
        if secondary_range["rangeName"] not in ("pods", "services")
    }


async def test_a_cluster_in_the_default_network_of_a_new_project(api: Api) -> None:
    """`gcloud container clusters create c1` and nothing else."""
    await api.done("POST", CLUSTERS, {"cluster": {"name": "c1", "initialNodeCount": 1}})
    cluster = await api.call("GET", f"{CLUSTERS}/c1")
    assert (cluster["network"], cluster["subnetwork"]) == ("default", "default")
    name = f"gke-c1-pods-{cluster['id'][:8]}"
    policy = cluster["ipAllocationPolicy"]
    assert policy["clusterSecondaryRangeName"] == name
    assert await ranges(api, "default") == {name: policy["clusterIpv4CidrBlock"]}
    # Google's own range for Services is no range of the subnetwork
    assert policy["servicesIpv4CidrBlock"] == "34.118.224.0/20"
    assert cluster["nodePools"][0]["networkConfig"]["podRange"] == name
    # a second cluster has pods elsewhere, outside of what networks in auto mode keep to themselves
    await api.done("POST", CLUSTERS, {"cluster": {"name": "c2", "initialNodeCount": 1}})
    blocks = list((await ranges(api, "default")).values())
    assert blocks == ["10.4.0.0/14", "10.8.0.0/14"]
    for cluster_name in ("c1", "c2"):
        await api.done("DELETE", f"{CLUSTERS}/{cluster_name}")
    assert await ranges(api, "default") == {}


async def test_blocks_that_are_asked_for(project: Api) -> None:
    asked = {**UNNAMED, "clusterIpv4CidrBlock": "/17", "servicesIpv4CidrBlock": "10.96.0.0/22"}
    cluster = await project.add_cluster(ipAllocationPolicy=asked)
    policy = cluster["ipAllocationPolicy"]
    made = await ranges(project)
    assert made == {
        policy["clusterSecondaryRangeName"]: "10.4.0.0/17",
        policy["servicesSecondaryRangeName"]: "10.96.0.0/22",
    }
    assert [name.rpartition("-")[0] for name in made] == ["gke-c1-pods", "gke-c1-services"]
    body = cluster_body("c2", ipAllocationPolicy={**UNNAMED, "clusterIpv4CidrBlock": "10.96.0.0/14"})
    message = await project.rejected("POST", CLUSTERS, {"cluster": body}, 400)
    assert message == 'Requested CIDR 10.96.0.0/14 is not available in network "net".'


@pytest.mark.parametrize(
    ("field", "block", "message"),
    [
        (
            "clusterIpv4CidrBlock",
            "240.0.0.0/8",
            'Pods CIDR block "240.0.0.0/8" is too large: it must be a /9 or smaller.',
        ),
        (
            "servicesIpv4CidrBlock",
            "10.96.0.0/15",
            'Services CIDR block "10.96.0.0/15" is too large: it must be a /16 or smaller.',
        ),
    ],
)
async def test_blocks_that_are_too_large(project: Api, field: str, block: str, message: str) -> None:
    body = {"cluster": cluster_body(ipAllocationPolicy={**UNNAMED, field: block})}
    assert await project.rejected("POST", CLUSTERS, body, 400) == message


async def test_a_cluster_that_fails_leaves_no_range(project: Api) -> None:
    project.backend.reject["c1"] = "no room"
    operation = await project.call("POST", CLUSTERS, {"cluster": cluster_body(ipAllocationPolicy=UNNAMED)})
    assert (await project.wait(operation))["statusMessage"] == "no room"
    assert await ranges(project) == {}


async def test_named_ranges_are_not_created(cluster: Api) -> None:
    assert await ranges(cluster) == {}
    await cluster.done("DELETE", f"{CLUSTERS}/c1")
    subnet = await cluster.call("GET", f"{SUBNETS}/sub")
    assert [secondary_range["rangeName"] for secondary_range in subnet["secondaryIpRanges"]] == ["pods", "services"]


async def test_clusters_share_the_ranges_of_a_subnetwork(cluster: Api) -> None:
    """UsableSubnetworkSecondaryRange.status of Google's API document: "User-managed services range can be shared"."""
    other = await cluster.add_cluster("c2")
    own = (await cluster.call("GET", f"{CLUSTERS}/c1"))["ipAllocationPolicy"]
    assert other["ipAllocationPolicy"] == own


@pytest.mark.parametrize("field", ["createSubnetwork", "useRoutes"])
async def test_other_ways_to_have_ranges_are_not_served(project: Api, field: str) -> None:
    body = {"cluster": cluster_body(ipAllocationPolicy={field: True})}
    message = await project.rejected("POST", CLUSTERS, body, 400)
    assert message.startswith("The twin does not serve ip_allocation_policy.")


async def test_a_pool_names_a_range_or_has_its_own(cluster: Api) -> None:
    pool: dict[str, Any] = {"name": "p", "initialNodeCount": 1, "networkConfig": {"podRange": "nope"}}
    message = await cluster.rejected("POST", POOLS, {"nodePool": pool}, 400)
    assert message.startswith('Pod secondary range "nope" not found in network')
    asked = {"createPodRange": True, "podRange": "more", "podIpv4CidrBlock": "/20"}
    await cluster.done("POST", POOLS, {"nodePool": {**pool, "networkConfig": asked}})
    assert await ranges(cluster) == {"more": "10.4.0.0/20"}
    await cluster.done("POST", POOLS, {"nodePool": {**pool, "name": "q", "networkConfig": {"createPodRange": True}}})
    network = (await cluster.call("GET", f"{POOLS}/q"))["networkConfig"]
    assert await ranges(cluster) == {"more": "10.4.0.0/20", network["podRange"]: "10.8.0.0/14"}
    assert network["podIpv4CidrBlock"] == "10.8.0.0/14"
    await cluster.done("DELETE", f"{POOLS}/q")
    assert await ranges(cluster) == {"more": "10.4.0.0/20"}
    await cluster.done("DELETE", f"{CLUSTERS}/c1")
    assert await ranges(cluster) == {}


async def test_additional_pod_ranges_come_and_go(cluster: Api) -> None:
    def change(field: str, *names: str) -> dict[str, Any]:
        return {"update": {field: {"podRangeNames": list(names)}}}

    async def named() -> list[str]:
        policy = (await cluster.call("GET", f"{CLUSTERS}/c1"))["ipAllocationPolicy"]
        found = policy["additionalPodRangesConfig"]
        assert [pod_range["rangeName"] for pod_range in found.get("podRangeInfo", [])] == found.get("podRangeNames", [])
        return list(found.get("podRangeNames", []))

    subnet = await cluster.call("GET", f"{SUBNETS}/sub")
    more = [{"rangeName": name, "ipCidrRange": f"10.{at}.0.0/20"} for at, name in ((96, "a"), (97, "b"))]
    change_of_subnet = {"secondaryIpRanges": subnet["secondaryIpRanges"] + more, "fingerprint": subnet["fingerprint"]}
    await cluster.call("PATCH", f"{SUBNETS}/sub", change_of_subnet)
    await cluster.done("PUT", f"{CLUSTERS}/c1", change("additionalPodRangesConfig", "a"))
    await cluster.done("PUT", f"{CLUSTERS}/c1", change("additionalPodRangesConfig", "b"))
    assert await named() == ["a", "b"]
    pool = {"name": "p", "initialNodeCount": 1, "networkConfig": {"podRange": "b"}}
    await cluster.done("POST", POOLS, {"nodePool": pool})
    assert (await cluster.call("GET", f"{POOLS}/p"))["networkConfig"]["podIpv4CidrBlock"] == "10.97.0.0/20"
    await cluster.done("PUT", f"{CLUSTERS}/c1", change("removedAdditionalPodRangesConfig", "a"))
    assert await named() == ["b"]
    unknown = await cluster.rejected("PUT", f"{CLUSTERS}/c1", change("additionalPodRangesConfig", "c"), 400)
    assert unknown.startswith('Pod secondary range "c" not found in network')
    gone = await cluster.rejected("PUT", f"{CLUSTERS}/c1", change("removedAdditionalPodRangesConfig", "a"), 400)
    assert gone == 'Pod range "a" is not among the additional pod ranges of the cluster.'


MORE: dict[str, Any] = {
    "name": "more",
    "network": "global/networks/net",
    "ipCidrRange": "10.60.0.0/20",
    "secondaryIpRanges": [{"rangeName": "pods-of-more", "ipCidrRange": "10.64.0.0/16"}],
}
PATH_OF_MORE = f"projects/acme/regions/{LOCATION}/subnetworks/more"


def desired(subnetwork: str, name: str) -> dict[str, Any]:
    """An update of a cluster that names one range of an additional subnetwork."""
    found = [{"subnetwork": subnetwork, "podIpv4RangeNames": [name]}]
    return {"update": {"desiredAdditionalIpRangesConfig": {"additionalIpRangesConfigs": found}}}


async def test_additional_subnetworks(cluster: Api) -> None:
    await cluster.call("POST", SUBNETS, MORE)
    await cluster.done("PUT", f"{CLUSTERS}/c1", desired("more", "pods-of-more"))
    policy = (await cluster.call("GET", f"{CLUSTERS}/c1"))["ipAllocationPolicy"]
    # no status that the request does not have: the official provider shows it as a change
    found = [{"subnetwork": PATH_OF_MORE, "podIpv4RangeNames": ["pods-of-more"]}]
    assert policy["additionalIpRangesConfigs"] == found
    for wrong in (desired("nope", "pods-of-more"), desired("more", "nope")):
        await cluster.rejected("PUT", f"{CLUSTERS}/c1", wrong, 400)
    none: dict[str, Any] = {"update": {"desiredAdditionalIpRangesConfig": {}}}
    await cluster.done("PUT", f"{CLUSTERS}/c1", none)
    assert (await cluster.call("GET", f"{CLUSTERS}/c1"))["ipAllocationPolicy"]["additionalIpRangesConfigs"] == []


@pytest.mark.parametrize("subnetwork", ["more", PATH_OF_MORE, f"https://www.googleapis.com/compute/v1/{PATH_OF_MORE}"])
async def test_a_pool_in_an_additional_subnetwork(cluster: Api, subnetwork: str) -> None:
    await cluster.call("POST", SUBNETS, MORE)
    await cluster.done("PUT", f"{CLUSTERS}/c1", desired("more", "pods-of-more"))
    pool: dict[str, Any] = {"name": "p", "initialNodeCount": 1, "networkConfig": {"subnetwork": subnetwork}}
    await cluster.done("POST", POOLS, {"nodePool": pool})
    network = (await cluster.call("GET", f"{POOLS}/p"))["networkConfig"]
    assert (network["subnetwork"], network["podRange"]) == (PATH_OF_MORE, "pods-of-more")
    assert network["podIpv4CidrBlock"] == "10.64.0.0/16"
    message = await cluster.rejected("DELETE", f"{SUBNETS}/more", None, 400)
    assert message.endswith(f"is already being used by 'projects/acme/locations/{LOCATION}/clusters/c1/nodePools/p'")
    # a range for the pool alone is one of the pool's subnetwork
    own = {"subnetwork": subnetwork, "createPodRange": True}
    await cluster.done("POST", POOLS, {"nodePool": {**pool, "name": "q", "networkConfig": own}})
    network = (await cluster.call("GET", f"{POOLS}/q"))["networkConfig"]
    made = {"pods-of-more": "10.64.0.0/16", network["podRange"]: network["podIpv4CidrBlock"]}
    assert (await ranges(cluster, "more"), await ranges(cluster)) == (made, {})
    usable = (await cluster.call("GET", "/v1/projects/acme/aggregated/usableSubnetworks"))["subnetworks"]
    found = {subnet["subnetwork"]: subnet for subnet in usable}
    assert {used["status"] for used in found[PATH_OF_MORE]["secondaryIpRanges"]} == {"IN_USE_SHAREABLE_POD"}
    await cluster.done("DELETE", f"{POOLS}/q")
    assert await ranges(cluster, "more") == {"pods-of-more": "10.64.0.0/16"}


async def test_a_pool_in_a_subnetwork_that_the_cluster_does_not_name(cluster: Api) -> None:
    await cluster.call("POST", SUBNETS, MORE)
    pool = {"name": "p", "initialNodeCount": 1, "networkConfig": {"subnetwork": "more"}}
    message = await cluster.rejected("POST", POOLS, {"nodePool": pool}, 400)
    assert message == f'Subnetwork "{PATH_OF_MORE}" is not among the additional subnetworks of the cluster.'
