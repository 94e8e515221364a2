"""Keys as the official plugin makes, changes and forgets them."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane_standins.providers.contract import ProviderError

from tests.support.providers.gcp_driver import Deployed, Driver
from tests.support.providers.google_api import GoogleApi

pytestmark = pytest.mark.twin

RING = "gcp:kms/keyRing:KeyRing"
KEY = "gcp:kms/cryptoKey:CryptoKey"
MEMBER = "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"
IDENTITY = "gcp:projects/serviceIdentity:ServiceIdentity"
RINGS = "/kms/v1/projects/acme/locations/us-central1/keyRings"


def key(driver: Driver, **inputs: Any) -> Deployed:
    ring = driver.create(RING, "ring", name="ring", location="us-central1")
    return driver.create(KEY, "key", name="key", keyRing=ring.id, **inputs)


def test_a_ring_without_a_name_gets_one_of_its_own(driver: Driver) -> None:
    """Google never frees a ring's name, so that a stack which comes back must not ask for its old one."""
    ring = driver.create(RING, "keys", location="us-central1")
    assert ring.inputs["name"].startswith("keys-")
    assert ring.id == f"projects/acme/locations/us-central1/keyRings/{ring.inputs['name']}"
    driver.delete(ring)
    with pytest.raises(ProviderError, match="Error creating KeyRing: googleapi: Error 409"):
        driver.create(RING, "keys", name=ring.inputs["name"], location="us-central1")


def test_requests_of_a_key_and_its_member(driver: Driver, api: GoogleApi) -> None:
    made = key(driver, rotationPeriod="7776000s", labels={"team": "ml"})
    assert api.taken() == [
        f"POST {RINGS}",
        f"GET {RINGS}/ring",
        f"POST {RINGS}/ring/cryptoKeys",
        f"GET {RINGS}/ring/cryptoKeys/key",
    ]
    assert made.state["rotationPeriod"] == "7776000s"
    assert made.state["primaries"][0]["state"] == "ENABLED"
    assert made.state["effectiveLabels"] == {"team": "ml", "goog-pulumi-provisioned": "true"}
    agent = driver.create(IDENTITY, "gke", service="container.googleapis.com")
    assert agent.state["email"].endswith("@container-engine-robot.iam.gserviceaccount.com")
    member = driver.create(
        MEMBER,
        "uses",
        cryptoKeyId=made.id,
        role="roles/cloudkms.cryptoKeyEncrypterDecrypter",
        member=agent.state["member"],
    )
    for resource in (made, agent, member):
        found = driver.refresh(resource)
        assert found is not None
        assert not driver.diff(found).changes
    driver.delete(member)
    assert driver.refresh(member) is None


def test_rotation_changes_in_place_and_the_ring_replaces(driver: Driver, api: GoogleApi) -> None:
    made = key(driver, rotationPeriod="7776000s")
    api.requests.clear()
    assert not any(change.replaces for change in driver.changes(made, rotationPeriod="2592000s").values())
    updated = driver.update(made, rotationPeriod="2592000s")
    assert updated.state["rotationPeriod"] == "2592000s"
    assert set(api.body("PATCH", "/cryptoKeys/key")) >= {"rotationPeriod", "nextRotationTime"}
    assert driver.changes(made, keyRing=made.inputs["keyRing"] + "2")["keyRing"].replaces


def test_a_deleted_key_loses_its_versions_and_stays(driver: Driver, api: GoogleApi) -> None:
    made = key(driver, rotationPeriod="7776000s")
    api.requests.clear()
    driver.delete(made)
    assert api.taken() == [
        f"GET {RINGS}/ring/cryptoKeys/key/cryptoKeyVersions",
        f"POST {RINGS}/ring/cryptoKeys/key/cryptoKeyVersions/1:destroy",
        f"PATCH {RINGS}/ring/cryptoKeys/key",
    ]
    assert driver.refresh(made) is not None


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"rotationPeriod": "60s"}, "rotation period must be at least one day"),
        ({"rotationPeriod": "90d"}, "must end with a unit of s"),
    ],
)
def test_check_rejects_rotation_periods(driver: Driver, inputs: dict[str, str], message: str) -> None:
    (failure,) = driver.failures(KEY, "key", {"name": "key", "keyRing": "r", **inputs})
    assert message in failure
