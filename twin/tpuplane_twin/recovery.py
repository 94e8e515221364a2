"""After an engine that was killed: its stale lock, and what it was creating at that moment.

The engine notes every creation before it starts. What it did not live to record may exist all the same, and the next
`up` would then fail with "already exists". So the noted resources are put into the stack under the ids they must have
(by `pulumi stack export` and `import`: of `refresh --import-pending-creates` nothing arrives in the state with Pulumi
3.230), and `pulumi refresh` reads those that exist and forgets the others.
"""

from __future__ import annotations

import json
import subprocess
import time
import urllib.parse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tpuplane_twin.client import TwinClient, TwinError
from tpuplane_twin.locks import live_holder, stack_locks

# Ids as Google's provider forms them from a resource's inputs (the "Import" section of each resource's page).
_IDS = {
    "gcp:compute/network:Network": "projects/{project}/global/networks/{name}",
    "gcp:compute/subnetwork:Subnetwork": "projects/{project}/regions/{region}/subnetworks/{name}",
    "gcp:compute/router:Router": "projects/{project}/regions/{region}/routers/{name}",
    "gcp:compute/routerNat:RouterNat": "{project}/{region}/{router}/{name}",
    "gcp:compute/resourcePolicy:ResourcePolicy": "projects/{project}/regions/{region}/resourcePolicies/{name}",
    "gcp:serviceaccount/account:Account": (
        "projects/{project}/serviceAccounts/{accountId}@{project}.iam.gserviceaccount.com"
    ),
    "gcp:projects/iAMMember:IAMMember": "{project}/{role}/{member}",
    "gcp:container/cluster:Cluster": "projects/{project}/locations/{location}/clusters/{name}",
    "gcp:container/nodePool:NodePool": "projects/{project}/locations/{location}/clusters/{cluster}/nodePools/{name}",
}
_SETTLE_SECONDS = 300.0


def recover(stack: str, project: Path, environment: Mapping[str, str], client: TwinClient) -> Iterator[str]:
    """Undo what a killed engine left behind; yields a line for each thing it did, none when there was nothing.

    Raises `TwinError` when another engine is at work on the stack.
    """
    if _stale_lock(stack, project, environment):
        _run(["pulumi", "cancel", "--yes", "--stack", stack], project, environment)
        yield f"stack {stack}: the lock of an interrupted run is removed"
    exported = json.loads(_run(["pulumi", "stack", "export", "--stack", stack], project, environment))
    deployment = exported["deployment"]
    resources = deployment.setdefault("resources", [])
    pending = deployment.pop("pending_operations", None) or []
    if pending:
        # Google's API goes on with what was asked of it; only then is it known what exists.
        _settle(client)
        known = {resource["urn"] for resource in resources}
        for resource in (operation["resource"] for operation in pending if operation["type"] == "creating"):
            identity = _identity(resource)
            if identity is None:
                yield f"stack {stack}: {_name(resource)} is forgotten; if it was made, delete it by hand"
            elif resource["urn"] not in known:
                resources.append({**resource, "id": identity})
        _run(["pulumi", "stack", "import", "--stack", stack], project, environment, json.dumps(exported))
        refresh = ["pulumi", "refresh", "--yes", "--skip-preview", "--stack", stack, "--non-interactive"]
        _run(refresh, project, environment)
        names = ", ".join(sorted(_name(operation["resource"]) for operation in pending))
        yield f"stack {stack}: an interrupted run was at work on {names}; what exists of it is taken over"
    for pool in _first_pools(resources, client):
        _settle(client)
        client.delete(pool)
        _settle(client)
        yield f"stack {stack}: {pool.removeprefix('/v1beta1/')}, which an interrupted run would have deleted, is gone"


def _first_pools(resources: list[dict[str, Any]], client: TwinClient) -> list[str]:
    """The pools that new clusters came with and that nobody deleted: the provider does it right after the creation."""
    unwanted = {
        resource.get("id")
        for resource in resources
        if resource["type"] == "gcp:container/cluster:Cluster" and resource["inputs"].get("removeDefaultNodePool")
    }
    return [
        f"/v1beta1/{identity}/nodePools/default-pool"
        for cluster in client.status()["clusters"]
        if (identity := f"projects/{cluster['project']}/locations/{cluster['location']}/clusters/{cluster['name']}")
        in unwanted
        and any(pool["name"] == "default-pool" for pool in cluster["nodePools"])
    ]


def _stale_lock(stack: str, project: Path, environment: Mapping[str, str]) -> bool:
    backend = environment.get("PULUMI_BACKEND_URL", "")
    if not backend.startswith("file://"):
        return False
    locks = stack_locks(Path(urllib.parse.unquote(backend.removeprefix("file://"))), stack)
    for holder in filter(None, map(live_holder, locks)):
        raise TwinError(
            f"another pulumi (process {holder}) is at work on the stack {stack!r}; "
            "wait for it to end, or end it, and run the command again"
        )
    return bool(locks)


def _name(resource: Mapping[str, Any]) -> str:
    return str(resource["urn"]).rsplit("::", 1)[-1]


def _identity(resource: Mapping[str, Any]) -> str | None:
    if resource["type"] in _IDS:
        try:
            return _IDS[resource["type"]].format_map(resource.get("inputs", {}))
        except KeyError:
            return None
    if resource["type"].startswith("kubernetes:"):
        metadata = resource.get("inputs", {}).get("metadata", {})
        if "name" in metadata:
            return "/".join(filter(None, [metadata.get("namespace"), metadata["name"]]))
    return None


def _settle(client: TwinClient) -> None:
    deadline = time.monotonic() + _SETTLE_SECONDS
    while client.status()["operations"]:
        if time.monotonic() > deadline:
            raise TwinError("Google's API of the twin still works on what an interrupted run asked for; see its status")
        time.sleep(0.3)


def _run(command: list[str], project: Path, environment: Mapping[str, str], given: str | None = None) -> str:
    result = subprocess.run(
        command, cwd=project, env=dict(environment), input=given, capture_output=True, text=True, check=False
    )
    if result.returncode:
        raise TwinError(f"`{' '.join(command[:3])}` failed: {result.stderr.strip() or result.stdout.strip()}")
    return result.stdout
