"""Buckets of a platform and the access of its teams, as resources."""

from __future__ import annotations

import copy
import functools
from typing import Any

import pytest
from tpuplane.diff import Diff, diff
from tpuplane.spec import parse_platform

from tests.support.components.deployment import deploy_platform
from tests.support.diff.every_field import platform

pytestmark = pytest.mark.components

SHARED: dict[str, Any] = {
    "name": "lab",
    "project": "acme-lab",
    "teams": {
        "research": {"namespaces": ["research", "evals"], "clusters": {"main": {}, "old": {}}},
        "serving": {"clusters": {"main": {}, "plain": {}}},
    },
    "storage": {
        "buckets": {
            "corpus": {"purpose": "data", "location": "us-central1", "readers": ["research"]},
            "models": {"purpose": "models", "location": "us-central1", "writers": ["serving"]},
            "outer": {"purpose": "models", "existing": "acme-models", "readers": ["serving"]},
        }
    },
    "clusters": {
        "main": {"location": "us-central1", "addons": {"kueue": {}}, "storage": {"gcsFuse": True}},
        "old": {
            "location": "us-east5",
            "network": {"nodesCidr": "10.0.16.0/20", "podsCidr": "10.4.0.0/14", "servicesCidr": "10.0.32.0/20"},
            "version": "1.34",
            "addons": {"kueue": {}},
            "storage": {"gcsFuse": True},
        },
        "plain": {
            "location": "us-central1",
            "network": {"nodesCidr": "10.0.48.0/20", "podsCidr": "10.8.0.0/14", "servicesCidr": "10.0.64.0/20"},
            "addons": {"kueue": {}},
        },
    },
}


def test_buckets_and_grants() -> None:
    deployed = deploy_platform(platform("company")).registrations.values()
    buckets = {found.name: found for found in deployed if found.type == "gcp:storage/bucket:Bucket"}
    inputs: dict[str, Any] = {name.rpartition("-")[2]: found.inputs for name, found in buckets.items()}
    assert set(inputs) == {"data", "models", "scratch", "steps", "epochs"}
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
    grants = [found.inputs for found in deployed if found.type == "gcp:storage/bucketIAMMember:BucketIAMMember"]
    members = [member for member in grants if member["bucket"] != inputs["steps"]["name"]]  # test_checkpointing.py
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


def test_teams_can_mount_their_buckets_where_the_cluster_has_the_driver() -> None:
    deployed = deploy_platform(SHARED).registrations.values()
    inputs: dict[str, list[Any]] = {kind: [] for kind in ("PersistentVolume", "PersistentVolumeClaim")}
    for found in deployed:
        if (kind := found.type.rpartition(":")[2]) in inputs:
            inputs[kind].append((found.name.split("-")[1], found.inputs))
    volumes = {(cluster, own["metadata"]["name"]): own["spec"] for cluster, own in inputs["PersistentVolume"]}
    assert set(volumes) == {
        *((cluster, volume) for cluster in ("main", "old") for volume in ("research.corpus", "evals.corpus")),
        ("main", "serving.models"),
        ("main", "serving.outer"),
    }
    assert volumes["main", "evals.corpus"] == {
        "capacity": {"storage": "1Ti"},
        "accessModes": ["ReadOnlyMany"],
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "gcsfusecsi-training",
        "mountOptions": ["ro"],
        "claimRef": {"namespace": "evals", "name": "corpus"},
        "csi": {"driver": "gcsfuse.csi.storage.gke.io", "volumeHandle": "acme-lab-lab-corpus", "volumeAttributes": {}},
    }
    kept = {name: (own["storageClassName"], own["accessModes"], own["mountOptions"]) for name, own in volumes.items()}
    assert kept["old", "evals.corpus"] == ("", ["ReadOnlyMany"], ["ro", "implicit-dirs"])
    assert kept["main", "serving.models"] == ("gcsfusecsi-serving", ["ReadWriteMany"], [])
    assert volumes["main", "serving.models"]["csi"]["volumeAttributes"] == {"anywhereCacheZones": "none"}
    # The location of an existing bucket is unknown.
    assert kept["main", "serving.outer"] == ("", ["ReadOnlyMany"], ["ro", "implicit-dirs"])
    for cluster, claim in inputs["PersistentVolumeClaim"]:
        volume = volumes[cluster, f"{claim['metadata']['namespace']}.{claim['metadata']['name']}"]
        assert volume["claimRef"] == claim["metadata"]
        assert claim["spec"] == {
            "accessModes": volume["accessModes"],
            "resources": {"requests": {"storage": "1Ti"}},
            "storageClassName": volume["storageClassName"],
            "volumeName": f"{claim['metadata']['namespace']}.{claim['metadata']['name']}",
        }
    assert len(inputs["PersistentVolumeClaim"]) == len(volumes)


def test_gke_may_read_the_buckets_that_it_mounts_with_a_profile() -> None:
    members = [
        found.inputs
        for found in deploy_platform(SHARED).registrations.values()
        if found.type == "gcp:storage/bucketIAMMember:BucketIAMMember"
    ]
    agent = "serviceAccount:service-123456789012@container-engine-robot.iam.gserviceaccount.com"
    assert {(own["bucket"], own["role"]) for own in members if own["member"] == agent} == {
        (bucket, role)
        for bucket in ("acme-lab-lab-corpus", "acme-lab-lab-models")
        for role in ("roles/storage.bucketViewer", "roles/storage.objectViewer")
    }


BUCKETS = "storage.buckets"


def edited(path: str, value: Any) -> dict[str, Any]:
    """The description with another value."""
    after = copy.deepcopy(SHARED)
    *above, last = path.split(".")
    part = after
    for name in above:
        part = part[name]
    part[last] = value
    return after


def volumes_of(described: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """The specs of the PersistentVolumes, by the cluster and the name."""
    return {
        (f"lab-{found.name.split('-')[1]}", found.inputs["metadata"]["name"]): found.inputs["spec"]
        for found in deploy_platform(described).registrations.values()
        if found.type.endswith(":PersistentVolume")
    }


before = functools.cache(lambda: volumes_of(SHARED))


def claims_in(found: Diff) -> dict[tuple[str, str], str]:
    """The claims that a diff names, by the cluster and the name of the volume."""
    return {
        (own.cluster, f"{own.namespace}.{own.claim}"): own.done for change in found.changes for own in change.claims
    }


@pytest.mark.parametrize(
    ("path", "value", "number"),
    [
        (f"{BUCKETS}.corpus.purpose", "checkpoints", 2),  # `old` has no profiles
        (f"{BUCKETS}.corpus.name", "acme-corpus", 4),
        (f"{BUCKETS}.corpus.readers", [], 4),
        (f"{BUCKETS}.corpus.softDeleteDays", 9, 0),
        (f"{BUCKETS}.corpus.location", "us-east5", 0),
        (f"{BUCKETS}.models.location", "us-east5", 1),
        (f"{BUCKETS}.outer.purpose", "data", 1),
        (f"{BUCKETS}.outer.existing", "acme-others", 1),
        ("clusters.old.version", "1.36", 2),
        ("clusters.main.storage.gcsFuse", False, 4),
        ("teams.research.namespaces", ["research"], 0),  # with its pods
    ],
)
def test_diff_names_the_claims_that_are_replaced_or_deleted(path: str, value: Any, number: int) -> None:
    after = edited(path, value)
    found = diff(parse_platform(SHARED), parse_platform(after))
    old, new = before(), volumes_of(after)
    gone = {name: "replaced" if name in new else "deleted" for name, spec in old.items() if new.get(name) != spec}
    with_namespace = {name for name in gone if name[1].startswith("evals.")} if path.startswith("teams") else set()
    assert claims_in(found) == {name: done for name, done in gone.items() if name not in with_namespace}
    assert len(claims_in(found)) == number
    assert {change.kind for change in found.changes} != {"nothing"}
