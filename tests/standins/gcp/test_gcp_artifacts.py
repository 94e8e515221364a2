"""Repositories of Artifact Registry as the official plugin makes and changes them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.providers.gcp_driver import Deployed, Driver
from tests.support.providers.google_api import GoogleApi

pytestmark = pytest.mark.twin

REPOSITORY = "gcp:artifactregistry/repository:Repository"
MEMBER = "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember"
PATH = "/artifactregistry/v1/projects/acme/locations/us-central1"
OLD = {"id": "old", "action": "DELETE", "condition": {"tagState": "ANY", "olderThan": "2592000s"}}


def repository(driver: Driver, **inputs: Any) -> Deployed:
    return driver.create(REPOSITORY, "images", repositoryId="images", location="us-central1", format="DOCKER", **inputs)


def test_requests_of_a_repository_and_its_member(driver: Driver, api: GoogleApi) -> None:
    made = repository(driver, labels={"team": "ml"}, cleanupPolicies=[OLD], dockerConfig={"immutableTags": True})
    first, second, third = api.taken()
    assert first == f"POST {PATH}/repositories"
    assert second.startswith(f"GET {PATH}/operations/")
    assert third == f"GET {PATH}/repositories/images"
    assert made.state["name"] == "images"
    member = driver.create(
        MEMBER,
        "reader",
        repository="images",
        location="us-central1",
        role="roles/artifactregistry.reader",
        member="group:nodes@example.com",
    )
    for resource in (made, member):
        found = driver.refresh(resource)
        assert found is not None
        assert not driver.diff(found).changes
    driver.delete(member)
    assert driver.refresh(member) is None
    driver.delete(made)
    assert driver.refresh(made) is None


def test_policies_change_in_place_and_the_source_replaces(driver: Driver, api: GoogleApi) -> None:
    hub = {"dockerRepository": {"publicRepository": "DOCKER_HUB"}}
    made = repository(driver, mode="REMOTE_REPOSITORY", remoteRepositoryConfig=hub)
    found = driver.refresh(made)
    assert found is not None
    assert not driver.diff(found).changes
    updated = driver.update(made, cleanupPolicies=[OLD])
    assert updated.state["cleanupPolicies"][0]["id"] == "old"
    assert api.body("PATCH", "/repositories/images")["cleanupPolicies"]["old"]["action"] == "DELETE"
    other = {"commonRepository": {"uri": "https://quay.io"}}
    assert any(change.replaces for change in driver.changes(made, remoteRepositoryConfig=other).values())


def test_the_password_of_a_source_changes_in_place(driver: Driver, api: GoogleApi) -> None:
    def source(version: int) -> dict[str, Any]:
        secret = f"projects/acme/secrets/hub/versions/{version}"
        credentials = {"usernamePasswordCredentials": {"username": "u", "passwordSecretVersion": secret}}
        hub = {"dockerRepository": {"publicRepository": "DOCKER_HUB"}, "upstreamCredentials": credentials}
        return {"remoteRepositoryConfig": hub}

    made = repository(driver, mode="REMOTE_REPOSITORY", **source(1))
    updated = driver.update(made, **source(2))
    body = api.body("PATCH", "/repositories/images")["remoteRepositoryConfig"]["upstreamCredentials"]
    secret = "projects/acme/secrets/hub/versions/2"
    assert body == {"usernamePasswordCredentials": {"username": "u", "passwordSecretVersion": secret}}
    assert not driver.changes(updated)
