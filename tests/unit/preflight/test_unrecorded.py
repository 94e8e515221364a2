"""Parts of a platform that an update created and did not record, and the commands that remove them."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane.plan import plan
from tpuplane.spec import parse_platform

from tests.support.preflight.google_cloud import PROJECT, Server
from tests.support.preflight.lab import DESCRIPTION, compared

pytestmark = pytest.mark.unit

NODES = f"lab-main@{PROJECT}.iam.gserviceaccount.com"
ROUTER = f"projects/{PROJECT}/regions/us-central1/routers/lab-us-central1"
LISTED = f"projects/{PROJECT}"
RING = f"projects/{PROJECT}/locations/us-central1/keyRings/keys-1a2b3c4"
MADE = [
    {"type": "gcp:compute/router:Router", "urn": "r", "id": ROUTER, "inputs": {}},
    {"type": "gcp:kms/keyRing:KeyRing", "urn": "ring", "id": RING, "inputs": {}},
]
WATCHED = {
    "observability": {},
    "clusters": {"main": {"location": "us-central1", "security": {"secretsEncryption": {}}}},
}
ALERTS = plan(parse_platform(DESCRIPTION | WATCHED)).observability


def left(*resources: dict[str, Any]) -> list[str]:
    found = compared(state={"resources": [*MADE, *resources]}, **WATCHED).findings
    return [str(finding) for finding in found if finding.check == "leftover"]


def test_a_role_that_an_update_did_not_record(google: Server) -> None:
    """Only of the stack's own accounts, and only the planned ones: others are granted by hand."""
    account = {
        "type": "gcp:serviceaccount/account:Account",
        "urn": "a",
        "id": f"projects/{PROJECT}/serviceAccounts/{NODES}",
    }
    role, member = "roles/container.defaultNodeServiceAccount", f"serviceAccount:{NODES}"
    members = {role: [member, "user:a@b.c"], "roles/storage.admin": [member]}
    bindings = [{"role": granted, "members": those} for granted, those in members.items()]
    google.answers[f"crm/v1/projects/{PROJECT}:getIamPolicy"] = {"bindings": bindings}
    assert left(account) == [
        f"clusters: {member} has {role}, but no stack has recorded it; run: gcloud projects remove-iam-policy-binding "
        f"{PROJECT} --member={member} --role={role} --condition=None --quiet"
    ]
    recorded_ = {"type": "gcp:projects/iAMMember:IAMMember", "urn": "m", "inputs": {"role": role, "member": member}}
    assert left(account, recorded_) == []


def test_a_nat_of_a_recorded_router(google: Server) -> None:
    google.answers[f"compute/v1/{ROUTER}"] = {"name": "lab-us-central1", "nats": [{"name": "lab-us-central1"}]}
    command = "gcloud compute routers nats delete lab-us-central1 --router=lab-us-central1 --region=us-central1"
    (line,) = left()
    assert line.endswith(f"the next update fails with 409; run: {command} --project={PROJECT} --quiet")
    identity = f"{PROJECT}/us-central1/lab-us-central1/lab-us-central1"
    assert left({"type": "gcp:compute/routerNat:RouterNat", "urn": "n", "id": identity}) == []
    google.answers[f"compute/v1/{ROUTER}"] = {"name": "lab-us-central1", "nats": [{"name": "added-by-hand"}]}
    assert left() == []


def test_a_key_gets_another_ring_because_google_keeps_it(google: Server) -> None:
    google.answers[f"kms/v1/{RING}/cryptoKeys/secrets"] = {"name": "secrets"}
    options = f"--key=secrets --keyring=keys-1a2b3c4 --location=us-central1 --project={PROJECT} --quiet"
    (line,) = left()
    assert line.endswith(
        f"run: gcloud kms keys versions destroy 1 {options}; then: pulumi up --stack dev --replace ring"
    )
    assert left({"type": "gcp:kms/cryptoKey:CryptoKey", "urn": "k", "id": f"{RING}/cryptoKeys/secrets"}) == []


def test_what_google_names_is_known_by_its_content(google: Server) -> None:
    assert ALERTS.dashboard is not None
    boards = [
        {"name": "projects/1/dashboards/a", "displayName": title} for title in (ALERTS.dashboard["displayName"], "x")
    ]
    google.answers[f"monitoring/v1/projects/{PROJECT}/dashboards"] = {"dashboards": boards}
    query = {"conditionPrometheusQueryLanguage": {"query": ALERTS.alerts[0].query}}
    policies = [{"name": f"projects/{PROJECT}/alertPolicies/7", "conditions": [{"conditionThreshold": {}}, query]}]
    google.answers[f"monitoring/v3/projects/{PROJECT}/alertPolicies"] = {"alertPolicies": policies}
    board, policy = left()
    assert board.endswith(
        f"run: gcloud monitoring dashboards delete projects/1/dashboards/a --project={PROJECT} --quiet"
    )
    assert policy.startswith(
        f"observability: policy {ALERTS.alerts[0].title!r} exists, but no stack has recorded it; run"
    )
    recorded = {
        "type": "gcp:monitoring/alertPolicy:AlertPolicy",
        "urn": "p",
        "id": f"projects/{PROJECT}/alertPolicies/7",
    }
    assert left(recorded) == [board]


def test_all_pages_of_dashboards_and_policies_are_read(google: Server) -> None:
    assert ALERTS.dashboard is not None
    boards, policies = (f"monitoring/{path}" for path in (f"v1/{LISTED}/dashboards", f"v3/{LISTED}/alertPolicies"))
    board = {"name": "projects/1/dashboards/a", "displayName": ALERTS.dashboard["displayName"]}
    condition = {"conditionPrometheusQueryLanguage": {"query": ALERTS.alerts[0].query}}
    policy = {"name": f"{LISTED}/alertPolicies/7", "conditions": [condition]}
    for path in (boards, policies):
        google.answers[path] = {"nextPageToken": "2"}
    google.answers[f"{boards}?pageToken=2"] = {"dashboards": [board]}
    google.answers[f"{policies}?pageToken=2"] = {"alertPolicies": [policy]}
    assert [line.partition(" ")[2][:7] for line in left()] == ["dashboa", "policy "]


@pytest.mark.parametrize(("newest", "stale"), [("second", True), ("first", False)])
def test_a_dashboard_whose_update_got_no_answer(google: Server, newest: str, stale: bool) -> None:
    """Google carried it out, so the etag of the state is not the newest."""
    name = "projects/1/dashboards/a"
    google.answers[f"monitoring/v1/projects/{PROJECT}/dashboards"] = {
        "dashboards": [{"name": name, "displayName": "any", "etag": newest}]
    }
    outputs = {"dashboardJson": '{"etag": "first"}'}
    lines = left({"type": "gcp:monitoring/dashboard:Dashboard", "urn": "d", "id": name, "outputs": outputs})
    assert [line.partition("; ")[2] for line in lines] == ["run: pulumi refresh --stack dev"] * stale


def test_a_log_metric(google: Server) -> None:
    (name,) = ALERTS.log_metrics
    google.answers[f"logging/v2/projects/{PROJECT}/metrics/{name.replace('/', '%2F')}"] = {"name": name}
    (line,) = left()
    assert line.endswith(f"run: gcloud logging metrics delete {name} --project={PROJECT} --quiet")
    assert left({"type": "gcp:logging/metric:Metric", "urn": "m", "id": name, "inputs": {"name": name}}) == []
