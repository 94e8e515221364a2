"""Names, previews, what replaces, how failures look: measured at the official plugin."""

from __future__ import annotations

from typing import Any

import pytest
from pulumi.runtime.proto import provider_pb2 as pb
from tpuplane_standins.providers.contract import ProviderError, Urn
from tpuplane_standins.providers.values import UNKNOWN, encode_struct

from tests.support.providers.gcp_driver import (
    ACCOUNT,
    CLUSTER,
    NETWORK,
    NODE_POOL,
    Deployed,
    Driver,
    cluster_inputs,
    pool_inputs,
)
from tests.support.providers.google_api import GoogleApi

pytestmark = pytest.mark.twin

RULE = pb.CheckRequest.AutonamingOptions


def test_names_are_made_once(offline: Driver) -> None:
    urn = Urn(NETWORK, "Main")
    first = offline.check(urn, {}, {}).inputs
    assert first["name"].startswith("main-")
    assert len(first["name"]) == len("main-") + 7
    assert "name" in first["__defaults"]
    again = offline.check(urn, first, {}, b"other seed").inputs
    assert again["name"] == first["name"]
    proposed = offline.check(urn, {}, {}, b"seed", RULE(proposed_name="Main-by-rule", mode="PROPOSE")).inputs
    assert proposed["name"] == "main-by-rule"
    with pytest.raises(ProviderError, match="automatic naming is disabled"):
        offline.check(urn, {}, {}, b"seed", RULE(mode="DISABLE"))


def test_previews_know_what_can_be_known(offline: Driver) -> None:
    planned = offline.preview(ACCOUNT, "a", {"accountId": "tpu-nodes"})
    assert planned["email"] == "tpu-nodes@acme.iam.gserviceaccount.com"
    assert planned["uniqueId"] is UNKNOWN
    planned = offline.preview(CLUSTER, "c", {"name": "c", "network": UNKNOWN})
    assert planned["effectiveLabels"] == {"goog-pulumi-provisioned": "true"}
    assert planned["endpoint"] is UNKNOWN
    assert planned["network"] is UNKNOWN


def replacing(driver: Driver, resource: Deployed, /, **changed: Any) -> dict[str, bool]:
    return {path: change.replaces for path, change in driver.changes(resource, **changed).items()}


def test_what_replaces_a_node_pool(driver: Driver, cluster: Deployed) -> None:
    pool = driver.create(NODE_POOL, "slice", **pool_inputs())
    config = pool_inputs()["nodeConfig"]
    assert replacing(driver, pool, nodeConfig={**config, "machineType": "ct6e-standard-8t"}) == {
        "nodeConfig.machineType": False
    }
    assert replacing(driver, pool, nodeConfig={**config, "spot": True}) == {"nodeConfig.spot": True}
    assert replacing(driver, pool, nodeConfig={**config, "labels": {}}) == {
        'nodeConfig.labels["tpuplane.dev/pool"]': False
    }
    affinity = {"consumeReservationType": "SPECIFIC_RESERVATION", "key": "k", "values": ["r"]}
    assert replacing(driver, pool, nodeConfig={**config, "reservationAffinity": affinity}) == {
        "nodeConfig.reservationAffinity": True
    }
    assert replacing(driver, pool, placementPolicy=None) == {"placementPolicy": True}
    assert replacing(driver, pool, placementPolicy={"type": "COMPACT", "tpuTopology": "4x4", "policyName": "p"}) == {
        "placementPolicy.policyName": True
    }
    assert replacing(driver, pool, initialNodeCount=4) == {"initialNodeCount": True}
    assert replacing(driver, pool, maxPodsPerNode=32) == {"maxPodsPerNode": True}
    assert replacing(driver, pool, nodeLocations=["us-central1-c"]) == {"nodeLocations[0]": False}
    # An explicit name cannot be there twice.
    assert driver.diff(pool, name="other").delete_before_replace
    assert not driver.diff(pool, "placementPolicy", placementPolicy=None).changes
    assert replacing(driver, pool, cluster=UNKNOWN) == {"cluster": True}


def test_what_replaces_a_cluster_or_a_subnetwork(driver: Driver, cluster: Deployed, subnetwork: Deployed) -> None:
    assert replacing(driver, cluster, releaseChannel={"channel": "STABLE"}) == {"releaseChannel.channel": False}
    assert replacing(driver, cluster, network="other") == {"network": True}
    # The same network under another name is the same network.
    assert (
        replacing(driver, cluster, network="https://www.googleapis.com/compute/v1/projects/acme/global/networks/net")
        == {}
    )
    components = {"enableComponents": ["WORKLOADS", "SYSTEM_COMPONENTS"]}
    assert replacing(driver, cluster, loggingConfig=components) == {}
    assert replacing(driver, subnetwork, ipCidrRange="10.0.0.0/19") == {"ipCidrRange": False}
    assert replacing(driver, subnetwork, ipCidrRange="10.0.0.0/21") == {"ipCidrRange": True}


def test_protected_cluster_is_not_deleted(api: GoogleApi, driver: Driver, subnetwork: Deployed) -> None:
    inputs = cluster_inputs()
    del inputs["deletionProtection"]
    cluster = driver.create(CLUSTER, "c1", **inputs)
    api.requests.clear()
    with pytest.raises(ProviderError, match="Cannot destroy cluster because deletion_protection is set to true"):
        driver.delete(cluster)
    assert api.taken() == []


def test_pool_in_error_state_stays_in_the_state(api: GoogleApi, driver: Driver, cluster: Deployed) -> None:
    api.backend.reject["slice"] = "no capacity"
    pool, reason = driver.broken(NODE_POOL, "slice", **pool_inputs())
    assert 'NodePool slice was created in the error state "ERROR"' in reason
    assert pool.id.endswith("/nodePools/slice")
    assert pool.state["name"] == "slice"


def test_errors_of_the_api_are_shown_as_they_are(driver: Driver, cluster: Deployed) -> None:
    bad = {"type": "COMPACT", "tpuTopology": "banana"}
    with pytest.raises(ProviderError, match=r"error creating NodePool: googleapi: Error 400: .*banana"):
        driver.create(NODE_POOL, "slice", **pool_inputs(placementPolicy=bad))


@pytest.mark.parametrize("missing", ["accessToken", "containerCustomEndpoint"])
def test_configuration_is_needed(api: GoogleApi, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.delenv("GOOGLE_OAUTH_ACCESS_TOKEN", raising=False)
    monkeypatch.delenv("GOOGLE_CONTAINER_CUSTOM_ENDPOINT", raising=False)
    config = {key: value for key, value in api.config.items() if key != missing}
    expected = {
        "accessToken": "failed to load application credentials",
        "containerCustomEndpoint": "gcp:containerCustomEndpoint is not set",
    }
    with pytest.raises(ProviderError, match=expected[missing]):
        Driver.of(config)
    environment = {
        "accessToken": "GOOGLE_OAUTH_ACCESS_TOKEN",
        "containerCustomEndpoint": "GOOGLE_CONTAINER_CUSTOM_ENDPOINT",
    }
    monkeypatch.setenv(environment[missing], api.config[missing])
    Driver.of(config)


def test_unknown_configuration_is_rejected(offline: Driver) -> None:
    news = encode_struct({"projekt": "p", "project": "p"})
    urn = "urn:pulumi:dev::project::pulumi:providers:gcp::default"
    [failure] = offline.provider.CheckConfig(pb.CheckRequest(urn=urn, news=news), None).failures
    assert "projekt" in failure.reason


def test_functions(api: GoogleApi, driver: Driver) -> None:
    client = driver.invoke("gcp:organizations/getClientConfig:getClientConfig", {})
    assert (client["project"], client["region"]) == ("acme", "us-central1")
    assert api.taken() == []
    versions = driver.invoke("gcp:container/getEngineVersions:getEngineVersions", {"location": "us-central1"})
    assert versions["latestMasterVersion"] in versions["validMasterVersions"]
    with pytest.raises(ProviderError, match="unrecognized data function"):
        driver.invoke("gcp:storage/getBucket:getBucket", {})


@pytest.mark.parametrize("kind", [CLUSTER, NODE_POOL])
def test_what_an_api_was_creating_when_it_went_away_stays_in_the_state(
    api: GoogleApi, driver: Driver, subnetwork: Deployed, kind: str
) -> None:
    inputs = cluster_inputs()
    if kind == NODE_POOL:
        driver.create(CLUSTER, "c1", **cluster_inputs())
        inputs = pool_inputs()
    api.dropped = "/operations/"
    lost, reason = driver.broken(kind, "lost", **inputs)
    assert f"interrupted while creating GKE {kind.rpartition(':')[2]}".lower() in reason.lower()
    api.dropped = ""
    found = driver.refresh(lost)
    assert found is not None
    assert found.id == lost.id
    assert not driver.changes(found)
    driver.delete(found)
