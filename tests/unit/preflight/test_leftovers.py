"""Resources that an interrupted update has left, and the steps that remove them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.preflight.google_cloud import PROJECT, Server
from tests.support.preflight.lab import compared

pytestmark = pytest.mark.unit

CLUSTER = "projects/tpuplane-lab/locations/us-central1/clusters/lab-main"
URN = "urn:pulumi:dev::tpuplane::gcp:container/cluster:Cluster::platform-main"
MADE = {
    "urn": URN,
    "type": "gcp:container/cluster:Cluster",
    "id": CLUSTER,
    "inputs": {"name": "lab-main", "location": "us-central1", "project": PROJECT, "removeDefaultNodePool": True},
}
WAITS = {
    "urn": "urn:pulumi:dev::tpuplane::kubernetes:core/v1:Namespace::platform-main-research",
    "type": "kubernetes:core/v1:Namespace",
    "delete": True,
    "deletedWith": URN,
}
UP = (
    "clusters: an interrupted update left objects of a cluster that does not exist: platform-main-research; "
    "run: PULUMI_K8S_DELETE_UNREACHABLE=true pulumi up --stack dev"
)
GCLOUD = "--location=us-central1 --project=tpuplane-lab --quiet"


def left(state: dict[str, Any]) -> list[str]:
    return [str(finding) for finding in compared(state=state).findings if finding.check == "leftover"]


def test_a_cluster_whose_creation_was_interrupted(google: Server) -> None:
    state = {"pending_operations": [{"type": "creating", "resource": {**MADE, "id": ""}}]}
    assert left(state) == []
    google.answers[f"v1/{CLUSTER}"] = {"name": "lab-main"}
    (line,) = map(str, compared(state=state).findings)
    assert line == (
        "clusters.main: cluster lab-main exists, but an interrupted update did not record it, so the next update "
        f"fails with 409; run: gcloud container clusters delete lab-main {GCLOUD}; then: pulumi refresh "
        "--clear-pending-creates --yes --stack dev"
    )
    assert left({**state, "resources": [MADE]}) == []


def test_the_default_pool_of_an_interrupted_creation(google: Server) -> None:
    google.answers[f"v1/{CLUSTER}"] = {"name": "lab-main"}
    assert left({"resources": [MADE]}) == []
    google.answers[f"v1/{CLUSTER}/nodePools/default-pool"] = {"name": "default-pool"}
    (line,) = left({"resources": [MADE]})
    assert line.endswith(
        "but belongs to no stack; run: gcloud container node-pools delete default-pool --cluster=lab-main " + GCLOUD
    )
    adopted = {"type": "gcp:container/nodePool:NodePool", "urn": "p", "id": f"{CLUSTER}/nodePools/default-pool"}
    assert left({"resources": [MADE, adopted]}) == []


def test_objects_that_wait_for_their_deletion(google: Server) -> None:
    google.answers[f"v1/{CLUSTER}"] = {"name": "lab-main"}
    assert left({"resources": [MADE, WAITS]}) == [], "the next update deletes them"
    for state in ({"resources": [WAITS]}, {"resources": [{**MADE, "delete": True}, WAITS]}):
        assert left(state) == [UP]


REPLACED = {"resources": [{**MADE, "pendingReplacement": True}, {**WAITS, "delete": False, "pendingReplacement": True}]}


def test_an_interrupted_replacement_of_a_cluster(google: Server) -> None:
    """The state still has the cluster and its objects, with a mark that they are deleted."""
    assert list(map(str, compared(state=REPLACED).findings)) == [UP], "nobody deleted it outside of Pulumi"
    google.answers[f"v1/{CLUSTER}"] = {"name": "lab-main"}
    begun = {**REPLACED, "pending_operations": [{"type": "creating", "resource": {**MADE, "id": ""}}]}
    half_made, waits = left(begun)
    assert half_made.startswith("clusters.main: cluster lab-main exists, but an interrupted update did not record it")
    assert waits == UP
