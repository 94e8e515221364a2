"""Buckets of a platform on a twin: grants of teams, no change afterwards, and nothing with objects is deleted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
import yaml

from tests.support.e2e.platform_under_test import PlatformUnderTest

pytestmark = [pytest.mark.e2e, pytest.mark.long]

LAB: dict[str, Any] = {
    "name": "lab",
    "teams": {"serving": {"clusters": {"main": {"pools": {"server": {"slices": 1}}}}}},
    "storage": {
        "buckets": {
            "corpus": {"purpose": "data", "readers": ["serving"]},
            "tmp": {"purpose": "scratch", "writers": ["serving"], "deletionProtection": False},
        }
    },
    "clusters": {
        "main": {
            "location": "us-central1-b",
            "deletionProtection": False,
            "addons": {"kueue": {}},
            "pools": {"server": {"generation": "v6e", "topology": "2x2"}},
        }
    },
}


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[PlatformUnderTest]:
    found = PlatformUnderTest(tmp_path, "buckets")
    config = {"gcp:project": "acme-lab", "tpuplane:platform": LAB}
    found.stack_file.write_text(yaml.safe_dump({"config": config}))
    with found.taken_down():
        found.rehearse("--no-sample")
        yield found


def google(platform: PlatformUnderTest, method: str, path: str) -> Any:
    base = platform.variables["GOOGLE_STORAGE_CUSTOM_ENDPOINT"]
    headers = {"Authorization": f"Bearer {platform.variables['GOOGLE_OAUTH_ACCESS_TOKEN']}"}
    with urlopen(Request(f"{base}b{path}", headers=headers, method=method, data=b"")) as answer:
        return json.loads(answer.read() or b"{}")


def buckets(platform: PlatformUnderTest) -> list[str]:
    return [each["name"] for each in google(platform, "GET", "?project=acme-lab").get("items", [])]


def test_a_bucket_is_granted_and_never_deleted_with_objects(platform: PlatformUnderTest) -> None:
    bindings = google(platform, "GET", "/acme-lab-lab-corpus/iam")["bindings"]
    granted = {each["role"]: each["members"] for each in bindings if each["members"][0].startswith("principalSet:")}
    (member,) = granted["roles/storage.objectViewer"]
    assert member.endswith("/workloadIdentityPools/acme-lab.svc.id.goog/namespace/serving")
    assert granted.keys() == {"roles/storage.objectViewer", "roles/storage.legacyBucketReader"}
    assert not platform.steps()
    said = platform.run("tpuplane", "diff", "--deployed", "local", str(platform.stack_file), "--json").stdout
    assert json.loads(said)["changes"] == []

    google(platform, "POST", "/acme-lab-lab-tmp/o?name=step-1")
    with platform.described(lambda described: described["storage"]["buckets"].pop("tmp")):
        assert "acme-lab-lab-tmp" in platform.output("up", "--yes", "--skip-preview", fails=True)
        assert "acme-lab-lab-tmp" in buckets(platform)
        google(platform, "DELETE", "/acme-lab-lab-tmp/o/step-1")
        platform.up()
        assert buckets(platform) == ["acme-lab-lab-corpus"]

        def unprotected(described: dict[str, Any]) -> None:
            described["storage"]["buckets"]["corpus"]["deletionProtection"] = False

        assert "protected" in platform.output("destroy", "--yes", "--skip-preview", fails=True)
        with platform.described(unprotected):
            platform.up()
            platform.destroy()
    assert buckets(platform) == []
