"""Recovery after an engine was killed: its stale lock, and the resources that it was creating.

The engine notes every creation before it starts it. A noted resource may exist without being recorded, and the next
`up` would fail with "already exists". So the noted resources are added to the stack with their expected ids (by `pulumi
stack export` and `import`, because `refresh --import-pending-creates` did not change the state in Pulumi 3.230). Then
`pulumi refresh` reads those that exist and removes the others. A file marks the stack until that refresh succeeds; the
next call repeats it.
"""

import hashlib
import json
import time
import urllib.parse
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from tpuplane.data_files import read_yaml

from tpuplane_twin.daemon.client import TwinClient, TwinError
from tpuplane_twin.machine.stack_locks import live_holder, stack_locks
from tpuplane_twin.shell.command import run

_TYPES: dict[str, Any] = read_yaml(Path(__file__).with_name("import_ids.yaml"))
# Inputs of the provider that are not part of Google's resources.
_OURS = ("project", "deletionPolicy", "__defaults")

_SETTLE_SECONDS = 300.0


def recover(stack: str, project: Path, environment: Mapping[str, str], client: TwinClient) -> Iterator[str]:
    """Recover from a killed engine; yields a line for each change.

    Raises `TwinError` while another engine runs on the stack.
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
        # The existing resources are known when the operations of Google's API have ended.
        _settle(client)
        # A resource that is pending replacement is already deleted.
        known = {each["urn"]: each.get("id") for each in resources if not each.get("pendingReplacement")}
        for resource in (operation["resource"] for operation in pending if operation["type"] == "creating"):
            if resource["urn"] in known or resource["type"] in _TYPES["repeatable"]:
                continue
            found = identity(resource, client, taken=known.values())
            if found is None:
                yield f"stack {stack}: the ID of {_name(resource)} is not known; if it exists, delete it by hand"
            elif found:
                # In the place of the former one, because its dependents follow.
                place = next((n for n, each in enumerate(resources) if each["urn"] == resource["urn"]), len(resources))
                resources[place : place + 1] = [{**resource, "id": found}]
                known[resource["urn"]] = found
        guessed.touch()
        run(["pulumi", "stack", "import", "--stack", stack], project, environment, json.dumps(exported))
    if guessed.exists():
        _settle(client)
        refresh = ["pulumi", "refresh", "--yes", "--skip-preview", "--stack", stack, "--non-interactive"]
        run(refresh, project, environment)
        guessed.unlink()
        made = sorted(_name(operation["resource"]) for operation in pending if operation["type"] == "creating")
        what = f"creating {', '.join(made)}" if made else "changing it"
        yield f"stack {stack}: an interrupted run was {what}; what exists is now in its state"
    for pool in _first_pools(resources, client):
        _settle(client)
        client.delete(pool)
        _settle(client)
        yield f"stack {stack}: {pool.removeprefix('/v1beta1/')}, left by an interrupted run, is deleted"


def broken_pools(stack: str, project: Path, environment: Mapping[str, str], client: TwinClient) -> list[str]:
    """The URNs of the stack's node pools that are in ERROR on the twin: only their replacement repairs them."""
    broken = {
        f"{cluster_id(cluster)}/nodePools/{pool['name']}"
        for cluster in client.status()["clusters"]
        for pool in cluster["nodePools"]
        if pool["status"] == "ERROR"
    }
    resources = resources_of(stack, project, environment)
    return [resource["urn"] for resource in resources if resource.get("id") in broken]


def waits_for_deletion(stack: str, project: Path, environment: Mapping[str, str]) -> bool:
    """Whether an engine was killed before it had deleted the objects of a replaced cluster, or created them again."""
    return any(
        (resource.get("delete") or resource.get("pendingReplacement")) and resource["type"].startswith("kubernetes:")
        for resource in resources_of(stack, project, environment)
    )


def resources_of(stack: str, project: Path, environment: Mapping[str, str]) -> list[dict[str, Any]]:
    """The resources in the state of a stack."""
    exported = json.loads(run(["pulumi", "stack", "export", "--stack", stack], project, environment))
    return (exported["deployment"] or {}).get("resources") or []


def cluster_id(cluster: Mapping[str, Any]) -> str:
    """The resource name of a cluster of the twin's status."""
    return f"projects/{cluster['project']}/locations/{cluster['location']}/clusters/{cluster['name']}"


def _first_pools(resources: list[dict[str, Any]], client: TwinClient) -> list[str]:
    """Default pools that the provider would have deleted right after the creation of their clusters."""
    unwanted = {
        resource.get("id")
        for resource in resources
        if resource["type"] == "gcp:container/cluster:Cluster" and resource["inputs"].get("removeDefaultNodePool")
    }
    return [
        f"/v1beta1/{cluster_id(cluster)}/nodePools/default-pool"
        for cluster in client.status()["clusters"]
        if cluster_id(cluster) in unwanted and any(pool["name"] == "default-pool" for pool in cluster["nodePools"])
    ]


def _stale_lock(stack: str, project: Path, environment: Mapping[str, str]) -> bool:
    backend = environment.get("PULUMI_BACKEND_URL", "")
    if not backend.startswith("file://"):
        return False
    locks = stack_locks(Path(urllib.parse.unquote(backend.removeprefix("file://").partition("?")[0])), stack)
    for holder in filter(None, map(live_holder, locks)):
        raise TwinError(
            f"another pulumi (process {holder}) runs on the stack {stack!r}; "
            "wait until it ends, or end it, and run the command again"
        )
    return bool(locks)


def _name(resource: Mapping[str, Any]) -> str:
    return str(resource["urn"]).rsplit("::", 1)[-1]


def identity(resource: Mapping[str, Any], client: TwinClient, *, taken: Collection[str | None] = ()) -> str | None:
    """The id with which a noted resource can be imported, if it exists; None if it is unknown.

    For generated ids it is that of the only resource that matches the inputs and is not among `taken`, or "".
    """
    kind, inputs = resource["type"], resource.get("inputs", {})
    if kind in _TYPES["ids"]:
        try:
            return str(_TYPES["ids"][kind].format_map(inputs))
        except KeyError:
            return None
    if kind in _TYPES["listed"] and "project" in inputs:
        path, field = _TYPES["listed"][kind]
        listed = client.request("GET", path.format_map(inputs)).get(field, [])
        noted = {key: value for key, value in inputs.items() if key not in _OURS}
        wanted = json.loads(noted["dashboardJson"]) if "dashboardJson" in noted else noted
        found = {item["name"].rpartition("/")[2] for item in listed if _holds(item, wanted)}
        found -= {str(other).rpartition("/")[2] for other in taken}
        # Google's names have the project's number, the program's have its id.
        return None if len(found) > 1 else "".join(f"projects/{inputs['project']}/{field}/{name}" for name in found)
    if kind.startswith("kubernetes:"):
        metadata = inputs.get("metadata", {})
        if "name" in metadata:
            return "/".join(filter(None, [metadata.get("namespace"), metadata["name"]]))
    return None


def _holds(found: object, wanted: object) -> bool:
    """Whether `found` contains everything that is `wanted`."""
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
            raise TwinError(
                "operations of an interrupted run are still running on the twin; see `tpuplane-twin status`. "
                "If one has a fault: `tpuplane-twin fault --clear`. Then run the command again"
            )
        time.sleep(0.3)
