"""Changes by hand: what a user deletes or changes in Google Cloud although a stack has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from tpuplane.preflight.needs import delete_command

from tests.support.matrix import gcloud
from tests.support.providers.google_api import GoogleApi

_DELETED = ("container/cluster:Cluster", "container/nodePool:NodePool", "compute/router:Router")
_DELETED += ("serviceaccount/account:Account",)
_GROUPS = {
    "logging/metric:Metric": "logging metrics",
    "monitoring/dashboard:Dashboard": "monitoring dashboards",
    "monitoring/alertPolicy:AlertPolicy": "monitoring policies",
}


@dataclass(frozen=True, slots=True)
class Drift:
    """One change by hand."""

    what: str
    act: Callable[[GoogleApi], object]

    def __str__(self) -> str:
        return self.what


def drifts(state: Mapping[str, Any], existing: set[str]) -> list[Drift]:
    """Every change by hand that Google allows, of resources of the state that still exist."""
    owned = [found for found in state.get("resources") or () if found.get("id") in existing]
    return sorted((drift for found in owned for drift in _of(found)), key=str)


def _of(resource: Mapping[str, Any]) -> Iterator[Drift]:
    kind, identity, inputs = resource["type"].removeprefix("gcp:"), resource["id"], resource["inputs"]
    name = resource["urn"].rpartition("::")[2]  # Google generates some ids
    if command := _deleting(kind, identity, inputs):
        yield Drift(f"delete {name} ({kind})", partial(gcloud.delete, command.split()))
    for what, method, path, body in _changing(kind, identity, inputs):
        yield Drift(f"change {what} of {name}", partial(_ask, method, path, body))


def _deleting(kind: str, identity: str, inputs: Mapping[str, Any]) -> str:
    """The command that deletes a resource; empty if Google does not allow it, because others use it."""
    project, command = inputs.get("project"), ""
    if kind in _DELETED:
        command = delete_command(identity)
    elif kind == "compute/routerNat:RouterNat":
        _, region, router, nat = identity.split("/")
        command = f"gcloud compute routers nats delete {nat} --router={router} --region={region} --project={project}"
    elif kind == "projects/iAMMember:IAMMember":
        options = f"--member={inputs['member']} --role={inputs['role']}"
        command = f"gcloud projects remove-iam-policy-binding {project} {options}"
    elif group := _GROUPS.get(kind):
        command = f"gcloud {group} delete {identity} --project={project}"
    return command


def _changing(kind: str, identity: str, inputs: Mapping[str, Any]) -> Iterable[tuple[str, str, str, Any]]:
    """What is changed, and the request."""
    if kind == "container/cluster:Cluster":
        labels = {"resourceLabels": {"by": "hand"}}
        yield "labels", "POST", f"/v1/{identity}:setResourceLabels", labels
    elif kind == "monitoring/alertPolicy:AlertPolicy":
        yield "the state", "PATCH", f"/monitoring/v3/{identity}?updateMask=enabled", {"enabled": False}
    elif kind == "container/nodePool:NodePool":
        yield "labels", "PUT", f"/v1/{identity}", {"resourceLabels": {"labels": {"by": "hand"}}}
        yield "labels of nodes", "PUT", f"/v1/{identity}", {"labels": {"labels": {"by": "hand"}}}
        upgrade, repair = inputs["management"]["autoUpgrade"], not inputs["management"]["autoRepair"]
        yield (
            "repair",
            "POST",
            f"/v1/{identity}:setManagement",
            {"management": {"autoUpgrade": upgrade, "autoRepair": repair}},
        )
        if "nodeCount" in inputs and "placementPolicy" not in inputs:
            yield "the size", "POST", f"/v1/{identity}:setSize", {"nodeCount": inputs["nodeCount"] + 1}


def _ask(method: str, path: str, body: Any, api: GoogleApi) -> None:
    if path.endswith(":setResourceLabels"):
        fingerprint = api.ask("GET", path.partition(":")[0])["labelFingerprint"]
        body = {**body, "labelFingerprint": fingerprint}
    api.ask(method, path, body)
