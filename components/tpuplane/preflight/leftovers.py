"""Resources that an interrupted update left behind, found in Pulumi's state. No stack owns them, or they stop the next
update."""

from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Any

from tpuplane.preflight.findings import Finding
from tpuplane.preflight.google import Google
from tpuplane.spec.core.errors import Path

CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"
_DEFAULT_POOL = "default-pool"
GET = "container.v1.projects.locations.clusters"


def recorded(state: Mapping[str, Any]) -> set[str]:
    """The IDs of the resources of a stack. A resource that is pending replacement is already deleted."""
    resources = state.get("resources") or ()
    return {found["id"] for found in resources if found.get("id") and not found.get("pendingReplacement")}


def check_leftovers(state: Mapping[str, Any], keys: Mapping[str, str], google: Google, stack: str) -> Iterator[Finding]:
    """Findings with the steps of plain Pulumi. `state` is the deployment that `pulumi stack export` prints.

    `keys` has the clusters' keys by name. Raises `Undecided` and `Unreachable` as `Google.ask` does.
    """
    resources, own = state.get("resources") or [], recorded(state)
    for pending in state.get("pending_operations") or ():
        begun = pending["resource"]
        if pending["type"] == "creating" and begun["type"] in (CLUSTER, POOL):
            yield from _half_made(begun["type"], begun.get("inputs", {}), own, keys, google, stack)
    for found in resources:
        unwanted = found["type"] == CLUSTER and found.get("inputs", {}).get("removeDefaultNodePool")
        if unwanted and found.get("id") in own:
            yield from _default_pool(found["id"], own, keys, google)
    yield from _waiting(resources, google, stack)


def _half_made(
    kind: str, inputs: Mapping[str, Any], own: set[str], keys: Mapping[str, str], google: Google, stack: str
) -> Iterator[Finding]:
    place = {"location": inputs.get("location", ""), "project": inputs.get("project", "")}
    cluster = inputs["cluster"].rpartition("/")[2] if kind == POOL else inputs["name"]
    identity = "projects/{project}/locations/{location}/clusters/".format(**place) + cluster
    what, command, method = f"cluster {cluster}", f"clusters delete {cluster}", f"{GET}.get"
    if kind == POOL:
        identity += f"/nodePools/{inputs['name']}"
        what, method = f"node pool {inputs['name']} of {what}", f"{GET}.nodePools.get"
        command = f"node-pools delete {inputs['name']} --cluster={cluster}"
    if identity not in own and google.ask(method, name=identity) is not None:
        message = f"{what} exists, but an interrupted update did not record it, so the next update fails with 409"
        steps = f"{_gcloud(command, place)}; then: pulumi refresh --clear-pending-creates --yes --stack {quote(stack)}"
        yield Finding("leftover", at(cluster, keys), message, f"run: {steps}")


def _default_pool(cluster: str, own: set[str], keys: Mapping[str, str], google: Google) -> Iterator[Finding]:
    identity = f"{cluster}/nodePools/{_DEFAULT_POOL}"
    if identity in own or google.ask(f"{GET}.nodePools.get", name=identity) is None:
        return
    parts = cluster.split("/")
    place, name = dict(zip(("project", "location"), parts[1:4:2], strict=True)), parts[-1]
    message = f"node pool {_DEFAULT_POOL} of cluster {name} runs and costs money, but belongs to no stack"
    command = _gcloud(f"node-pools delete {_DEFAULT_POOL} --cluster={name}", place)
    yield Finding("leftover", at(name, keys), message, f"run: {command}")


def _waiting(resources: list[dict[str, Any]], google: Google, stack: str) -> Iterator[Finding]:
    """Objects to delete or replace, of a cluster that does not exist."""
    clusters: dict[str, str] = {}
    waiting: list[tuple[str, str]] = []
    for resource in resources:
        former = resource.get("delete") or resource.get("pendingReplacement")
        if resource["type"] == CLUSTER and not former:
            clusters[resource["urn"]] = resource["id"]
        if former and resource.get("deletedWith") and resource["type"].startswith("kubernetes:"):
            waiting.append((resource["deletedWith"], resource["urn"].rpartition("::")[2]))
    lost = {
        urn
        for urn in sorted({urn for urn, _ in waiting})
        if urn not in clusters or google.ask(f"{GET}.get", name=clusters[urn]) is None
    }
    names = [name for urn, name in waiting if urn in lost]
    if names:
        listed = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        message = f"an interrupted update left objects of a cluster that does not exist: {listed}"
        remedy = f"run: PULUMI_K8S_DELETE_UNREACHABLE=true pulumi up --stack {quote(stack)}"
        yield Finding("leftover", ("clusters",), message, remedy)


def _gcloud(command: str, place: Mapping[str, str]) -> str:
    return f"gcloud container {command} --location={place['location']} --project={place['project']} --quiet"


def at(cluster: str, keys: Mapping[str, str]) -> Path:
    """The path of a cluster in the description, or that of all clusters."""
    return ("clusters", keys[cluster]) if cluster in keys else ("clusters",)
