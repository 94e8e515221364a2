"""The output and the stack file of `tpuplane import`."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from tpuplane.adopt.describe import Adopted
from tpuplane.adopt.resources import Change
from tpuplane.adopt.trial import Rehearsal
from tpuplane.init.first_stack import schema_line
from tpuplane.spec import CONFIG_KEY, PROJECT_KEY
from tpuplane.spec.core.errors import dotted
from tpuplane.spec.core.yaml_writer import yaml_text


def import_as_text(result: Rehearsal) -> Iterator[str]:
    """Adopted objects, other objects, and differences."""
    yield "adopted"
    yield from (f"  {_named(identity)}: {dotted(place)}" for identity, place in result.adopted.places.items())
    if result.adopted.left:
        yield "\nnot adopted; stays as it is"
        yield from (f"  {other}" for other in result.adopted.left)
    if result.adopted.warnings:
        yield "\nadopted, but not in the catalogues of tpuplane"
        yield from (f"  warning: {warning}" for warning in result.adopted.warnings)
    if result.kept:
        yield "\ndiffers from the resources of tpuplane; stays as it is by adopted.ignoreChanges"
        yield from _listed(result.kept)
    if result.next:
        yield "\nchanges of the first pulumi up after the import"
        yield from _listed(result.next)
    else:
        yield "\nthe preview after the import is empty"


def _listed(changes: Iterable[Change]) -> Iterator[str]:
    """The changes, each once with all of its resources."""
    having: dict[str, list[str]] = {}
    for change in changes:
        having.setdefault(_line(change), []).append(_named(change.resource))
    having = {line: sorted(names) for line, names in sorted(having.items(), reverse=True)}
    for names, lines in groupby(sorted(having, key=having.__getitem__), key=having.__getitem__):
        yield f"  {', '.join(names)}"
        yield from (f"    {line}" for line in lines)


def _line(change: Change) -> str:
    if not change.path:
        return change.done
    step = f"{_shown(change.before)} → {_shown(change.after)}"
    if change.path.lower().endswith("labels"):  # each pool has other values
        old, new = change.before or {}, change.after or {}
        changed = {key for key in new.keys() & old.keys() if new[key] != old[key]}
        words = (("adds", new.keys() - old.keys()), ("removes", old.keys() - new.keys()), ("changes", changed))
        step = "; ".join(f"{verb} {', '.join(sorted(keys))}" for verb, keys in words if keys) or "by the provider"
    return f"{change.done:8}  {change.path}: {step}"


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    text = value if isinstance(value, str) else json.dumps(value).replace('"', "")
    return text.replace("https://www.googleapis.com/auth/", "")


def _named(identity: str) -> str:
    """A cluster or node pool by its ID in Google Cloud; other resources have no such ID."""
    match identity.split("/"):
        case ["projects", _, "locations", location, "clusters", cluster]:
            return f"cluster {cluster} in {location}"
        case ["projects", _, "locations", _, "clusters", cluster, "nodePools", pool]:
            return f"node pool {cluster}/{pool}"
    return identity


def import_as_json(result: Rehearsal) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "ok": True,
        "adopted": {identity: dotted(place) for identity, place in result.adopted.places.items()},
        "warnings": [str(warning) for warning in result.adopted.warnings],
        "notAdopted": [asdict(other) for other in result.adopted.left],
        "kept": [asdict(change) for change in result.kept],
        "next": [asdict(change) for change in result.next],
    }


def stack_text(adopted: Adopted, file: Path, comments: Iterable[str]) -> str:
    """The stack file; `comments` are its last lines."""
    platform = {field: value for field, value in adopted.config.items() if field != "project"}
    config = {PROJECT_KEY: adopted.config["project"], CONFIG_KEY: platform}
    left = "".join(f"# - {other}\n" for other in adopted.left)
    notes = f"# Not adopted:\n{left}" if left else ""
    body = yaml_text({"config": config}, width=120)
    return "\n".join([f"{schema_line(file)}\n{notes}{body}".rstrip(), *comments, ""])
