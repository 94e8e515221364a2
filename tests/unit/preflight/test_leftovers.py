"""Resources that an interrupted update has left, and the steps that remove them."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane.preflight.needs import delete_command

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
BEGUN = (
    "clusters: an interrupted update did not record whether these resources were created: platform-main; run: pulumi "
    "refresh --clear-pending-creates --yes --stack dev"
)
UP = (
    "clusters: an interrupted update left objects of a cluster that does not exist: platform-main-research; "
    "run: PULUMI_K8S_DELETE_UNREACHABLE=true pulumi up --stack dev"
)
DESTROYED = (
    "clusters: a `pulumi destroy` ended early, and the state can lack objects in these clusters: lab-main; to delete "
    "the platform, repeat it; to keep it, run: PULUMI_K8S_ENABLE_PATCH_FORCE=true "
    "PULUMI_K8S_UPSERT_EXISTING_OBJECTS=true pulumi up --stack dev"
)
GCLOUD = "--location=us-central1 --project=tpuplane-lab --quiet"


def left(state: dict[str, Any], *, ended_early: bool = False) -> list[str]:
    found = compared(state=state, ended_early=ended_early).findings
    return [str(finding) for finding in found if finding.check == "leftover"]


def test_a_cluster_whose_creation_was_interrupted(google: Server) -> None:
    state = {"pending_operations": [{"type": "creating", "resource": {**MADE, "id": ""}}]}
    assert left(state) == [BEGUN]
    google.answers[f"v1/{CLUSTER}"] = {"name": "lab-main", "status": "RUNNING"}
    assert list(map(str, compared(state=state).findings)) == [
        "clusters.main: cluster lab-main exists, but an interrupted update did not record it, so the next update "
        f"fails with 409; if the stack created it, run: gcloud container clusters delete lab-main {GCLOUD}",
        BEGUN,
    ]
    assert left({**state, "resources": [MADE]}) == [BEGUN]


def test_the_default_pool_of_an_interrupted_creation(google: Server) -> None:
    google.answers[f"v1/{CLUSTER}"] = {"name": "lab-main", "nodePools": [{"name": "nap-1"}]}
    assert left({"resources": [MADE]}) == []
    google.answers[f"v1/{CLUSTER}"] = {"name": "lab-main", "nodePools": [{"name": "default-pool"}]}
    (line,) = left({"resources": [MADE]})
    assert line.endswith(
        "but belongs to no stack; run: gcloud container node-pools delete default-pool --cluster=lab-main " + GCLOUD
    )
    adopted = {"type": "gcp:container/nodePool:NodePool", "urn": "p", "id": f"{CLUSTER}/nodePools/default-pool"}
    assert left({"resources": [MADE, adopted]}) == []


def test_a_node_pool_that_an_update_did_not_record(google: Server) -> None:
    google.answers[f"v1/{CLUSTER}"] = {"name": "lab-main", "nodePools": [{"name": "system"}, {"name": "by-hand"}]}
    recorded_ = {"type": "gcp:container/nodePool:NodePool", "urn": "p", "id": f"{CLUSTER}/nodePools/system"}
    assert left({"resources": [MADE, recorded_]}) == []
    (line,) = left({"resources": [MADE]})
    command = f"gcloud container node-pools delete system --cluster=lab-main {GCLOUD}"
    said = "clusters.main: node pool system of cluster lab-main exists, but an interrupted update did not record it"
    assert line == f"{said}, so the next update fails with 409; run: {command}"


@pytest.mark.parametrize(
    ("identity", "command"),
    [
        ("projects/P/global/networks/n", "compute networks delete n --project=P"),
        ("projects/P/regions/r/subnetworks/s", "compute networks subnets delete s --region=r --project=P"),
        ("projects/P/regions/r/resourcePolicies/w", "compute resource-policies delete w --region=r --project=P"),
        ("projects/P/serviceAccounts/a@b.c", "iam service-accounts delete a@b.c --project=P"),
    ],
)
def test_the_command_that_deletes_an_object(identity: str, command: str) -> None:
    assert delete_command(identity) == f"gcloud {command} --quiet"


def test_a_network_whose_creation_got_no_answer(google: Server) -> None:
    google.answers[f"compute/v1/projects/{PROJECT}/global/networks/lab"] = {"name": "lab"}
    google.answers[f"v1/{CLUSTER}"] = {"name": "lab-main", "status": "RUNNING"}
    assert (
        "name: network lab already exists in project tpuplane-lab, but not in stack dev; an update that got no answer "
        "may have created it; choose another name; or if nothing uses it, run: gcloud compute networks delete lab "
        "--project=tpuplane-lab --quiet"
    ) in left({"resources": [MADE]})


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("creating", "lab", "so the next update fails with 409; if the stack created it, run: gcloud"),
        ("updating", "lab", "choose another name; or if nothing uses it, run: gcloud"),
        ("creating", "other", "choose another name; or if nothing uses it, run: gcloud"),
    ],
)
def test_only_what_the_update_was_creating_can_be_its_own(google: Server, kind: str, name: str, said: str) -> None:
    google.answers[f"compute/v1/projects/{PROJECT}/global/networks/lab"] = {"name": "lab"}
    google.answers[f"v1/{CLUSTER}"] = {"name": "lab-main", "status": "RUNNING"}
    resource = {"urn": "urn:pulumi:dev::p::gcp:compute/network:Network::net", "inputs": {"name": name}}
    found = left({"resources": [MADE], "pending_operations": [{"type": kind, "resource": resource}]})
    (line,) = (line for line in found if "network lab" in line)
    assert f"{said} compute networks delete lab" in line


def test_a_cluster_of_the_same_name_elsewhere_has_other_pools(google: Server) -> None:
    elsewhere = CLUSTER.replace("us-central1", "us-east5")
    google.answers[f"v1/{elsewhere}"] = {"name": "lab-main", "nodePools": [{"name": "system"}]}
    google.answers[f"v1/{CLUSTER}"] = {"name": "lab-main"}
    assert left({"resources": [MADE, {**MADE, "id": elsewhere, "urn": "urn:other"}]}) == []


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
    half_made, waits, unfinished = left(begun)
    assert half_made.startswith("clusters.main: cluster lab-main exists, but an interrupted update did not record it")
    assert (waits, unfinished) == (UP, BEGUN)


def test_a_destroy_that_failed(google: Server) -> None:
    google.answers[f"v1/{CLUSTER}"] = {"name": "lab-main", "status": "RUNNING"}
    assert left({"resources": [MADE]}, ended_early=True) == [DESTROYED]
    for without in ([], [WAITS], [{**MADE, "id": f"{CLUSTER}-of-a-former-file"}]):
        assert DESTROYED not in left({"resources": without}, ended_early=True), "no object can be left in a cluster"
    google.answers[f"v1/{CLUSTER}"] = 404
    assert DESTROYED not in left({"resources": [MADE]}, ended_early=True)


@pytest.mark.parametrize(
    ("kind", "id"), [("cluster:Cluster", CLUSTER), ("nodePool:NodePool", f"{CLUSTER}/nodePools/system")]
)
def test_a_destroy_whose_engine_was_killed(google: Server, kind: str, id: str) -> None:
    """The history of the stack does not have it."""
    google.answers[f"v1/{CLUSTER}"] = {"name": "lab-main", "status": "RUNNING"}
    resource = {"urn": "u", "type": f"gcp:container/{kind}", "id": id}

    def during(kind: str = "deleting", **marks: Any) -> list[str]:
        return left({"resources": [MADE], "pending_operations": [{"type": kind, "resource": {**resource, **marks}}]})

    assert during() == [DESTROYED]
    for update in (during("updating"), during(delete=True), during(pendingReplacement=True), during(id="another")):
        assert update == [], "an update changes, replaces or removes it"
