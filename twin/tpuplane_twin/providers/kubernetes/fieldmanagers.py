"""Server-side apply's record of the owner of each field of an object (`metadata.managedFields`)."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, Final

from tpuplane_twin.providers.kubernetes.metadata import metadata
from tpuplane_twin.providers.kubernetes.values import Object

CLIENT_SIDE: Final = "pulumi-kubernetes"
"""The manager of fields written when an object is created; the first apply takes them over."""

# Managers whose fields an apply takes over: `kubectl apply`, and this provider without server-side apply.
_TAKEN_OVER: Final = (
    ("kubectl", "Apply"),
    ("kubectl", "Update"),
    ("before-first-apply", "Update"),
    (CLIENT_SIDE, "Update"),
    ("pulumi-resource-kubernetes", "Update"),
)


def entries(obj: Object) -> list[Object]:
    """The object's managers with their fields."""
    return list(metadata(obj).get("managedFields") or ())


def taken_over(obj: Object, manager: str) -> list[Object] | None:
    """The managers after `manager` took over; None where there is nothing to take over."""
    ours = next(
        (entry for entry in entries(obj) if entry.get("manager") == manager and entry["operation"] == "Apply"), None
    )
    kept, changed = [], False
    for entry in entries(obj):
        if entry is ours:
            continue
        if not _is_taken_over(entry):
            kept.append(entry)
            continue
        changed = True
        if ours is None:
            ours = {**entry, "manager": manager, "operation": "Apply"}
        else:
            ours = {**ours, "fieldsV1": _union(ours.get("fieldsV1") or {}, entry.get("fieldsV1") or {})}
    return [*kept, ours] if changed and ours is not None else None


def _is_taken_over(entry: Object) -> bool:
    return not entry.get("subresource") and any(
        str(entry.get("manager")).startswith(name) and entry.get("operation") == operation
        for name, operation in _TAKEN_OVER
    )


def _union(left: Object, right: Object) -> Object:
    merged = copy.deepcopy(left)
    for key, fields in right.items():
        merged[key] = _union(merged[key], fields) if key in merged else copy.deepcopy(fields)
    return merged


def written_by_create(obj: Object) -> bool:
    """Whether fields still belong to the manager that created the object."""
    names = (CLIENT_SIDE, "pulumi-resource-kubernetes")
    return any(entry.get("operation") == "Update" and entry.get("manager") in names for entry in entries(obj))


def owned(obj: Object, path: Iterable[Any], manager: str) -> tuple[bool, bool]:
    """Whether `manager` owns the field or something below it, and whether any other manager does."""
    steps = tuple(path)
    ours = theirs = False
    for entry in entries(obj):
        if _has(entry.get("fieldsV1") or {}, steps):
            ours |= entry.get("manager") == manager
            theirs |= entry.get("manager") != manager
    return ours, theirs


def _has(fields: Object, steps: tuple[Any, ...]) -> bool:
    for step in steps:
        if f"f:{step}" not in fields:
            return False
        fields = fields[f"f:{step}"]
    return True
