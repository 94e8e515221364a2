"""Managed Lustre and private services access as the official plugin makes and changes them."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane_standins.providers.contract import ProviderError

from tests.support.providers.gcp_driver import NETWORK, Deployed, Driver
from tests.support.providers.google_api import PROJECT, GoogleApi

pytestmark = pytest.mark.twin

RANGE = "gcp:compute/globalAddress:GlobalAddress"
CONNECTION = "gcp:servicenetworking/connection:Connection"
INSTANCE = "gcp:lustre/instance:Instance"
OWN = f"projects/{PROJECT}/global/networks/lustre"
RESERVED: dict[str, Any] = {"purpose": "VPC_PEERING", "addressType": "INTERNAL", "prefixLength": 20}
FILES: dict[str, Any] = {"filesystem": "files", "capacityGib": "18000", "perUnitStorageThroughput": "500"}


def reserved(driver: Driver) -> Deployed:
    driver.create(NETWORK, "lustre", name="lustre", autoCreateSubnetworks=False)
    return driver.create(RANGE, "range", name="range", network=OWN, labels={"team": "ml"}, **RESERVED)


def connected(driver: Driver) -> Deployed:
    return driver.create(
        CONNECTION,
        "connection",
        network=OWN,
        service="servicenetworking.googleapis.com",
        reservedPeeringRanges=["range"],
    )


def instance(driver: Driver, **inputs: Any) -> Deployed:
    return driver.create(
        INSTANCE, "files", instanceId="files", location="us-central1-b", network=OWN, **{**FILES, **inputs}
    )


def test_labels_of_a_range_are_set_after_its_creation(driver: Driver, api: GoogleApi) -> None:
    made = reserved(driver)
    address = f"/compute/beta/projects/{PROJECT}/global/addresses"
    asked = [request for request in api.taken() if "/addresses" in request]
    assert asked == [
        f"POST {address}",
        f"GET {address}/range",
        f"POST {address}/range/setLabels",
        f"GET {address}/range",
    ]
    assert made.state["labels"] == {"team": "ml"}
    found = driver.refresh(made)
    assert found is not None
    assert not driver.diff(found).changes
    assert driver.update(made, labels={"team": "ops"}).state["labels"] == {"team": "ops"}
    assert any(change.replaces for change in driver.changes(made, prefixLength=22).values())


def test_requests_of_a_connection_name_the_number_of_the_project(driver: Driver, api: GoogleApi) -> None:
    reserved(driver)
    api.requests.clear()
    made = connected(driver)
    assert made.id == f"{OWN.replace('/', '%2F')}:servicenetworking.googleapis.com"
    path = "/servicenetworking/v1/services/servicenetworking.googleapis.com/connections"
    project, posted, polled, _, listed = api.taken()
    assert project == f"GET /crm/v1/projects/{PROJECT}"
    assert (posted, polled.startswith("GET /servicenetworking/v1/operations/")) == (f"POST {path}", True)
    assert listed.startswith(f"GET {path}")
    found = driver.refresh(made)
    assert found is not None
    assert not driver.diff(found).changes
    driver.create(RANGE, "two", name="two", network=OWN, **RESERVED)
    updated = driver.update(made, reservedPeeringRanges=["two", "range"])
    assert updated.state["reservedPeeringRanges"] == ["two", "range"]
    assert not driver.diff(updated, reservedPeeringRanges=["range", "two"]).changes
    driver.delete(updated)
    assert driver.refresh(updated) is None


def test_requests_of_an_instance(driver: Driver, api: GoogleApi) -> None:
    reserved(driver)
    connection = connected(driver)
    api.requests.clear()
    made = instance(driver, labels={"team": "ml"})
    path = f"/lustre/v1/projects/{PROJECT}/locations/us-central1-b"
    first, second, third = api.taken()
    assert first == f"POST {path}/instances"
    assert second.startswith(f"GET {path}/operations/")
    assert third == f"GET {path}/instances/files"
    assert made.state["mountPoint"].endswith("@tcp:/files")
    found = driver.refresh(made)
    assert found is not None
    assert not driver.diff(found).changes
    assert driver.update(made, capacityGib="36000").state["capacityGib"] == "36000"
    for other in ({"filesystem": "other"}, {"location": "us-central1-a"}, {"perUnitStorageThroughput": "1000"}):
        assert any(change.replaces for change in driver.changes(made, **other).values())
    with pytest.raises(ProviderError, match="still using this connection"):
        driver.delete(connection)
    driver.delete(made)
    assert driver.refresh(made) is None
    driver.delete(connection)


@pytest.mark.parametrize("wrong", [{"capacityGib": "1000"}, {"filesystem": "toolongname"}], ids=str)
def test_google_rejects(driver: Driver, wrong: dict[str, Any]) -> None:
    reserved(driver)
    connected(driver)
    with pytest.raises(ProviderError, match="googleapi: Error 400"):
        instance(driver, **wrong)
