"""`getCluster`: another stack's cluster, in the form that the SDK reads."""

from __future__ import annotations

from typing import Any

import pytest
from pulumi_gcp import container
from tpuplane_standins.providers.contract import ProviderError
from tpuplane_standins.providers.gcp.invokes import plural
from tpuplane_standins.providers.gcp.tables import Field, load
from tpuplane_standins.providers.values import reveal

from tests.support.providers.gcp_driver import CLUSTER, Deployed, Driver, cluster_inputs

pytestmark = pytest.mark.twin

GET_CLUSTER = "gcp:container/getCluster:getCluster"


def invoke(driver: Driver, **args: str) -> Any:
    return reveal(driver.provider.invoke(GET_CLUSTER, args))


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
