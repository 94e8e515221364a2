"""Whether a Google Cloud project has what a stack file needs: APIs, permissions, quota, reservations, free names."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Any

from tpuplane.plan import PlatformPlan
from tpuplane.preflight.broken import check_broken
from tpuplane.preflight.findings import Finding, asked
from tpuplane.preflight.google import Google, of_project, reading
from tpuplane.preflight.leftovers import after_deletion, check_destroyed, check_leftovers, recorded, unrecorded
from tpuplane.preflight.needs import Name, Needs, delete_command, needs, permissions
from tpuplane.preflight.quotas import check_quotas, demands
from tpuplane.preflight.reservations import check_reservations
from tpuplane.preflight.unrecorded import CHECKS
from tpuplane.spec import PlatformSpec
from tpuplane.spec.core.errors import Path

_PROJECT: Path = ("project",)
_MOST_TESTED = 100  # permissions in one request


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings, and the number of comparisons by kind."""

    findings: tuple[Finding, ...]
    compared: dict[str, int]

    @property
    def undecided(self) -> bool:
        """Whether every finding is a question that Google did not answer."""
        return bool(self.findings) and all(finding.undecided for finding in self.findings)


def check_online(
    spec: PlatformSpec,
    plan: PlatformPlan,
    google: Google,
    *,
    file: str = "FILE",
    state: Mapping[str, Any] | None = None,
    stack: str = "",
    destroy_ended_early: bool = False,
) -> Findings:
    """Compare a checked description with its project. `state` is Pulumi's state of the `stack`, if it exists.

    `destroy_ended_early`: its history has a `pulumi destroy` that did not succeed, and no later command did. Raises
    `Unreachable`.
    """
    needed, project = needs(plan), plan.project
    states: dict[str, str] = {}
    enable = f"run: gcloud services enable serviceusage.googleapis.com --project={project}, or get its permissions"
    findings = list(asked("api", _PROJECT, enable, _check_apis(needed, project, google, states)))
    compared = {"APIs": len(needed.apis)}
    rejected = f"grant the caller the permissions that this command lists: tpuplane check {file} --role"

    def asks(api: str) -> bool:
        return states.get(f"{api}.googleapis.com", "ENABLED") == "ENABLED"

    if asks("cloudresourcemanager"):
        findings += asked("permission", _PROJECT, rejected, _check_permissions(needed, project, google, file))
        compared["permissions"] = len(needed.role["includedPermissions"])
    if asks("compute"):
        wanted = demands(spec, plan)
        findings += check_quotas(wanted, project, google, rejected)
        findings += check_reservations(spec, google, rejected)
        compared |= {"quotas": len(wanted), "reservations": len(spec.reservations)}
    own, begun = recorded(state or {}), _begun(state or {})
    names = [name for name in needed.names if asks(name.api)]
    left: list[Finding] = []
    planned = {f"projects/{project}/locations/{own.location}/clusters/{own.name}": own for own in plan.clusters}
    if state and asks("container"):
        left += asked("leftover", ("clusters",), rejected, check_leftovers(state, planned, google, stack))
        left += asked("broken", ("clusters",), rejected, check_broken(state, planned, google, stack))
    for api, check in CHECKS.items():
        if state and asks(api):
            left += asked("leftover", ("clusters",), rejected, check(state, plan, google, stack))
    if state and asks("container"):  # its command is the last one
        destroyed = check_destroyed(state, planned, google, stack, destroy_ended_early)
        left += asked("leftover", ("clusters",), rejected, destroyed)
    for name in names:
        if not any(finding.path == name.path for finding in left):  # that finding already has the remedy
            question = _check_name(name, project, google, own, begun, stack)
            findings += asked("name", name.path, rejected, question)
    findings += left
    return Findings(tuple(findings), {**compared, "names": len(names)})


def _check_apis(needed: Needs, project: str, google: Google, states: dict[str, str]) -> Iterator[Finding]:
    """The services that are not enabled; writes the `states` of all."""
    parent = f"projects/{project}"
    names = [f"{parent}/services/{api}" for api in needed.apis]
    answer = of_project(google.ask("serviceusage.v1.services.batchGet", parent=parent, names=names), project)
    with reading():
        found = {service["name"].rpartition("/")[2]: service["state"] for service in answer["services"]}
        states |= {api: found[api] for api in needed.apis}
    for api in needed.apis:
        if states[api] != "ENABLED":
            command = f"gcloud services enable {api} --project={project}"
            yield Finding("api", _PROJECT, f"{api} is not enabled in project {project}", f"run: {command}")


def _check_permissions(needed: Needs, project: str, google: Google, file: str) -> Iterator[Finding]:
    """The permissions of the project that the caller lacks, by the type of resource that needs them."""
    wanted, held = needed.role["includedPermissions"], set()
    for start in range(0, len(wanted), _MOST_TESTED):
        body = {"permissions": wanted[start : start + _MOST_TESTED]}
        method = "cloudresourcemanager.v1.projects.testIamPermissions"
        answer = of_project(google.ask(method, resource=project, body=body), project)
        with reading():
            held |= set(answer.get("permissions", ()))
    update = f"gcloud iam roles update tpuplaneDeployer --project={project} --file=role.json"
    remedy = f"run: tpuplane check {file} --role > role.json && {update}"
    for kind, users in needed.types.items():
        if missing := [permission for permission in permissions(kind) if permission not in held]:
            what = f"{kind.rpartition(':')[2]} of {', '.join(users)}"
            message = f"the caller lacks {', '.join(missing)} in project {project} ({what})"
            yield Finding("permission", _PROJECT, message, remedy)


def _begun(state: Mapping[str, Any]) -> set[object]:
    """The values of the resources whose creation Pulumi began and did not record, and so also their names."""
    pending = (each for each in state.get("pending_operations") or () if each["type"] == "creating")
    values = (value for each in pending for value in each["resource"].get("inputs", {}).values())
    return {value for value in values if isinstance(value, str)}


def _check_name(
    name: Name, project: str, google: Google, own: Collection[str], begun: Collection[object], stack: str
) -> Iterator[Finding]:
    """A name that is already in use, or an object of the stack that was deleted outside of Pulumi."""
    exists = google.ask(name.method, **name.arguments) is not None
    if exists and name.id not in own:
        taken = f"{name} already exists in project {project}"
        delete = f"run: {delete_command(name.id, name.api)}"
        if name.id.rpartition("/")[2].partition("@")[0] in begun:
            yield Finding("leftover", name.path, unrecorded(str(name)), f"if the stack created it, {delete}")
        elif own:
            message = f"{taken}, but not in stack {stack}; an update that got no answer may have created it"
            yield Finding("leftover", name.path, message, f"choose another name; or if nothing uses it, {delete}")
        else:
            yield Finding(
                "name", name.path, taken, "choose another name; if your stack created it, add --deployed STACK"
            )
    if not exists and name.id in own:
        message = f"{name} is in the state of the stack, but does not exist in project {project}"
        yield Finding("deleted", name.path, message, after_deletion(name.id, quote(stack)))
