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
    """Pulumi's import file for those resources of a preview that exist, and for the components around them.

    `made` is what `pulumi preview --import-file` writes: all new resources of the program, without their IDs.
    `existing`: IDs in Google Cloud.
    """
    states = (step["newState"] for step in steps if step["op"] == "create")
    ids = {it["urn"].split("::", 2)[2]: _id(it) for it in states if it["type"] in _ADOPTED}
    named = {it["name"]: it for it in made["resources"]}

    def types(it: Json) -> str:
        """The types in the URN: those of the parents, and its own."""
        return f"{types(named[it['parent']])}${it['type']}" if it.get("parent") in named else str(it["type"])

    owns = ((it, ids.get(f"{types(it)}::{it.get('logicalName', it['name'])}")) for it in named.values())
    exist = ({**it, "id": own} if own else it for it, own in owns if it.get("component") or own in existing)
    return {**made, "resources": list(exist)}


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
    """What happens: in place, replaces, creates or deletes."""
    path: str = ""
    """The property, as in Pulumi's option `ignoreChanges`; empty if the resource is created or deleted."""
    before: Any = None
    after: Any = None


def changes(steps: Iterable[Json]) -> Iterator[Change]:
    """What a preview changes: each property once."""
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
            # The provider's own properties follow from inputs; they count where they alone differ.
            for path in [it for it in details if property_of(it).split(".")[0] in known] or details:
                name = property_of(path)
                replaces[name] = replaces.get(name, False) or details[path]["kind"].endswith("replace")
            if not replaces:
                yield Change(resource, f"{step['op']}s")
            for name, replaced in replaces.items():
                if not any(name.startswith(f"{other}.") for other in replaces):
                    before, after = (_plain(dig(it.get("inputs", {}), name)) for it in (old, new))
                    if name == "resourceLabels":  # an import reads none into it, and an update removes none
                        has = dig(old, "outputs.effectiveLabels", {})
                        before = {label: has[label] for label in after or {} if label in has}
                    yield Change(resource, "replaces" if replaced else "in place", name, before, after)


def property_of(path: str) -> str:
    """The property in a path of a detailed difference: without indices and keys, and at most two levels deep."""
    return ".".join(re.split(r"\[", path)[0].split(".")[:2])


def _plain(value: Any) -> Any:
    """The value without Pulumi's notes of defaults."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if not key.startswith("__")}
    return [_plain(item) for item in value] if isinstance(value, list) else value
