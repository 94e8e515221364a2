"""Filestore as the official plugin makes and changes it."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane_standins.providers.contract import Change, InitFailed, ProviderError

from tests.support.providers.gcp_driver import NETWORK, Deployed, Driver
from tests.support.providers.google_api import PROJECT, GoogleApi

pytestmark = pytest.mark.twin

INSTANCE = "gcp:filestore/instance:Instance"
HOME: dict[str, Any] = {
    "name": "home",
    "location": "us-central1-b",
    "tier": "ZONAL",
    "fileShares": {"name": "share", "capacityGb": 1024},
    "networks": [{"network": "nfs", "modes": ["MODE_IPV4"], "connectMode": "DIRECT_PEERING"}],
}


def instance(driver: Driver, **inputs: Any) -> Deployed:
    driver.create(NETWORK, "nfs", name="nfs", autoCreateSubnetworks=False)
    return driver.create(INSTANCE, "home", **{**HOME, **inputs})


def test_requests_of_an_instance(driver: Driver, api: GoogleApi) -> None:
    made = instance(driver, labels={"team": "ml"})
    path = f"/file/v1/projects/{PROJECT}/locations/us-central1-b"
    first, second, third = (request for request in api.taken() if request.partition(" ")[2].startswith("/file/"))
    assert first == f"POST {path}/instances"
    assert second.startswith(f"GET {path}/operations/")
    assert third == f"GET {path}/instances/home"
    assert made.id == f"projects/{PROJECT}/locations/us-central1-b/instances/home"
    assert made.state["networks"][0]["ipAddresses"] == ["10.0.0.2"]
    found = driver.refresh(made)
    assert found is not None
    assert not driver.diff(found).changes
    larger = driver.update(made, fileShares={"name": "share", "capacityGb": 1280})
    assert larger.state["fileShares"]["capacityGb"] == 1280
    shares = {"fileShares": {"name": "other", "capacityGb": 1024}}
    for other in (shares, {"location": "us-central1-a"}, {"tier": "BASIC_HDD"}):
        assert any(change.replaces for change in driver.changes(made, **other).values())
    ldap = {"ldap": {"domain": "example.com", "servers": ["ldap.example.com"]}}
    assert driver.changes(made, directoryServices=ldap).items() == {("directoryServices", Change("add"))}
    # Google's reference does not list it among the fields of `updateMask`.
    with pytest.raises(InitFailed, match="cannot be updated: directoryServices"):
        driver.update(made, directoryServices=ldap)
    faster = driver.update(larger, performanceConfig={"fixedIops": {"maxIops": 2000}})
    assert faster.state["performanceConfig"]["fixedIops"] == {"maxIops": 2000}
    assert not driver.changes(faster)
    assert "desiredReplicaState" not in driver.changes(driver.read(INSTANCE, made.id))
    driver.delete(larger)
    assert driver.refresh(larger) is None


def test_google_rejects_a_capacity(driver: Driver) -> None:
    with pytest.raises(ProviderError, match="googleapi: Error 400"):
        instance(driver, fileShares={"name": "share", "capacityGb": 1000})
