"""What `tpuplane import` prints and writes."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

from tpuplane.adopt.describe import Adopted
from tpuplane.adopt.resources import Change
from tpuplane.adopt.trial import Rehearsal
from tpuplane.init.first_stack import schema_line
from tpuplane.spec import CONFIG_KEY, PROJECT_KEY
from tpuplane.spec.core.errors import dotted


def import_as_text(result: Rehearsal) -> Iterator[str]:
    """What is adopted, what is not, and what differs."""
    yield "adopted"
    yield from (f"  {_named(identity)}: {dotted(place)}" for identity, place in result.adopted.places.items())
    if result.adopted.left:
        yield "\nnot adopted; it remains as it is"
        yield from (f"  {it}" for it in result.adopted.left)
    if result.adopted.warnings:
        yield "\nadopted as Google has it; the catalogues of tpuplane do not know it"
        yield from (f"  warning: {it}" for it in result.adopted.warnings)
    if result.kept:
        yield "\ndiffers from what tpuplane would create; kept as it is by adopted.ignoreChanges"
        yield from _listed(result.kept)
    if result.next:
        yield "\nthe next pulumi up after the import"
        yield from _listed(result.next)
    else:
        yield "\nthe preview after the import is empty"


def _listed(changes: Iterable[Change]) -> Iterator[str]:
    """The changes, each once with all resources that have it."""
    having: dict[str, list[str]] = {}
    for it in changes:
        having.setdefault(_line(it), []).append(_named(it.resource))
    having = {line: sorted(names) for line, names in sorted(having.items(), reverse=True)}
    for names, lines in groupby(sorted(having, key=having.__getitem__), key=having.__getitem__):
        yield f"  {', '.join(names)}"
        yield from (f"    {line}" for line in lines)


def _line(it: Change) -> str:
    if not it.path:
        return it.done
    step = f"{_shown(it.before)} → {_shown(it.after)}"
    if it.path.lower().endswith("labels"):  # their values differ from pool to pool
        old, new = it.before or {}, it.after or {}
        changed = {key for key in new.keys() & old.keys() if new[key] != old[key]}
        words = (("adds", new.keys() - old.keys()), ("removes", old.keys() - new.keys()), ("changes", changed))
        step = "; ".join(f"{verb} {', '.join(sorted(keys))}" for verb, keys in words if keys) or "by the provider"
    return f"{it.done:8}  {it.path}: {step}"


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
        "warnings": [str(it) for it in result.adopted.warnings],
        "notAdopted": [asdict(it) for it in result.adopted.left],
        "kept": [asdict(it) for it in result.kept],
        "next": [asdict(it) for it in result.next],
    }


def stack_text(adopted: Adopted, file: Path, comments: Iterable[str]) -> str:
    """The stack file; `comments` are its last lines."""
    platform = {field: it for field, it in adopted.config.items() if field != "project"}
    config = {PROJECT_KEY: adopted.config["project"], CONFIG_KEY: platform}
    left = "".join(f"# - {it}\n" for it in adopted.left)
    notes = f"# Not adopted:\n{left}" if left else ""
    body = yaml.safe_dump({"config": config}, sort_keys=False, width=120)
    return "\n".join([f"{schema_line(file)}\n{notes}{body}".rstrip(), *comments, ""])
