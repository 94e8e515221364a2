"""Buckets of a platform and the access of its teams, as resources."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.components.deployment import deploy_platform
from tests.support.diff.every_field import platform

pytestmark = pytest.mark.components


def test_buckets_and_grants() -> None:
    deployed = deploy_platform(platform("company")).registrations.values()
    buckets = {found.name: found for found in deployed if found.type == "gcp:storage/bucket:Bucket"}
    inputs: dict[str, Any] = {name.rpartition("-")[2]: found.inputs for name, found in buckets.items()}
    assert set(inputs) == {"data", "models", "scratch"}
    assert inputs["data"]["hierarchicalNamespace"] == {"enabled": True}
    assert "versioning" not in inputs["data"]
    assert inputs["models"]["versioning"] == {"enabled": True}
    assert inputs["scratch"]["lifecycleRules"] == [{"action": {"type": "Delete"}, "condition": {"age": 3}}]
    assert inputs["scratch"]["softDeletePolicy"] == {"retentionDurationSeconds": 9 * 86400}
    for made in inputs.values():
        assert made["uniformBucketLevelAccess"]
        assert made["publicAccessPrevention"] == "enforced"
        assert "forceDestroy" not in made
    assert {name.rpartition("-")[2] for name, found in buckets.items() if found.request.protect} == {
        "models",
        "scratch",
    }
    members = [found.inputs for found in deployed if found.type == "gcp:storage/bucketIAMMember:BucketIAMMember"]
    assert {(member["bucket"], member["role"]) for member in members} == {
        (inputs["data"]["name"], "roles/storage.objectViewer"),
        (inputs["data"]["name"], "roles/storage.legacyBucketReader"),
        (inputs["models"]["name"], "roles/storage.objectUser"),
        (inputs["models"]["name"], "roles/storage.legacyBucketReader"),
        ("acme-shared-data", "roles/storage.objectViewer"),
        ("acme-shared-data", "roles/storage.legacyBucketReader"),
    }
    project = platform("company")["project"]
    assert {member["member"] for member in members} == {
        "principalSet://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/"
        f"{project}.svc.id.goog/namespace/product"
    }
