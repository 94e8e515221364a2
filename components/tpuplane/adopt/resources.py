"""Previews of Pulumi as plain values: the import file of a program's resources, and what a preview would change."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tpuplane.adopt.facts import Json, dig

_CLUSTER, _NODE_POOL = "gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool"
_ADOPTED = (_CLUSTER, _NODE_POOL)
_STACK = "pulumi:pulumi:Stack"


def import_file(made: Json, steps: Iterable[Json], existing: Collection[str]) -> dict[str, Any]:
    """Pulumi's import file with those resources of a preview that exist, and with their parent components.

    `made` is the file of `pulumi preview --import-file`: all new resources of the program, without their IDs.
    `existing` has the IDs in Google Cloud.
    """
    states = (step["newState"] for step in steps if step["op"] == "create")
    ids = {state["urn"].split("::", 2)[2]: _id(state) for state in states if state["type"] in _ADOPTED}
    named = {resource["name"]: resource for resource in made["resources"]}

    def types(resource: Json) -> str:
        """The types in the URN: those of the parents, and its own."""
        parent = named.get(resource.get("parent", ""))
        return f"{types(parent)}${resource['type']}" if parent else str(resource["type"])

    known = []
    for name, resource in named.items():
        own = ids.get(f"{types(resource)}::{resource.get('logicalName', name)}")
        if resource.get("component") or own in existing:
            known.append({**resource, "id": own} if own else resource)
    return {**made, "resources": known}


def _id(state: Json) -> str:
    """The ID in Google Cloud of a cluster or node pool that a program describes."""
    inputs = state["inputs"]
    name = inputs["name"] if state["type"] == _CLUSTER else f"{inputs['cluster']}/nodePools/{inputs['name']}"
    return f"projects/{inputs['project']}/locations/{inputs['location']}/clusters/{name}"


@dataclass(frozen=True, slots=True)
class Change:
    """One property that a preview changes, or a resource that it creates or deletes."""

    resource: str
    """Its ID in Google Cloud, or its type and name in Pulumi."""
    done: str
    """`in place`, `replaces`, `creates` or `deletes`."""
    path: str = ""
    """The property, as in Pulumi's option `ignoreChanges`; empty if the resource is created or deleted."""
    before: Any = None
    after: Any = None


def changes(steps: Iterable[Json]) -> Iterator[Change]:
    """The changes of a preview: each property once."""
    seen: set[str] = set()
    for step in steps:
        old, new = step.get("oldState") or {}, step.get("newState") or {}
        if step["op"] in ("same", "refresh", "read") or step["urn"] in seen or (old or new).get("type") == _STACK:
            continue
        resource = old.get("id") or f"{step['urn'].split('$')[-1].replace('::', ' ')}"
        if step["op"] in ("create", "delete"):
            yield Change(resource, f"{step['op']}s")
        elif (details := step.get("detailedDiff") or {}) or step["op"] == "update":  # a replacement is several steps
            seen.add(step["urn"])
            replaces: dict[str, bool] = {}
            known = {**old.get("inputs", {}), **new.get("inputs", {})}
            # Limits of all zones together and limits of each zone exclude each other, so they stay or change as one.
            totals = any(path.startswith("autoscaling.total") for path in details)
            # The provider computes the other properties from the inputs, so they count only if no input differs.
            for path in [path for path in details if property_of(path).split(".")[0] in known] or details:
                name = "autoscaling" if totals and path.startswith("autoscaling.") else property_of(path)
                replaces[name] = replaces.get(name, False) or details[path]["kind"].endswith("replace")
            if not replaces:
                yield Change(resource, f"{step['op']}s")
            for name, replaced in replaces.items():
                if not any(name.startswith(f"{other}.") for other in replaces):
                    before, after = (_plain(dig(state.get("inputs", {}), name)) for state in (old, new))
                    if name == "resourceLabels":  # an import leaves it empty, and an update removes no label
                        has = dig(old, "outputs.effectiveLabels", {})
                        before = {label: has[label] for label in after or {} if label in has}
                    elif name == "nodeConfig.resourceLabels":  # the provider keeps GKE's own, and no others
                        own = (before or {}).items()
                        before = {label: text for label, text in own if not label.startswith("goog-gke")}
                        if before == (after or {}):
                            continue
                    yield Change(resource, "replaces" if replaced else "in place", name, before, after)


def property_of(path: str) -> str:
    """The property in a path of a detailed diff: without indices and keys, and at most two levels deep."""
    return ".".join(re.split(r"\[", path)[0].split(".")[:2])


def _plain(value: Any) -> Any:
    """The value without Pulumi's internal keys, such as `__defaults`."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if not key.startswith("__")}
    return [_plain(item) for item in value] if isinstance(value, list) else value
