"""Parts of a platform that exist in Google Cloud, but that an interrupted update did not record in its stack.

`pulumi destroy` leaves them, and some stop the next update. Each function raises `Undecided` and `Unreachable` as
`Google.ask` does.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from shlex import quote
from typing import Any
from urllib.parse import quote as quote_path

from tpuplane.plan import PlatformPlan
from tpuplane.preflight.findings import Finding
from tpuplane.preflight.google import Google, reading
from tpuplane.preflight.leftovers import of_type, recorded, unrecorded
from tpuplane.spec.core.errors import Path

_CLUSTERS: Path = ("clusters",)
_OBSERVABILITY: Path = ("observability",)
State = Mapping[str, Any]


def _nats(state: State, plan: PlatformPlan, google: Google, stack: str) -> Iterator[Finding]:
    """NATs with the name of their router, as the platform creates them. Others were added by hand."""
    own = recorded(state)
    for found in of_type(state, "gcp:compute/router:Router"):
        _, project, _, region, _, router = found["id"].split("/")
        answer = google.ask("compute.v1.routers.get", project=project, region=region, router=router) or {}
        with reading():
            names = [nat["name"] for nat in answer.get("nats", ())]
        for name in names:
            if name == router and f"{project}/{region}/{router}/{name}" not in own:
                options = f"--router={router} --region={region} --project={project} --quiet"
                remedy = f"run: gcloud compute routers nats delete {name} {options}"
                yield Finding("leftover", _CLUSTERS, unrecorded(f"NAT {name} of router {router}"), remedy)


def _keys(state: State, plan: PlatformPlan, google: Google, stack: str) -> Iterator[Finding]:
    """Google deletes no key, so another key ring must take the place of theirs."""
    own, uses = recorded(state), sorted({use for cluster in plan.clusters for use in cluster.own_keys})
    for ring in of_type(state, "gcp:kms/keyRing:KeyRing"):
        for identity in (f"{ring['id']}/cryptoKeys/{use}" for use in uses):
            read = "cloudkms.v1.projects.locations.keyRings.cryptoKeys.get"
            if identity in own or google.ask(read, name=identity) is None:
                continue
            _, project, _, location, _, name, _, key = identity.split("/")
            options = f"--key={key} --keyring={name} --location={location} --project={project} --quiet"
            destroy = f"gcloud kms keys versions destroy 1 {options}"
            remedy = f"run: {destroy}; then: pulumi up --stack {quote(stack)} --replace {quote(ring['urn'])}"
            yield Finding("leftover", _CLUSTERS, unrecorded(f"key {key} of key ring {name}"), remedy)


def _grants(state: State, plan: PlatformPlan, google: Google, stack: str) -> Iterator[Finding]:
    """Planned roles of the stack's own service accounts. Other roles were granted by hand."""
    accounts = of_type(state, "gcp:serviceaccount/account:Account")
    own = {f"serviceAccount:{found['id'].rpartition('/')[2]}" for found in accounts}
    roles = {role for cluster in plan.clusters if cluster.service_account for role in cluster.service_account.roles}
    if not own or not roles:
        return
    members = [found["inputs"] for found in state["resources"] if found["type"] == "gcp:projects/iAMMember:IAMMember"]
    policy = google.ask("cloudresourcemanager.v1.projects.getIamPolicy", resource=plan.project, body={}) or {}
    with reading():
        granted = {(each["role"], member) for each in policy.get("bindings", ()) for member in each["members"]}
    for role, member in sorted(granted - {(found["role"], found["member"]) for found in members}):
        if member in own and role in roles:
            options = f"--member={member} --role={role} --condition=None --quiet"
            remedy = f"run: gcloud projects remove-iam-policy-binding {plan.project} {options}"
            yield Finding("leftover", _CLUSTERS, f"{member} has {role}, but no stack has recorded it", remedy)


def _metrics(state: State, plan: PlatformPlan, google: Google, stack: str) -> Iterator[Finding]:
    own = {found["inputs"].get("name") for found in of_type(state, "gcp:logging/metric:Metric")}
    for name in plan.observability.log_metrics:
        identity = f"projects/{plan.project}/metrics/{quote_path(name, safe='')}"
        if name not in own and google.ask("logging.v2.projects.metrics.get", metricName=identity) is not None:
            remedy = f"run: gcloud logging metrics delete {name} --project={plan.project} --quiet"
            yield Finding("leftover", _OBSERVABILITY, unrecorded(f"log metric {name}"), remedy)


def _monitoring(state: State, plan: PlatformPlan, google: Google, stack: str) -> Iterator[Finding]:
    """Dashboards, by their title, and alert policies, by their query: Google chooses the names, so that the next update
    creates them again. Google also rejects the change to a dashboard whose etag is not the newest."""
    own, project = {identity.rpartition("/")[2] for identity in recorded(state)}, f"projects/{plan.project}"
    found: list[tuple[str, str, str]] = []
    if title := (plan.observability.dashboard or {}).get("displayName"):
        answers = list(google.pages("monitoring.v1.projects.dashboards.list", parent=project))
        with reading():
            shown_boards = [each for answer in answers for each in answer.get("dashboards", ())]
            boards = [(each["name"], each["displayName"], each.get("etag")) for each in shown_boards]
        found += [("dashboard", name, title) for name, shown, _ in boards if shown == title]
        etags = {name.rpartition("/")[2]: etag for name, _, etag in boards if etag}
        for board in of_type(state, "gcp:monitoring/dashboard:Dashboard"):
            etag = etags.get(board["id"].rpartition("/")[2])
            if etag and json.loads(board["outputs"]["dashboardJson"]).get("etag") != etag:
                message = f"dashboard {title!r} was changed after the last update, so its next change fails with 409"
                yield Finding("leftover", _OBSERVABILITY, message, f"run: pulumi refresh --stack {quote(stack)}")
    if alerts := {alert.query: alert.title for alert in plan.observability.alerts}:
        answers = list(google.pages("monitoring.v3.projects.alertPolicies.list", name=project))
        with reading():
            found += [
                ("policy", policy["name"], alerts[query])
                for answer in answers
                for policy in answer.get("alertPolicies", ())
                for condition in policy.get("conditions", ())
                if (query := condition.get("conditionPrometheusQueryLanguage", {}).get("query")) in alerts
            ]
    for kind, name, title in found:
        if name.rpartition("/")[2] not in own:
            group = {"dashboard": "dashboards", "policy": "policies"}[kind]
            remedy = f"run: gcloud monitoring {group} delete {name} --project={plan.project} --quiet"
            yield Finding("leftover", _OBSERVABILITY, f"{kind} {title!r} exists, but no stack has recorded it", remedy)


CHECKS: Mapping[str, Callable[[State, PlatformPlan, Google, str], Iterator[Finding]]] = {
    "compute": _nats,
    "cloudkms": _keys,
    "cloudresourcemanager": _grants,
    "logging": _metrics,
    "monitoring": _monitoring,
}
"""The checks, by the API that they ask."""
