"""Repositories of Artifact Registry, by the requests of the official provider."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.gcp.twin_api import Api

pytestmark = pytest.mark.twin

BASE = "/artifactregistry/v1/"
LOCATION = "projects/acme/locations/us-central1"
NAME = f"{LOCATION}/repositories/images"


async def add(api: Api, query: str = "repository_id=images", **fields: Any) -> Any:
    return await api.call("POST", f"{BASE}{LOCATION}/repositories?{query}", {"format": "DOCKER", **fields})


async def test_an_operation_creates_a_repository_and_another_deletes_it(api: Api) -> None:
    begun = await add(api, cleanupPolicies={"old": {"action": "DELETE", "condition": {"olderThan": "60s"}}})
    assert "done" not in begun
    ended = await api.call("GET", f"{BASE}{begun['name']}")
    assert ended["done"]
    assert ended["response"]["name"] == NAME
    found = await api.call("GET", f"{BASE}{NAME}")
    assert found["mode"] == "STANDARD_REPOSITORY"
    assert found["registryUri"] == "us-central1-docker.pkg.dev/acme/images"
    listed = await api.call("GET", f"{BASE}{LOCATION}/repositories")
    assert listed["repositories"] == [found]
    deleted = await api.call("DELETE", f"{BASE}{NAME}")
    assert (await api.call("GET", f"{BASE}{deleted['name']}"))["done"]
    await api.rejected("GET", f"{BASE}{NAME}", None, 404)


async def test_a_cleanup_policy_has_its_words_in_any_case(api: Api) -> None:
    """`gcloud artifacts repositories set-cleanup-policies` sends them as Google's examples write them."""
    await add(api)
    policies = {"old": {"action": "Delete", "condition": {"olderThan": "604800.0s", "tagState": "untagged"}}}
    await api.call("PATCH", f"{BASE}{NAME}?updateMask=cleanupPolicies", {"cleanupPolicies": policies})
    kept = (await api.call("GET", f"{BASE}{NAME}"))["cleanupPolicies"]["old"]
    assert (kept["action"], kept["condition"]["tagState"]) == ("DELETE", "UNTAGGED")


@pytest.mark.parametrize("version", ["v1", "v1beta2"])
async def test_every_region_and_three_more_are_locations(api: Api, version: str) -> None:
    found = await api.call("GET", f"/artifactregistry/{version}/projects/acme/locations")
    assert {"name": LOCATION, "locationId": "us-central1"} in found["locations"]
    assert [place["locationId"] for place in found["locations"][-3:]] == ["us", "europe", "asia"]


async def test_gcloud_names_no_mode(api: Api) -> None:
    await add(api, mode="MODE_UNSPECIFIED")
    assert (await api.call("GET", f"{BASE}{NAME}"))["mode"] == "STANDARD_REPOSITORY"


async def test_a_mask_changes_and_clears_fields(api: Api) -> None:
    await add(api, "repositoryId=images", description="one", labels={"team": "ml"})
    changed = await api.call("PATCH", f"{BASE}{NAME}?updateMask=description,labels", {"description": "two"})
    assert changed["description"] == "two"
    assert "labels" not in changed
    await api.rejected("PATCH", f"{BASE}{NAME}?updateMask=format", {"format": "GO"}, 400)
    await api.rejected("PATCH", f"{BASE}{NAME}", {"description": "three"}, 400)


async def test_a_policy_names_who_pulls_and_goes_with_its_repository(api: Api) -> None:
    await add(api)
    binding = {"role": "roles/artifactregistry.reader", "members": ["group:nodes@example.com"]}
    await api.call("POST", f"{BASE}{NAME}:setIamPolicy", {"policy": {"bindings": [binding]}})
    assert (await api.call("GET", f"{BASE}{NAME}:getIamPolicy"))["bindings"] == [binding]
    await api.call("DELETE", f"{BASE}{NAME}")
    await add(api)
    assert not (await api.call("GET", f"{BASE}{NAME}:getIamPolicy"))["bindings"]


@pytest.mark.parametrize(
    ("query", "fields", "message"),
    [
        ("repository_id=Images", {}, "Invalid repository_id"),
        ("repository_id=images", {"format": "FORMAT_UNSPECIFIED"}, "format"),
        ("repository_id=images", {"format": "docker"}, "format"),
        ("repository_id=images", {"mode": "REMOTE_REPOSITORY"}, "remote_repository_config"),
        (
            "repository_id=images",
            {"cleanupPolicies": {"new": {"action": "DELETE", "mostRecentVersions": {"keepCount": 3}}}},
            "Keep action",
        ),
    ],
)
async def test_wrong_repositories_are_rejected(api: Api, query: str, fields: Any, message: str) -> None:
    body = {"format": "DOCKER", **fields}
    assert message in await api.rejected("POST", f"{BASE}{LOCATION}/repositories?{query}", body, 400)


async def test_a_name_is_taken_once_and_a_location_exists(api: Api) -> None:
    await add(api)
    await api.rejected("POST", f"{BASE}{LOCATION}/repositories?repository_id=images", {"format": "DOCKER"}, 409)
    for place in ("mars", "-"):
        await api.rejected("GET", f"{BASE}projects/acme/locations/{place}/repositories", None, 400)
    europe = f"{BASE}projects/acme/locations/europe/repositories?repository_id=images"
    assert (await api.call("POST", europe, {"format": "DOCKER"}))["name"]
