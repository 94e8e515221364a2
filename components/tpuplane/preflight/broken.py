"""Clusters and node pools of a stack that GKE reports as broken. Pulumi's providers do not read their status, so the
next `pulumi up` succeeds without a change."""

from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Any

from tpuplane.plan import ClusterPlan
from tpuplane.preflight.findings import Finding
from tpuplane.preflight.google import Google, reading
from tpuplane.preflight.leftovers import CLUSTER, GET, POOL, after_deletion, at, of_type

_HEALTHY = ("RUNNING", "PROVISIONING", "RECONCILING", "STOPPING")


def check_broken(
    state: Mapping[str, Any], planned: Mapping[str, ClusterPlan], google: Google, stack: str
) -> Iterator[Finding]:
    """A finding for each with its status, GKE's message and the command. `planned` has the clusters by their ID.

    Raises `Undecided` and `Unreachable` as `Google.ask` does.
    """
    urns = {found["id"]: found["urn"] for found in of_type(state, CLUSTER, POOL) if not found.get("delete")}
    for identity in sorted({identity.partition("/nodePools/")[0] for identity in urns}):
        if (cluster := google.ask(f"{GET}.get", name=identity)) is None:
            continue
        with reading():
            pools = {f"{identity}/nodePools/{pool['name']}": pool for pool in cluster.get("nodePools", ())}
        path = at(identity, planned)
        missing = urns.keys() - pools.keys() - {identity}
        for name in sorted(name for name in missing if name.startswith(f"{identity}/")):
            message = f"node pool {name.rpartition('/')[2]} is in the state of the stack, but does not exist"
            yield Finding("deleted", path, message, after_deletion(name, quote(stack)))
        for name, found in {identity: cluster, **pools}.items():
            if name in urns and found.get("status") not in _HEALTHY:
                yield _finding(name, found, urns[name], path, stack)


def _finding(identity: str, found: Mapping[str, Any], urn: str, path: tuple[str | int, ...], stack: str) -> Finding:
    kind = "node pool" if "/nodePools/" in identity else "cluster"
    name, states = identity.rpartition("/")[2], found.get("conditions", ())
    said = [*(state.get("message") for state in states), found.get("statusMessage")]
    said += [state.get("canonicalCode") or state.get("code") for state in states]
    message = f"{kind} {name} has the status {found.get('status', 'unknown')}"
    message += f": {' '.join(next(filter(None, said), 'without a message').split())}"
    replace = f"run: pulumi up --stack {quote(stack)} --replace {quote(urn)}"
    if kind == "node pool":
        replace = f"and no work runs on the pool (if it has nodes: tpuplane drain {quote(name)}), {replace}"
    if found.get("status") == "ERROR":
        remedy = f"`pulumi up` alone changes nothing. When the cause no longer exists, {replace}"
    elif kind == "node pool":
        remedy = f"GKE tries again. If the status stays, {replace}"
    else:  # its replacement would delete everything in it
        remedy = "GKE tries again. Remove the cause that its message names"
    return Finding("broken", path, message, remedy)
