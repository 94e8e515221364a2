"""Clusters and node pools of a stack that GKE reports as broken, and the command that replaces them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.preflight.google_cloud import Server
from tests.support.preflight.lab import compared

pytestmark = pytest.mark.unit

CLUSTER = "projects/tpuplane-lab/locations/us-central1/clusters/lab-main"
CLUSTER_TYPE, POOL_TYPE = "gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool"
URN = "urn:pulumi:dev::tpuplane::gcp:container/nodePool:NodePool::platform-main-trainer-2"
STATE = {
    "resources": [
        {"urn": "urn:cluster", "type": CLUSTER_TYPE, "id": CLUSTER, "inputs": {"name": "lab-main"}},
        {"urn": URN, "type": POOL_TYPE, "id": f"{CLUSTER}/nodePools/trainer-2", "inputs": {}},
    ]
}


def broken(state: dict[str, Any]) -> list[str]:
    return [str(finding) for finding in compared(state=state).findings if finding.check == "broken"]


def gke(pool: dict[str, Any], **cluster: Any) -> dict[str, Any]:
    return {"name": "lab-main", "status": "RUNNING", "nodePools": [{"name": "trainer-2", **pool}], **cluster}


def test_a_pool_in_error_is_replaced_because_an_update_changes_nothing(google: Server) -> None:
    reason = [{"canonicalCode": "RESOURCE_EXHAUSTED", "message": "[GCE_STOCKOUT]:  no\ncapacity"}]
    google.answers[f"v1/{CLUSTER}"] = gke({"status": "ERROR", "conditions": reason})
    assert broken(STATE) == [
        "clusters.main: node pool trainer-2 has the status ERROR: [GCE_STOCKOUT]: no capacity; `pulumi up` alone "
        "changes nothing. When the cause no longer exists, and no work runs on the pool (if it has nodes: "
        f"tpuplane drain trainer-2), run: pulumi up --stack dev --replace {URN}"
    ]


def test_a_pool_that_was_deleted_by_hand(google: Server) -> None:
    google.answers[f"v1/{CLUSTER}"] = {"name": "lab-main", "status": "RUNNING"}
    said = "clusters.main: node pool trainer-2 is in the state of the stack, but does not exist"
    assert [str(found) for found in compared(state=STATE).findings if found.check == "deleted"] == [
        f"{said}; run: pulumi refresh --stack dev, then: pulumi up --stack dev"
    ]


@pytest.mark.parametrize("status", ["RUNNING", "PROVISIONING", "RECONCILING", "STOPPING"])
def test_a_pool_that_works_or_changes_is_not_broken(google: Server, status: str) -> None:
    google.answers[f"v1/{CLUSTER}"] = gke({"status": status})
    assert broken(STATE) == []


@pytest.mark.parametrize(
    ("pool", "message"),
    [
        (
            {"status": "RUNNING_WITH_ERROR", "statusMessage": "no hosts", "conditions": [{"code": "UNKNOWN"}]},
            "no hosts",
        ),
        ({"status": "RUNNING_WITH_ERROR", "conditions": [{"code": "GCE_STOCKOUT"}]}, "GCE_STOCKOUT"),
        ({"status": "NEW"}, "without a message"),
        ({}, "without a message"),
    ],
)
def test_every_other_status_is_reported(google: Server, pool: dict[str, Any], message: str) -> None:
    google.answers[f"v1/{CLUSTER}"] = gke(pool)
    (line,) = broken(STATE)
    status = pool.get("status", "unknown")
    again = (
        "GKE tries again. If the status stays, and no work runs on the pool (if it has nodes: tpuplane drain trainer-2)"
    )
    expected = (
        f"node pool trainer-2 has the status {status}: {message}; {again}, run: pulumi up --stack dev --replace {URN}"
    )
    assert expected in line


def test_a_cluster_and_the_pools_of_a_foreign_cluster(google: Server) -> None:
    google.answers[f"v1/{CLUSTER}"] = gke({"status": "RUNNING"}, status="DEGRADED")
    (line,) = broken(STATE)
    assert line.startswith("clusters.main: cluster lab-main has the status DEGRADED: without a message")
    assert "--replace" not in line
    pools = {"resources": STATE["resources"][1:]}
    assert broken(pools) == []
    google.answers[f"v1/{CLUSTER}"] = gke({"status": "ERROR"})
    assert len(broken(pools)) == 1


def test_nothing_is_said_of_what_is_not_recorded_or_does_not_exist(google: Server) -> None:
    assert broken(STATE) == []
    google.answers[f"v1/{CLUSTER}"] = gke({"status": "ERROR"})
    assert broken({"resources": STATE["resources"][:1]}) == []
    deleted = {**STATE["resources"][1], "delete": True}
    assert broken({"resources": [deleted]}) == []
