"""Diff: what an update would change of what the cluster has, property by property, and whether it can be in place."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, Final, Literal

from tpuplane_standins.providers.contract import Change, Difference, ProviderError
from tpuplane_standins.providers.kubernetes import kinds, metadata
from tpuplane_standins.providers.kubernetes.api import ConnectionFailed, StatusError
from tpuplane_standins.providers.kubernetes.awaiting.kstatus import condition
from tpuplane_standins.providers.kubernetes.cluster import Operation
from tpuplane_standins.providers.kubernetes.discovery import NoMatchError
from tpuplane_standins.providers.kubernetes.inputs import normalize, prune, same_quantity
from tpuplane_standins.providers.kubernetes.kinds import Kind
from tpuplane_standins.providers.kubernetes.values import (
    Checkpoint,
    Object,
    Path,
    PathError,
    parse_path,
    path_contains,
    render_path,
    to_kubernetes,
)
from tpuplane_standins.providers.values import UNKNOWN

_MISSING: Final = object()


def difference(operation: Operation) -> Difference:
    """Compare the live object, as far as the old inputs managed it, with the new inputs. Raises `ProviderError`."""
    cluster, request = operation.cluster, operation.request
    before, wanted = Checkpoint.parse(request.olds), normalize(to_kubernetes(request.news))
    old_inputs = normalize(before.inputs)
    live = prune(before.live, old_inputs)
    _canonical_namespaces(live, wanted, cluster.namespaced(Kind.of(wanted)) is not False)
    live.setdefault("apiVersion", wanted.get("apiVersion"))
    live.setdefault("kind", wanted.get("kind"))
    if isinstance(live.get("metadata"), dict):
        live["metadata"].pop("resourceVersion", None)
        if metadata.name(wanted):
            live["metadata"]["name"] = metadata.name(before.live)
    replacing: Sequence[Path] = kinds.IDENTITY
    if not kinds.is_patch(request.urn, wanted):
        replacing = kinds.replacing_fields(
            wanted,
            configmap_mutable=cluster.settings.enable_configmap_mutable,
            secret_mutable=cluster.settings.enable_secret_mutable,
        )
    changes = detailed(live, old_inputs, wanted, replacing, built_in=Kind.of(wanted).built_in)
    try:
        ignored_paths = [parse_path(text) for text in request.ignore]
    except PathError as error:
        raise ProviderError(f"ignoreChanges: {error}") from error
    changes = {
        text: change
        for text, change in changes.items()
        if not any(path_contains(path, parse_path(text)) for path in ignored_paths)
    }
    replaces = [text for text, change in changes.items() if change.replaces]
    if _unready(operation, before.live, wanted):
        replaces.append(f'metadata.annotations["{metadata.REPLACE_UNREADY}"]')
    same_place = (metadata.name(wanted), metadata.namespace(wanted)) == (
        metadata.name(before.live),
        metadata.namespace(before.live),
    )
    fixed_name = metadata.is_named(wanted) and not metadata.is_true(wanted, metadata.AUTONAMED)
    return Difference(changes, replaces, delete_before_replace=fixed_name and same_place)


def _canonical_namespaces(live: Object, wanted: Object, namespaced: bool) -> None:
    """No namespace means "default" for the one kind of objects, and a namespace means nothing for the other."""
    for obj in (live, wanted):
        holder = obj.get("metadata")
        if not isinstance(holder, dict):
            continue
        if namespaced:
            holder["namespace"] = holder.get("namespace") or "default"
        else:
            holder.pop("namespace", None)


def _unready(operation: Operation, live: Object, wanted: Object) -> bool:
    """Whether the program asks to replace a job that is not complete, and it is not."""
    cluster, log = operation.cluster, operation.log
    if not metadata.is_true(wanted, metadata.REPLACE_UNREADY):
        return False
    if cluster.unreachable:
        log.say("warning", "Cluster is unreachable, skipping replaceUnready check")
        return False
    if wanted.get("kind") != "Job":
        log.say("warning", "replaceUnready annotation is not supported for this resource")
        return False
    try:
        path = cluster.resource(live).path(metadata.namespace(live), metadata.name(live))
        job = cluster.api.request("GET", path)
    except (NoMatchError, StatusError, ConnectionFailed):
        return False
    return condition(job, "Complete").get("status") != "True"


def detailed(
    live: Object, old_inputs: Object, new_inputs: Object, replacing: Sequence[Path], *, built_in: bool
) -> dict[str, Change]:
    """The changes from `live` (pruned to the old inputs) to the new inputs, by property path.

    For a built-in kind, a value that the program left alone and that the server only writes another way is no change:
    a false or empty value that it leaves out, "1000m" that it keeps as "1".
    """
    comparison = _Comparison(replacing, built_in)
    comparison.objects((), live, old_inputs, new_inputs)
    return comparison.changes


class _Comparison:
    def __init__(self, replacing: Sequence[Path], built_in: bool) -> None:
        self.changes: dict[str, Change] = {}
        self._replacing = replacing
        self._built_in = built_in

    def objects(self, path: Path, live: Object, old: Any, new: Object) -> None:
        before = old if isinstance(old, dict) else {}
        for key in [*new, *(key for key in live if key not in new)]:
            self.values((*path, key), live.get(key, _MISSING), before.get(key, _MISSING), new.get(key, _MISSING))

    def values(self, path: Path, live: Any, old: Any, new: Any) -> None:
        if new is UNKNOWN:
            self._record(path, "add" if live is _MISSING else "update", new)
        elif new is _MISSING or new is None:
            if live is not _MISSING and live is not None:
                self._record(path, "delete", None)
        elif live is _MISSING:
            # The server leaves out what is false or empty.
            if new or not self._left_alone(old, new):
                self._record(path, "add", new)
        elif isinstance(live, dict) and isinstance(new, dict):
            self.objects(path, live, old, new)
        elif isinstance(live, list) and isinstance(new, list):
            self._lists(path, live, old, new)
        elif not _equal(live, new) and not (self._left_alone(old, new) and same_quantity(live, new)):
            self._record(path, "update", new)

    def _lists(self, path: Path, live: list[Any], old: Any, new: list[Any]) -> None:
        before = old if isinstance(old, list) else []
        for index, items in enumerate(zip_longest(live, before, new, fillvalue=_MISSING)):
            self.values((*path, index), *items)

    def _left_alone(self, old: Any, new: Any) -> bool:
        return self._built_in and old is not _MISSING and _equal(old, new)

    def _record(self, path: Path, action: Literal["add", "delete", "update"], value: Any) -> None:
        replaces = any(_touches(path, value, field) for field in self._replacing)
        self.changes[render_path(path)] = Change(action, replaces, of_input=action == "delete")


def _equal(left: Any, right: Any) -> bool:
    # In Python True == 1; in Kubernetes they are different types.
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def _touches(path: Path, value: Any, field: Path) -> bool:
    """Whether changing `path` to `value` changes `field`, which lies above, at or below it."""
    if path_contains(field, path):
        return True
    if len(field) <= len(path) or not path_contains(field[: len(path)], path):
        return False
    return _holds(value, field[len(path) :])


def _holds(value: Any, field: Path) -> bool:
    if not field:
        return True
    step, rest = field[0], field[1:]
    if step == "*":
        return isinstance(value, list) and any(_holds(item, rest) for item in value)
    return isinstance(value, dict) and step in value and _holds(value[step], rest)
