"""`getCluster`, another stack's cluster, and `getInstanceGroups`, hosts of pools, in the form that the SDK reads."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pulumi_gcp import compute, container
from tpuplane_standins.providers.contract import ProviderError
from tpuplane_standins.providers.gcp.invokes import plural
from tpuplane_standins.providers.gcp.tables import Field, load

from tests.support.providers.gcp_driver import CLUSTER, NODE_POOL, Deployed, Driver, cluster_inputs, pool_inputs
from tests.support.providers.google_api import GoogleApi

pytestmark = pytest.mark.twin

GET_CLUSTER = "gcp:container/getCluster:getCluster"
GET_GROUPS = "gcp:compute/getInstanceGroups:getInstanceGroups"
FIXED = {
    name: value for name, value in pool_inputs(nodeCount=4).items() if name not in ("initialNodeCount", "autoscaling")
}


def invoke(driver: Driver, **args: str) -> Any:
    return driver.invoke(GET_CLUSTER, args)


def test_a_cluster_is_found_by_its_name(driver: Driver, cluster: Deployed) -> None:
    inputs = cluster_inputs()
    found = invoke(driver, name=inputs["name"], location=inputs["location"], project=cluster.state["project"])
    assert found["id"] == cluster.id
    assert found["endpoint"] == cluster.state["endpoint"]
    (authority,) = found["masterAuths"]
    assert authority["clusterCaCertificate"] == cluster.state["masterAuth"]["clusterCaCertificate"]
    (endpoints,) = found["controlPlaneEndpointsConfigs"]
    assert endpoints["dnsEndpointConfigs"][0]["endpoint"] == cluster.state["endpoint"]


def test_one_that_is_not_there_is_an_error(driver: Driver, cluster: Deployed) -> None:
    with pytest.raises(ProviderError, match="/clusters/other not found"):
        invoke(driver, name="other", location=cluster.state["location"], project=cluster.state["project"])


def test_every_name_is_the_sdks(cluster: Deployed) -> None:
    """The result type of the SDK is generated from the official plugin's schema."""
    known = {name.replace("_", "") for name in vars(container.GetClusterResult) if not name.startswith("__")}

    def spelled(name: str, rule: Field) -> str:
        return (plural(name) if rule.type == "object" else name).lower()

    ours = {spelled(name, rule) for name, rule in load("cluster").fields.items()}
    assert ours <= known
    assert CLUSTER.endswith(":Cluster")


def groups(driver: Driver, link: str) -> Any:
    """The instance groups in the zone of a link, by link."""
    place = re.fullmatch(".*/projects/(?P<project>[^/]+)/zones/(?P<zone>[^/]+)/instanceGroups/.*", link)
    assert place is not None
    found = driver.invoke(GET_GROUPS, place.groupdict())
    return {group["selfLink"]: group for group in found["instanceGroups"]}


def test_an_instance_group_has_the_hosts_of_a_pool(driver: Driver, cluster: Deployed) -> None:
    (link,) = driver.create(NODE_POOL, "slice", **FIXED).state["managedInstanceGroupUrls"]
    found = groups(driver, link)[link]
    assert found["size"] == 4
    known = {name for name in vars(compute.outputs.GetInstanceGroupsInstanceGroupResult) if not name.startswith("__")}
    assert {name.lower() for name in found} <= {name.replace("_", "") for name in known}


def test_the_instance_group_of_a_pool_in_error_is_empty(api: GoogleApi, driver: Driver, cluster: Deployed) -> None:
    api.backend.reject["slice"] = "no capacity"
    pool, _ = driver.broken(NODE_POOL, "slice", **FIXED)
    (link,) = pool.state["managedInstanceGroupUrls"]
    assert (pool.state["nodeCount"], groups(driver, link)[link]["size"]) == (4, 0)
