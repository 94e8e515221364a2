"""Resources that an interrupted update has left, by Pulumi's state: no stack owns them, or the next update stops."""

from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Any

from tpuplane.plan import PlatformPlan
from tpuplane.preflight.findings import Finding
from tpuplane.preflight.google import Google
from tpuplane.spec.core.errors import Path

_CLUSTER = "gcp:container/cluster:Cluster"
_POOL = "gcp:container/nodePool:NodePool"
_DEFAULT_POOL = "default-pool"
_GET = "container.v1.projects.locations.clusters"


def check_leftovers(state: Mapping[str, Any], plan: PlatformPlan, google: Google, stack: str) -> Iterator[Finding]:
    """Findings with the steps of plain Pulumi. `state` is the deployment that `pulumi stack export` prints.

    Raises `Undecided` and `Unreachable` as `Google.ask` does.
    """
    resources = state.get("resources") or []
    own = {it["id"] for it in resources if it.get("id")}
    keys = {it.name: it.key for it in plan.clusters}
    for pending in state.get("pending_operations") or ():
        begun = pending["resource"]
        if pending["type"] == "creating" and begun["type"] in (_CLUSTER, _POOL):
            yield from _half_made(begun["type"], begun.get("inputs", {}), own, keys, google, stack)
    for found in resources:
        if found["type"] == _CLUSTER and found.get("inputs", {}).get("removeDefaultNodePool") and found.get("id"):
            yield from _default_pool(found["id"], own, keys, google)
    yield from _waiting(resources, google, stack)


def _half_made(
    kind: str, inputs: Mapping[str, Any], own: set[str], keys: Mapping[str, str], google: Google, stack: str
) -> Iterator[Finding]:
    place = {"location": inputs.get("location", ""), "project": inputs.get("project", "")}
    cluster = inputs["cluster"].rpartition("/")[2] if kind == _POOL else inputs["name"]
    identity = "projects/{project}/locations/{location}/clusters/".format(**place) + cluster
    what, command, method = f"cluster {cluster}", f"clusters delete {cluster}", f"{_GET}.get"
    if kind == _POOL:
        identity += f"/nodePools/{inputs['name']}"
        what, method = f"node pool {inputs['name']} of {what}", f"{_GET}.nodePools.get"
        command = f"node-pools delete {inputs['name']} --cluster={cluster}"
    if identity not in own and google.ask(method, name=identity) is not None:
        message = f"{what} exists, but an interrupted update did not record it, so the next one ends with 409"
        steps = f"{_gcloud(command, place)}; then: pulumi refresh --clear-pending-creates --yes --stack {quote(stack)}"
        yield Finding("leftover", _at(cluster, keys), message, f"run: {steps}")


def _default_pool(cluster: str, own: set[str], keys: Mapping[str, str], google: Google) -> Iterator[Finding]:
    identity = f"{cluster}/nodePools/{_DEFAULT_POOL}"
    if identity in own or google.ask(f"{_GET}.nodePools.get", name=identity) is None:
        return
    parts = cluster.split("/")
    place, name = dict(zip(("project", "location"), parts[1:4:2], strict=True)), parts[-1]
    message = f"node pool {_DEFAULT_POOL} of cluster {name} runs and costs money, and is in no stack"
    command = _gcloud(f"node-pools delete {_DEFAULT_POOL} --cluster={name}", place)
    yield Finding("leftover", _at(name, keys), message, f"run: {command}")


def _waiting(resources: list[dict[str, Any]], google: Google, stack: str) -> Iterator[Finding]:
    """Objects that wait for their deletion in a cluster that does not exist."""
    clusters = {it["urn"]: it["id"] for it in resources if it["type"] == _CLUSTER and not it.get("delete")}
    waiting = [it for it in resources if it.get("delete") and it["type"].startswith("kubernetes:")]
    lost = {
        urn
        for urn in sorted({it.get("deletedWith", "") for it in waiting})
        if urn and (urn not in clusters or google.ask(f"{_GET}.get", name=clusters[urn]) is None)
    }
    names = [it["urn"].rpartition("::")[2] for it in waiting if it.get("deletedWith") in lost]
    if names:
        listed = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        message = f"objects wait for their deletion in a cluster that does not exist: {listed}"
        remedy = f"run: PULUMI_K8S_DELETE_UNREACHABLE=true pulumi up --stack {quote(stack)}"
        yield Finding("leftover", ("clusters",), message, remedy)


def _gcloud(command: str, place: Mapping[str, str]) -> str:
    return f"gcloud container {command} --location={place['location']} --project={place['project']} --quiet"


def _at(cluster: str, keys: Mapping[str, str]) -> Path:
    return ("clusters", keys[cluster]) if cluster in keys else ("clusters",)
