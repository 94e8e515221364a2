"""Resources that an interrupted update left behind, found in Pulumi's state. No stack owns them, or they stop the next
update."""

from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Any

from tpuplane.plan import ClusterPlan
from tpuplane.preflight.findings import Finding
from tpuplane.preflight.google import Google, reading
from tpuplane.preflight.needs import delete_command
from tpuplane.spec.core.errors import Path

CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"
_DEFAULT_POOL = "default-pool"
GET = "container.v1.projects.locations.clusters"


def recorded(state: Mapping[str, Any]) -> set[str]:
    """The IDs of the resources of a stack. A resource that is pending replacement is already deleted."""
    resources = state.get("resources") or ()
    return {found["id"] for found in resources if found.get("id") and not found.get("pendingReplacement")}


def of_type(state: Mapping[str, Any], *types: str) -> list[dict[str, Any]]:
    """The resources of a stack that have one of the types, and an ID."""
    own = recorded(state)
    return [found for found in state.get("resources") or () if found["type"] in types and found.get("id") in own]


def check_leftovers(
    state: Mapping[str, Any], planned: Mapping[str, ClusterPlan], google: Google, stack: str
) -> Iterator[Finding]:
    """Findings with the steps of plain Pulumi. `state` is the deployment that `pulumi stack export` prints.

    `planned` has the clusters by their ID in Google's API. Raises `Undecided` and `Unreachable` as `Google.ask` does.
    """
    own = recorded(state)
    for found in of_type(state, CLUSTER):
        unwanted = bool(found.get("inputs", {}).get("removeDefaultNodePool"))
        yield from _pools(found["id"], own, planned, unwanted, google)
    yield from _waiting(state.get("resources") or [], google, stack)
    yield from _begun(state, stack)


def _begun(state: Mapping[str, Any], stack: str) -> Iterator[Finding]:
    """Creations whose end Pulumi did not record. They remain in the state, also when the resources are deleted."""
    pending = [each["resource"]["urn"] for each in state.get("pending_operations") or () if each["type"] == "creating"]
    if pending:
        names = _listed([urn.rpartition("::")[2] for urn in pending])
        message = f"an interrupted update did not record whether these resources were created: {names}"
        command = f"pulumi refresh --clear-pending-creates --yes --stack {quote(stack)}"
        yield Finding("leftover", ("clusters",), message, f"run: {command}")


def check_destroyed(
    state: Mapping[str, Any], planned: Mapping[str, ClusterPlan], google: Google, stack: str, ended_early: bool
) -> Iterator[Finding]:
    """A `pulumi destroy` that ended before it deleted the clusters. `ended_early`: the history of the stack has one.

    The history can lack one whose engine was killed. Such a one was deleting what the plan still has.
    """
    own = recorded(state) & planned.keys()
    pools = {f"{cluster}/nodePools/{pool.name}" for cluster in own for pool in planned[cluster].node_pools}
    begun = [each["resource"] for each in state.get("pending_operations") or () if each["type"] == "deleting"]
    deleting = {each.get("id") for each in begun if not each.get("delete") and not each.get("pendingReplacement")}
    if not ended_early and not deleting & (own | pools):
        return
    if clusters := [cluster for cluster in sorted(own) if google.ask(f"{GET}.get", name=cluster) is not None]:
        names = _listed([cluster.rpartition("/")[2] for cluster in clusters])
        message = f"a `pulumi destroy` ended early, and the state can lack objects in these clusters: {names}"
        variables = "PULUMI_K8S_ENABLE_PATCH_FORCE=true PULUMI_K8S_UPSERT_EXISTING_OBJECTS=true"
        remedy = f"to delete the platform, repeat it; to keep it, run: {variables} pulumi up --stack {quote(stack)}"
        yield Finding("leftover", ("clusters",), message, remedy)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _pools(
    cluster: str, own: set[str], planned: Mapping[str, ClusterPlan], unwanted: bool, google: Google
) -> Iterator[Finding]:
    """Node pools of a cluster that its stack does not have, but an update of it has created."""
    answer, name = google.ask(f"{GET}.get", name=cluster) or {}, cluster.rpartition("/")[2]
    with reading():
        pools = [pool["name"] for pool in answer.get("nodePools", ())]
    wanted = {pool.name for pool in planned[cluster].node_pools} if cluster in planned else ()
    for pool in pools:
        identity, what = f"{cluster}/nodePools/{pool}", f"node pool {pool} of cluster {name}"
        if identity in own:
            continue
        remedy = f"run: {delete_command(identity)}"
        if pool == _DEFAULT_POOL and unwanted:
            message = f"{what} runs and costs money, but belongs to no stack"
            yield Finding("leftover", at(cluster, planned), message, remedy)
        elif pool in wanted:
            yield Finding("leftover", at(cluster, planned), unrecorded(what), remedy)


def unrecorded(what: str) -> str:
    """The message about an existing object that the state of the stack lacks."""
    return f"{what} exists, but an interrupted update did not record it, so the next update fails with 409"


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
    if names := [name for urn, name in waiting if urn in lost]:
        message = f"an interrupted update left objects of a cluster that does not exist: {_listed(names)}"
        remedy = f"run: PULUMI_K8S_DELETE_UNREACHABLE=true pulumi up --stack {quote(stack)}"
        yield Finding("leftover", ("clusters",), message, remedy)


def at(cluster: str, planned: Mapping[str, ClusterPlan]) -> Path:
    """The path of a cluster in the description, or that of all clusters."""
    return ("clusters", planned[cluster].key) if cluster in planned else ("clusters",)


def after_deletion(id: str, stack: str = "STACK") -> str:
    """The remedy if an object of a stack was deleted outside of Pulumi. `id` is its ID in the state."""
    # Only with this variable, the provider removes the objects of a missing cluster from the state.
    variable = "PULUMI_K8S_DELETE_UNREACHABLE=true " if "/clusters/" in id and "/nodePools/" not in id else ""
    see = '; see "Recover from a deleted cluster" in docs/errors.md' if variable else ""
    return f"run: {variable}pulumi refresh --stack {stack}, then: pulumi up --stack {stack}{see}"
