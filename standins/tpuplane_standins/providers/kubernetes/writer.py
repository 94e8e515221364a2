"""The requests that create, apply and delete one object, as the official provider sends them."""

import copy
from collections.abc import Sequence
from typing import Any, Final

from tpuplane_standins.providers.contract import ProviderError
from tpuplane_standins.providers.kubernetes import kinds, metadata
from tpuplane_standins.providers.kubernetes.api import StatusError
from tpuplane_standins.providers.kubernetes.cluster import Operation
from tpuplane_standins.providers.kubernetes.discovery import Resource
from tpuplane_standins.providers.kubernetes.values import Object, Path, parse_path

_APPLY: Final = "application/apply-patch+yaml"  # JSON is YAML
_JSON_PATCH: Final = "application/json-patch+json"
_TAKE_OVER_ATTEMPTS: Final = 5
_CONFLICT_HELP: Final = (
    "server-side apply field conflict detected, see https://www.pulumi.com/registry/packages/kubernetes/"
    "how-to-guides/managing-resources-with-server-side-apply/#handle-field-conflicts-on-existing-resources "
    "for troubleshooting help\n"
)

_CLIENT_SIDE: Final = "pulumi-kubernetes"
"""The manager of fields written when an object is created; the first apply takes them over."""

# Managers whose fields an apply takes over: `kubectl apply`, and this provider without server-side apply.
_TAKEN_OVER: Final = (
    ("kubectl", "Apply"),
    ("kubectl", "Update"),
    ("before-first-apply", "Update"),
    (_CLIENT_SIDE, "Update"),
    ("pulumi-resource-kubernetes", "Update"),
)


class ApplyConflict(Exception):
    """Another field manager owns a field that was to be applied."""

    def __init__(self, manager: str, error: StatusError) -> None:
        super().__init__(
            f'{_CONFLICT_HELP}The resource managed by field manager "{manager}" had an apply conflict: {error.message}'
        )


class Writer:
    """Writes one object, and shows what the server remarks on. In a preview the server keeps nothing."""

    def __init__(self, operation: Operation, resource: Resource, manager: str) -> None:
        self._operation = operation
        self._resource = resource
        self._manager = manager
        self._preview = operation.request.preview

    def create(self, obj: Object) -> Object:
        """Create the object. Raises `StatusError`, also when it exists already."""
        return self._send("POST", self._path(obj, ""), obj, fieldManager=_CLIENT_SIDE)

    def apply(self, obj: Object, live: Object | None) -> Object:
        """Apply the object, whether it exists (then `live` is what is known of it) or not.

        Raises `ApplyConflict` where another manager owns a field and nothing forces the change; `StatusError`.
        """
        force = self._operation.cluster.settings.enable_patch_force or metadata.is_true(obj, metadata.PATCH_FORCE)
        if self._preview:
            # A preview of a replacement meets the old object; a preview changes no managers, as the update will.
            force = force or live is None or _written_by_create(live)
        if live is not None and not _managers(live):
            force = True
        try:
            return self._send(
                "PATCH",
                self._path(obj, metadata.name(live or obj)),
                obj,
                content_type=_APPLY,
                fieldManager=self._manager,
                force=str(force).lower(),
            )
        except StatusError as error:
            if error.conflict:
                raise ApplyConflict(self._manager, error) from error
            raise

    def update(self, obj: Object, live: Object, ignored: Sequence[str], *, patch: bool) -> Object:
        """Change the live object to `obj`; fields in `ignored` keep their values.

        A CRD is replaced as a whole; all else is applied, after taking over from the manager that created it.
        Raises `ApplyConflict`, `StatusError`, `ProviderError`.
        """
        if kinds.is_crd(obj):
            body = copy.deepcopy(obj)
            body["metadata"]["resourceVersion"] = metadata.metadata(live).get("resourceVersion")
            return self._send("PUT", self._path(obj, metadata.name(obj)), body, fieldManager=self._manager)
        if not patch and not self._preview:
            live = self._take_over(live)
        return self.apply(_without_ignored(obj, live, ignored, self._manager), live)

    def relinquish(self, obj: Object) -> None:
        """Give up every field that this manager applied; the object itself stays. Raises `StatusError`."""
        identity = {key: obj[key] for key in ("apiVersion", "kind")}
        name: Object = {"name": metadata.name(obj)}
        if metadata.namespace(obj):
            name["namespace"] = metadata.namespace(obj)
        self._send(
            "PATCH",
            self._path(obj, metadata.name(obj)),
            {**identity, "metadata": name},
            content_type=_APPLY,
            fieldManager=self._manager,
        )

    def _take_over(self, live: Object) -> Object:
        path = self._path(live, metadata.name(live))
        for attempt in range(_TAKE_OVER_ATTEMPTS):
            managers = _taken_over(live, self._manager)
            if managers is None:
                return live
            # With the version the server rejects the change if a controller wrote meanwhile: its fields must remain.
            version = metadata.metadata(live).get("resourceVersion")
            patch = [
                {"op": "replace", "path": "/metadata/managedFields", "value": managers},
                {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
            ]
            try:
                return self._send("PATCH", path, patch, content_type=_JSON_PATCH)
            except StatusError as error:
                if not error.conflict or attempt == _TAKE_OVER_ATTEMPTS - 1:
                    raise
                live = self._operation.cluster.api.request("GET", path)
        return live

    def _path(self, obj: Object, name: str) -> str:
        return self._resource.path(metadata.namespace(obj), name)

    def _send(self, method: str, path: str, body: Any, content_type: str = "application/json", **query: str) -> Object:
        if self._preview:
            query["dryRun"] = "All"
        warnings: list[str] = []
        api, settings = self._operation.cluster.api, self._operation.cluster.settings
        answer = api.request(method, path, body=body, content_type=content_type, warnings=warnings, **query)
        for warning in warnings:
            # Unknown fields that it dropped, deprecated versions.
            if not (settings.suppress_deprecation_warnings and "deprecated" in warning):
                self._operation.log.say("warning", warning)
        return answer


def _without_ignored(obj: Object, live: Object, ignored: Sequence[str], manager: str) -> Object:
    """`obj` with each ignored field as it is now, or left out where only others own it."""
    if not ignored:
        return obj
    result = copy.deepcopy(obj)
    for text in ignored:
        path = parse_path(text)
        if _owned_by_others(live, path, manager):
            _remove(result, path)
            continue
        try:
            current = _get(live, path)
        except KeyError:
            continue
        _set(result, path, current, text)
    return result


def _get(obj: Any, path: Path) -> Any:
    for step in path:
        in_list = isinstance(obj, list) and isinstance(step, int) and step < len(obj)
        if not in_list and not (isinstance(obj, dict) and step in obj):
            raise KeyError(step)
        obj = obj[step]
    return obj


def _remove(obj: Any, path: Path) -> None:
    try:
        holder = _get(obj, path[:-1])
    except KeyError:
        return
    if isinstance(holder, dict):
        holder.pop(path[-1], None)


def _set(obj: Any, path: Path, value: Any, text: str) -> None:
    for step in path[:-1]:
        if isinstance(obj, dict):
            obj = obj.setdefault(step, {})
        elif isinstance(obj, list) and isinstance(step, int) and step < len(obj):
            obj = obj[step]
        else:
            raise ProviderError(f'unable to set field "{text}" with last used value: {step} does not exist')
    obj[path[-1]] = copy.deepcopy(value)


# Server-side apply's record of the owner of each field of an object (`metadata.managedFields`).


def _managers(obj: Object) -> list[Object]:
    """The object's managers with their fields."""
    return list(metadata.metadata(obj).get("managedFields") or ())


def _taken_over(obj: Object, manager: str) -> list[Object] | None:
    """The managers after `manager` took over; None where there is nothing to take over."""
    ours = next(
        (entry for entry in _managers(obj) if entry.get("manager") == manager and entry["operation"] == "Apply"), None
    )
    kept, changed = [], False
    for entry in _managers(obj):
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


def _written_by_create(obj: Object) -> bool:
    """Whether fields still belong to the manager that created the object."""
    names = (_CLIENT_SIDE, "pulumi-resource-kubernetes")
    return any(entry.get("operation") == "Update" and entry.get("manager") in names for entry in _managers(obj))


def _owned_by_others(obj: Object, path: Path, manager: str) -> bool:
    """Whether other managers alone own the field or something below it."""
    owners = set()
    for entry in _managers(obj):
        fields: Object | None = entry.get("fieldsV1") or {}
        for step in path:
            fields = fields.get(f"f:{step}") if fields is not None else None
        if fields is not None:
            owners.add(entry.get("manager"))
    return bool(owners) and manager not in owners
