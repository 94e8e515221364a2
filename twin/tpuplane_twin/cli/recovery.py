"""After an engine that was killed: its stale lock, and what it was creating at that moment.

The engine notes every creation before it starts. What it did not live to record may exist all the same, and the next
`up` would then fail with "already exists". So the noted resources are put into the stack under the ids they must have
(by `pulumi stack export` and `import`: of `refresh --import-pending-creates` nothing arrives in the state with Pulumi
3.230), and `pulumi refresh` reads those that exist and forgets the others. Until that refresh has ended well the stack
holds guesses: a file says so, and the next call begins with the refresh.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import time
import urllib.parse
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from tpuplane_twin.daemon.client import TwinClient, TwinError
from tpuplane_twin.engine.setup import live_holder, stack_locks

# Ids that Google's provider takes for an import, made of a resource's inputs (each resource's page, under "Import").
_IDS = {
    "gcp:compute/network:Network": "projects/{project}/global/networks/{name}",
    "gcp:compute/subnetwork:Subnetwork": "projects/{project}/regions/{region}/subnetworks/{name}",
    "gcp:compute/router:Router": "projects/{project}/regions/{region}/routers/{name}",
    "gcp:compute/routerNat:RouterNat": "{project}/{region}/{router}/{name}",
    "gcp:compute/resourcePolicy:ResourcePolicy": "projects/{project}/regions/{region}/resourcePolicies/{name}",
    "gcp:serviceaccount/account:Account": (
        "projects/{project}/serviceAccounts/{accountId}@{project}.iam.gserviceaccount.com"
    ),
    "gcp:projects/iAMMember:IAMMember": "{project} {role} {member}",
    "gcp:kms/keyRing:KeyRing": "projects/{project}/locations/{location}/keyRings/{name}",
    "gcp:kms/cryptoKey:CryptoKey": "{keyRing}/cryptoKeys/{name}",
    "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember": "{cryptoKeyId} {role} {member}",
    "gcp:logging/metric:Metric": "{project} {name}",
    "gcp:container/cluster:Cluster": "projects/{project}/locations/{location}/clusters/{name}",
    "gcp:container/nodePool:NodePool": "projects/{project}/locations/{location}/clusters/{cluster}/nodePools/{name}",
}
# Ids that Google makes: where such resources are listed, and under which field.
_LISTED = {
    "gcp:monitoring/dashboard:Dashboard": ("/monitoring/v1/projects/{project}/dashboards", "dashboards"),
    "gcp:monitoring/alertPolicy:AlertPolicy": ("/monitoring/v3/projects/{project}/alertPolicies", "alertPolicies"),
}
# Asked for again they are what they were, so that the next `up` may make them anew.
_REPEATABLE = ("gcp:projects/serviceIdentity:ServiceIdentity",)
# Inputs that are the provider's own and no part of what Google keeps.
_OURS = ("project", "deletionPolicy", "__defaults")

RECOVERED = frozenset((*_IDS, *_LISTED, *_REPEATABLE))
"""The types of Google's provider that are taken over, or made again, after a kill."""
_SETTLE_SECONDS = 300.0


def recover(stack: str, project: Path, environment: Mapping[str, str], client: TwinClient) -> Iterator[str]:
    """Undo what a killed engine left behind; yields a line for each thing it did, none when there was nothing.

    Raises `TwinError` when another engine is at work on the stack.
    """
    if _stale_lock(stack, project, environment):
        run(["pulumi", "cancel", "--yes", "--stack", stack], project, environment)
        yield f"stack {stack}: the lock of an interrupted run is removed"
    exported = json.loads(run(["pulumi", "stack", "export", "--stack", stack], project, environment))
    deployment = exported["deployment"]
    resources = deployment.setdefault("resources", [])
    pending = deployment.pop("pending_operations", None) or []
    guessed = client.paths.pulumi / f"guessed-{hashlib.sha256(f'{project} {stack}'.encode()).hexdigest()[:16]}"
    if pending:
        # Google's API goes on with what was asked of it; only then is it known what exists.
        _settle(client)
        known = {resource["urn"]: resource.get("id") for resource in resources}
        for resource in (operation["resource"] for operation in pending if operation["type"] == "creating"):
            if resource["urn"] in known or resource["type"] in _REPEATABLE:
                continue
            found = identity(resource, client, taken=known.values())
            if found is None:
                yield f"stack {stack}: {_name(resource)} is forgotten; if it was made, delete it by hand"
            elif found:
                resources.append({**resource, "id": found})
                known[resource["urn"]] = found
        guessed.touch()
        run(["pulumi", "stack", "import", "--stack", stack], project, environment, json.dumps(exported))
    if guessed.exists():
        _settle(client)
        refresh = ["pulumi", "refresh", "--yes", "--skip-preview", "--stack", stack, "--non-interactive"]
        run(refresh, project, environment)
        guessed.unlink()
        names = ", ".join(sorted(_name(operation["resource"]) for operation in pending)) or "its recovery"
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


def identity(resource: Mapping[str, Any], client: TwinClient, *, taken: Collection[str | None] = ()) -> str | None:
    """The id under which a noted resource can be imported if it was made; None where that cannot be told.

    Where Google makes the ids, it is the one resource that is as noted and has none of the ids `taken`, "" where there
    is none.
    """
    kind, inputs = resource["type"], resource.get("inputs", {})
    if kind in _IDS:
        try:
            return _IDS[kind].format_map(inputs)
        except KeyError:
            return None
    if kind in _LISTED and "project" in inputs:
        path, field = _LISTED[kind]
        listed = client.request("GET", path.format_map(inputs)).get(field, [])
        noted = {key: value for key, value in inputs.items() if key not in _OURS}
        wanted = json.loads(noted["dashboardJson"]) if "dashboardJson" in noted else noted
        found = {item["name"].rpartition("/")[2] for item in listed if _holds(item, wanted)}
        found -= {str(other).rpartition("/")[2] for other in taken}
        # Google answers with the project's number, where the program has its id.
        return None if len(found) > 1 else "".join(f"projects/{inputs['project']}/{field}/{name}" for name in found)
    if kind.startswith("kubernetes:"):
        metadata = inputs.get("metadata", {})
        if "name" in metadata:
            return "/".join(filter(None, [metadata.get("namespace"), metadata["name"]]))
    return None


def _holds(found: object, wanted: object) -> bool:
    """Whether everything that is wanted is there; more may be."""
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(
            _holds(found.get(key), value) for key, value in wanted.items() if key not in _OURS
        )
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(_holds, found, wanted))
    return found == wanted


def _settle(client: TwinClient) -> None:
    deadline = time.monotonic() + _SETTLE_SECONDS
    while client.status()["operations"]:
        if time.monotonic() > deadline:
            raise TwinError("Google's API of the twin still works on what an interrupted run asked for; see its status")
        time.sleep(0.3)


def run(command: list[str], project: Path, environment: Mapping[str, str], given: str | None = None) -> str:
    """What a command prints in the project's folder, with `given` as its input. Raises `TwinError` with its message."""
    result = subprocess.run(
        command, cwd=project, env=dict(environment), input=given, capture_output=True, text=True, check=False
    )
    if result.returncode:
        raise TwinError(f"`{' '.join(command[:3])}` failed: {result.stderr.strip() or result.stdout.strip()}")
    return result.stdout
