"""Buckets as the official plugin makes, changes and deletes them, and as the twin's API answers."""

from __future__ import annotations

import json
from typing import Any
from urllib.request import Request, urlopen

import pytest
from tpuplane_standins.providers.contract import ProviderError

from tests.support.providers.gcp_driver import Deployed, Driver
from tests.support.providers.google_api import TOKEN, GoogleApi

pytestmark = pytest.mark.twin

BUCKET = "gcp:storage/bucket:Bucket"
MEMBER = "gcp:storage/bucketIAMMember:BucketIAMMember"
POD = "principalSet://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/acme.svc.id.goog/namespace/a"
TREE: dict[str, Any] = {
    "location": "us-central1",
    "uniformBucketLevelAccess": True,
    "publicAccessPrevention": "enforced",
    "hierarchicalNamespace": {"enabled": True},
    "softDeletePolicy": {"retentionDurationSeconds": 604800},
    "lifecycleRules": [{"action": {"type": "Delete"}, "condition": {"age": 30}}],
    "labels": {"team": "ml"},
}


def bucket(driver: Driver, **inputs: Any) -> Deployed:
    return driver.create(BUCKET, "data", name="acme-data", **{**TREE, **inputs})


def put_object(api: GoogleApi) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    body = json.dumps({"name": "step/1"}).encode()
    urlopen(Request(f"{api.url}/storage/v1/b/acme-data/o", data=body, headers=headers)).close()


def test_requests_of_a_bucket_and_its_member(driver: Driver, api: GoogleApi) -> None:
    made = bucket(driver)
    assert api.taken() == ["POST /storage/v1/b", "GET /storage/v1/b/acme-data"]
    assert made.id == "acme-data"
    assert made.state["location"] == "US-CENTRAL1"
    assert made.state["url"] == "gs://acme-data"
    member = driver.create(MEMBER, "reads", bucket="acme-data", role="roles/storage.objectViewer", member=POD)
    assert member.id == f"b/acme-data/roles/storage.objectViewer/{POD}"
    for resource in (made, member):
        found = driver.refresh(resource)
        assert found is not None
        assert not driver.diff(found).changes
    driver.delete(member)
    assert driver.refresh(member) is None
    driver.delete(made)
    assert driver.refresh(made) is None


def test_a_patch_has_what_changed(driver: Driver, api: GoogleApi) -> None:
    made = bucket(driver)
    api.requests.clear()
    updated = driver.update(made, labels={"cost": "ml"}, lifecycleRules=[], storageClass="NEARLINE")
    sent = api.body("PATCH", "/b/acme-data")
    assert sent == {"storageClass": "NEARLINE", "lifecycle": {"rule": []}, "labels": sent["labels"]}
    assert sent["labels"]["team"] is None
    assert updated.state["lifecycleRules"] == []
    assert updated.state["storageClass"] == "NEARLINE"
    assert updated.state["labels"] == {"cost": "ml"}


@pytest.mark.parametrize("other", [{"location": "europe-west4"}, {"hierarchicalNamespace": None}, {"name": "acme-b"}])
def test_location_name_and_namespace_replace(driver: Driver, other: dict[str, Any]) -> None:
    assert any(change.replaces for change in driver.changes(bucket(driver), **other).values())


def test_a_bucket_with_objects_is_not_deleted(driver: Driver, api: GoogleApi) -> None:
    made = bucket(driver)
    put_object(api)
    with pytest.raises(ProviderError, match="bucket acme-data containing objects without `force_destroy`"):
        driver.delete(made)
    driver.delete(driver.update(made, forceDestroy=True))
    assert driver.refresh(made) is None


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"versioning": {"enabled": True}}, "400"),
        ({"uniformBucketLevelAccess": False}, "400"),
        ({"softDeletePolicy": {"retentionDurationSeconds": 3600}}, "400"),
        ({"location": "us-nowhere1"}, "400"),
        ({"storageClass": "FAST"}, "400"),
    ],
    ids=str,
)
def test_google_rejects(driver: Driver, inputs: dict[str, Any], message: str) -> None:
    with pytest.raises(ProviderError, match=f"googleapi: Error {message}"):
        bucket(driver, **inputs)


def test_a_name_is_taken_in_all_of_google_cloud(driver: Driver) -> None:
    bucket(driver)
    with pytest.raises(ProviderError, match="Error 409: Your previous request"):
        bucket(driver)
    with pytest.raises(ProviderError, match="Error 409: The requested bucket name is not available"):
        bucket(driver, project="other-project")
