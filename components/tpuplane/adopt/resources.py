"""Previews of Pulumi as plain values: the import file of a program's resources, and what a preview would change."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tpuplane.adopt.facts import Json

_CLUSTER, _NODE_POOL = "gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool"
_STACK = "pulumi:pulumi:Stack"
_VERSION = re.compile(r"::default_(\d+)_(\d+)_(\d+)\w*::")


def import_file(steps: Iterable[Json], existing: Collection[str]) -> dict[str, Any]:
    """Pulumi's import file for those resources of a preview that exist, with the components above them.

    `existing`: IDs in Google Cloud.
    """
    states = {step["urn"]: step["newState"] for step in steps if step["op"] == "create"}
    ids = {urn: identity for urn, state in states.items() if (identity := _id(state)) in existing}
    wanted: set[str] = set()
    for urn in ids:
        above = urn
        while above in states and states[above]["type"] != _STACK:
            wanted.add(above)
            above = states[above].get("parent", "")
    names = Counter(_name(urn) for urn in wanted)
    labels = {urn: f"{_name(urn)}{'' if urn in ids or names[_name(urn)] == 1 else '-component'}" for urn in wanted}
    entries = [_entry(states[urn], labels, ids.get(urn)) for urn in states if urn in wanted]
    return {"nameTable": {}, "resources": entries}


def _entry(state: Json, labels: Mapping[str, str], identity: str | None) -> dict[str, Any]:
    urn = state["urn"]
    entry = {"type": state["type"], "name": labels[urn]}
    if labels[urn] != _name(urn):
        entry["logicalName"] = _name(urn)
    if state.get("parent") in labels:
        entry["parent"] = labels[state["parent"]]
    if identity is None:
        return {**entry, "component": True}
    version = _VERSION.search(state.get("provider", ""))
    return {**entry, "id": identity, **({"version": ".".join(version.groups())} if version else {})}


def _id(state: Json) -> str | None:
    """The ID in Google Cloud of a cluster or node pool that a program describes."""
    inputs = state.get("inputs", {})
    match state["type"]:
        case "gcp:container/cluster:Cluster":
            name = str(inputs["name"])
        case "gcp:container/nodePool:NodePool":
            name = f"{inputs['cluster']}/nodePools/{inputs['name']}"
        case _:
            return None
    return f"projects/{inputs['project']}/locations/{inputs['location']}/clusters/{name}"


def _name(urn: str) -> str:
    return urn.rpartition("::")[2]


def _type(urn: str) -> str:
    return urn.rpartition("::")[0].rpartition(":")[2]


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

    def keeps(self, places: Collection[str], *, converge: bool) -> bool:
        """Whether the property of an adopted resource stays as it is."""
        return bool(self.path) and self.resource in places and (not converge or self.done == "replaces")


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
        elif details := step.get("detailedDiff"):  # a replacement is several steps
            seen.add(step["urn"])
            replaces: dict[str, bool] = {}
            for path, detail in details.items():
                name = property_of(path)
                if name.split(".")[0] in {**old.get("inputs", {}), **new.get("inputs", {})}:
                    replaces[name] = replaces.get(name, False) or detail["kind"].endswith("replace")
            for name, replaced in replaces.items():
                if not any(name.startswith(f"{other}.") for other in replaces):
                    values = (_value(it.get("inputs", {}), name) for it in (old, new))
                    yield Change(resource, "replaces" if replaced else "in place", name, *values)


def property_of(path: str) -> str:
    """The property in a path of a detailed difference: without indices and keys, and at most two levels deep."""
    return ".".join(re.split(r"\[", path)[0].split(".")[:2])


def _value(inputs: Any, path: str) -> Any:
    for part in path.split("."):
        inputs = inputs.get(part) if isinstance(inputs, Mapping) else None
    return _plain(inputs)


def _plain(value: Any) -> Any:
    """The value without Pulumi's notes of defaults."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if not key.startswith("__")}
    return [_plain(item) for item in value] if isinstance(value, list) else value
