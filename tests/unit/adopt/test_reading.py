"""What is asked of Google's API about clusters, through Google's own client library, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tpuplane.adopt.google import read_project
from tpuplane.preflight.google import Undecided

from tests.support.preflight.google_cloud import PROJECT, Server, google_cloud

pytestmark = pytest.mark.unit

CLUSTERS = f"v1beta1/projects/{PROJECT}/locations/-/clusters"
GROUPS = f"compute/v1/projects/{PROJECT}/aggregated/instanceGroupManagers"
POLICY = f"compute/v1/projects/{PROJECT}/regions/us-central1/resourcePolicies/ironwood"
POOL: dict[str, Any] = {
    "name": "t",
    "placementPolicy": {"policyName": "ironwood"},
    "instanceGroupUrls": [
        f"https://compute.example/v1/projects/p/zones/{letter}/instanceGroupManagers/grp" for letter in "ab"
    ],
}


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Google with one cluster, whose pool has nodes in two zones."""
    groups = [
        {"selfLink": f"https://other.example/zones/{letter}/instanceGroupManagers/grp", "targetSize": 2}
        for letter in "ab"
    ]
    answers: dict[str, Any] = {
        CLUSTERS: {
            "clusters": [{"name": "c", "location": "us-central1-a", "nodePools": [POOL]}],
            "missingZones": ["z"],
        },
        GROUPS: {"items": {"zones/a": {"instanceGroupManagers": groups}, "zones/c": {"warning": {}}}},
        POLICY: {"workloadPolicy": {"acceleratorTopology": "4x4x4", "acceleratorTopologyMode": "PROVISION_ONLY"}},
    }
    with google_cloud(answers) as server:
        server.setenv(monkeypatch)
        yield server


def pool() -> Any:
    return read_project(PROJECT).clusters[0]["nodePools"][0]


def test_a_node_pool_has_its_size_and_the_topology_of_its_policy(google: Server) -> None:
    found = pool()
    assert found["nodeCount"] == 4
    placed = {"tpuTopology": "4x4x4", "acceleratorTopologyMode": "PROVISION_ONLY"}
    assert found["placementPolicy"] == {"policyName": "ironwood", **placed}
    assert read_project(PROJECT).missing_zones == ("z",)
    google.answers[POLICY] = 404
    google.answers[GROUPS] = {}
    found = pool()
    assert ("nodeCount" in found, found["placementPolicy"]["tpuTopology"]) == (False, "")


@pytest.mark.parametrize(
    ("path", "answer", "message"),
    [
        (CLUSTERS, 404, "Google finds no project tpuplane-lab"),
        (CLUSTERS, 403, "Google answers 403: rejected with 403"),
        (GROUPS, 403, "Google answers 403: rejected with 403"),
    ],
)
def test_a_rejected_question_is_one_message(google: Server, path: str, answer: int, message: str) -> None:
    google.answers[path] = answer
    with pytest.raises(Undecided, match=message):
        read_project(PROJECT)


def test_a_project_without_clusters_is_not_asked_further(google: Server) -> None:
    google.answers |= {CLUSTERS: {}, GROUPS: 403}
    assert read_project(PROJECT).clusters == ()
