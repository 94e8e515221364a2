"""The requests that create, apply and delete one object, as the official provider sends them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Final

from tpuplane_twin.providers.contract import ProviderError
from tpuplane_twin.providers.kubernetes import fieldmanagers, kinds, metadata, paths
from tpuplane_twin.providers.kubernetes.api import ApiServer, StatusError
from tpuplane_twin.providers.kubernetes.discovery import Resource
from tpuplane_twin.providers.kubernetes.values import Object

_APPLY: Final = "application/apply-patch+yaml"  # JSON is YAML
_JSON_PATCH: Final = "application/json-patch+json"
_TAKE_OVER_ATTEMPTS: Final = 5
_CONFLICT_HELP: Final = (
    "server-side apply field conflict detected, see https://www.pulumi.com/registry/packages/kubernetes/"
    "how-to-guides/managing-resources-with-server-side-apply/#handle-field-conflicts-on-existing-resources "
    "for troubleshooting help\n"
)


class ApplyConflict(Exception):
    """Another field manager owns a field that was to be applied."""

    def __init__(self, manager: str, error: StatusError) -> None:
        super().__init__(
            f'{_CONFLICT_HELP}The resource managed by field manager "{manager}" had an apply conflict: {error.message}'
        )


class Writer:
    """Writes one object. With `preview` the server computes the result and keeps nothing."""

    def __init__(
        self, api: ApiServer, resource: Resource, manager: str, *, preview: bool = False, force: bool = False
    ) -> None:
        self._api = api
        self._resource = resource
        self._manager = manager
        self._preview = preview
        self._force = force
        self.warnings: list[str] = []

    def create(self, obj: Object) -> Object:
        """Create the object. Raises `StatusError`, also when it exists already."""
        return self._send("POST", self._path(obj, ""), obj, fieldManager=fieldmanagers.CLIENT_SIDE)

    def apply(self, obj: Object, live: Object | None) -> Object:
        """Apply the object, whether it exists (then `live` is what is known of it) or not.

        Raises `ApplyConflict` where another manager owns a field and nothing forces the change; `StatusError`.
        """
        force = self._force or metadata.is_true(obj, metadata.PATCH_FORCE)
        if self._preview:
            # A preview of a replacement meets the old object; a preview changes no managers, as the update will.
            force = force or live is None or fieldmanagers.written_by_create(live)
        if live is not None and not fieldmanagers.entries(live):
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
            managers = fieldmanagers.taken_over(live, self._manager)
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
                live = self._api.request("GET", path)
        return live

    def _path(self, obj: Object, name: str) -> str:
        return self._resource.path(metadata.namespace(obj), name)

    def _send(self, method: str, path: str, body: Any, content_type: str = "application/json", **query: str) -> Object:
        if self._preview:
            query["dryRun"] = "All"
        return self._api.request(method, path, body=body, content_type=content_type, warnings=self.warnings, **query)


def _without_ignored(obj: Object, live: Object, ignored: Sequence[str], manager: str) -> Object:
    """`obj` with each ignored field as it is now, or left out where only others own it."""
    if not ignored:
        return obj
    result = copy.deepcopy(obj)
    for text in ignored:
        path = paths.parse(text)
        ours, theirs = fieldmanagers.owned(live, path, manager)
        if theirs and not ours:
            _remove(result, path)
            continue
        try:
            current = _get(live, path)
        except KeyError:
            continue
        _set(result, path, current, text)
    return result


def _get(obj: Any, path: paths.Path) -> Any:
    for step in path:
        in_list = isinstance(obj, list) and isinstance(step, int) and step < len(obj)
        if not in_list and not (isinstance(obj, dict) and step in obj):
            raise KeyError(step)
        obj = obj[step]
    return obj


def _remove(obj: Any, path: paths.Path) -> None:
    try:
        holder = _get(obj, path[:-1])
    except KeyError:
        return
    if isinstance(holder, dict):
        holder.pop(path[-1], None)


def _set(obj: Any, path: paths.Path, value: Any, text: str) -> None:
    for step in path[:-1]:
        if isinstance(obj, dict):
            obj = obj.setdefault(step, {})
        elif isinstance(obj, list) and isinstance(step, int) and step < len(obj):
            obj = obj[step]
        else:
            raise ProviderError(f'unable to set field "{text}" with last used value: {step} is not there')
    obj[path[-1]] = copy.deepcopy(value)
