"""Buckets and the names of their objects: labels that are removed, and lists as folders."""

from __future__ import annotations

import pytest

from tests.support.gcp.twin_api import PROJECT, Api, Json

pytestmark = pytest.mark.twin

BUCKETS = "/storage/v1/b"


async def test_null_removes_one_label(api: Api) -> None:
    await api.call("POST", f"{BUCKETS}?project={PROJECT}", {"name": "data", "labels": {"a": "1", "b": "2"}})
    await api.call("PATCH", f"{BUCKETS}/data", {"labels": {"a": None, "b": "3"}})
    assert (await api.call("GET", f"{BUCKETS}/data"))["labels"] == {"b": "3"}
    await api.call("POST", f"{BUCKETS}?project={PROJECT}", {"name": "bare"})
    await api.call("PATCH", f"{BUCKETS}/bare", {"labels": {"a": None}})
    assert (await api.call("GET", f"{BUCKETS}/bare")).get("labels", {}) == {}


async def test_a_whole_bucket_as_it_was_read_may_be_sent_with_a_change(api: Api) -> None:
    """`gcloud storage buckets update --update-labels` sends it so."""
    await api.call("POST", f"{BUCKETS}?project={PROJECT}", {"name": "data"})
    read = await api.call("GET", f"{BUCKETS}/data")
    changed = await api.call("PATCH", f"{BUCKETS}/data", {**read, "labels": {"a": "1"}, "metageneration": "7"})
    assert (changed["labels"], changed["metageneration"], changed["id"]) == ({"a": "1"}, "2", read["id"])


async def test_lists_by_prefix_and_as_folders(api: Api) -> None:
    for name in ("data", "other"):
        await api.call("POST", f"{BUCKETS}?project={PROJECT}", {"name": name})
    listed = await api.call("GET", f"{BUCKETS}?project={PROJECT}&prefix=da")
    assert [bucket["name"] for bucket in listed["items"]] == ["data"]
    for name in ("a/1", "a/2", "b/1", "top"):
        await api.call("POST", f"{BUCKETS}/data/o?name={name}", {})

    async def objects(query: str) -> tuple[list[str], list[str]]:
        found = await api.call("GET", f"{BUCKETS}/data/o?{query}")
        return [each["name"] for each in found.get("items", ())], found.get("prefixes", [])

    assert await objects("") == (["a/1", "a/2", "b/1", "top"], [])
    assert await objects("prefix=b/") == (["b/1"], [])
    assert await objects("delimiter=/") == (["top"], ["a/", "b/"])
    assert await objects("prefix=a/&delimiter=/") == (["a/1", "a/2"], [])


@pytest.mark.parametrize(
    ("asked", "where"),
    [
        ({"location": "us-central1"}, "region"),
        ({"location": "EU"}, "multi-region"),
        ({"location": "nam4"}, "dual-region"),
        ({"location": "US", "customPlacementConfig": {"dataLocations": ["US-EAST1", "US-WEST1"]}}, "dual-region"),
    ],
)
async def test_a_bucket_is_in_one_region_two_or_many(api: Api, asked: Json, where: str) -> None:
    made = await api.call("POST", f"{BUCKETS}?project={PROJECT}", {"name": "data", **asked})
    assert (made["location"], made["locationType"]) == (asked["location"].upper(), where)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"customPlacementConfig": {"dataLocations": ["US-EAST1"]}}, "two regions"),
        (
            {"customPlacementConfig": {"dataLocations": ["US-EAST1", "US-WEST1"]}, "location": "us-east1"},
            "multi-region",
        ),
        ({"rpo": "ASYNC_TURBO", "location": "us-east1"}, "dual-region"),
    ],
)
async def test_other_placements_are_rejected(api: Api, asked: Json, words: str) -> None:
    assert words in await api.rejected("POST", f"{BUCKETS}?project={PROJECT}", {"name": "data", **asked}, 400)


async def test_google_fills_in_what_a_bucket_leaves_out(api: Api) -> None:
    asked = {"name": "data", "logging": {"logBucket": "logs"}, "rpo": "ASYNC_TURBO", "location": "NAM4"}
    made = await api.call("POST", f"{BUCKETS}?project={PROJECT}&enableObjectRetention=true", asked)
    assert made["logging"] == {"logBucket": "logs", "logObjectPrefix": "data"}
    assert made["objectRetention"] == {"mode": "Enabled"}
    assert (await api.call("PATCH", f"{BUCKETS}/data", {"rpo": None}))["rpo"] == "DEFAULT"
    regional = await api.call("POST", f"{BUCKETS}?project={PROJECT}", {"name": "other", "location": "us-east1"})
    assert {"rpo", "objectRetention", "logging"}.isdisjoint(regional)
    moved = {"customPlacementConfig": {"dataLocations": ["US-EAST1", "US-WEST1"]}}
    assert "cannot be changed" in await api.rejected("PATCH", f"{BUCKETS}/other", moved, 400)


async def test_a_storage_class_is_in_any_case_and_null_stands_for_a_default(api: Api) -> None:
    """`gcloud storage buckets create --default-storage-class=nearline` sends it so."""
    made = await api.call("POST", f"{BUCKETS}?project={PROJECT}", {"name": "data", "storageClass": "nearline"})
    assert made["storageClass"] == "NEARLINE"
    stored = await api.call("POST", f"{BUCKETS}/data/o?name=a", {"storageClass": "coldline"})
    assert stored["storageClass"] == "COLDLINE"
    for path in (f"?project={PROJECT}", "/data/o?name=b"):
        asked = {"name": "other", "storageClass": "frozen"}
        assert "Invalid storage class: frozen" in await api.rejected("POST", f"{BUCKETS}{path}", asked, 400)
    cleared = await api.call("PATCH", f"{BUCKETS}/data", {"storageClass": None, "iamConfiguration": None})
    assert cleared["storageClass"] == "STANDARD"
    assert cleared["iamConfiguration"]["publicAccessPrevention"] == "inherited"


async def test_a_layout_names_the_bucket_and_an_upload_is_no_missing_bucket(api: Api) -> None:
    """`gcloud storage rm --recursive` asks for the layout, and `gcloud storage cp` uploads."""
    await api.call("POST", f"{BUCKETS}?project={PROJECT}", {"name": "data", "location": "us-east1"})
    layout = await api.call("GET", f"{BUCKETS}/data/storageLayout")
    expected = {"kind": "storage#storageLayout", "bucket": "data", "location": "US-EAST1", "locationType": "region"}
    assert layout == expected
    assert "uploads" in await api.rejected("POST", "/upload/storage/v1/b/data/o?uploadType=multipart", {}, 400)


async def test_a_project_has_an_agent_of_cloud_storage(api: Api) -> None:
    number = (await api.call("GET", f"/crm/v1/projects/{PROJECT}"))["projectNumber"]
    agent = await api.call("GET", f"/storage/v1/projects/{PROJECT}/serviceAccount")
    assert agent["email_address"] == f"service-{number}@gs-project-accounts.iam.gserviceaccount.com"
