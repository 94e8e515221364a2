"""Diff: what the program wants, against what the cluster has."""

from __future__ import annotations

from collections.abc import Sequence

from tpuplane_twin.providers.contract import Difference, ProviderError
from tpuplane_twin.providers.kubernetes import diff, kinds, metadata, paths
from tpuplane_twin.providers.kubernetes.api import ConnectionFailed, StatusError
from tpuplane_twin.providers.kubernetes.awaiting.kstatus import condition
from tpuplane_twin.providers.kubernetes.checkpoint import Checkpoint
from tpuplane_twin.providers.kubernetes.cluster import Operation
from tpuplane_twin.providers.kubernetes.discovery import NoMatchError
from tpuplane_twin.providers.kubernetes.inputs import normalize, prune
from tpuplane_twin.providers.kubernetes.kinds import Kind
from tpuplane_twin.providers.kubernetes.values import Object, to_kubernetes


def compare(operation: Operation, olds: Object, news: Object, ignored: Sequence[str]) -> Difference:
    """Compare the live object, as far as the old inputs managed it, with the new inputs. Raises `ProviderError`."""
    cluster, urn = operation.cluster, operation.urn
    before, wanted = Checkpoint.parse(olds), normalize(to_kubernetes(news))
    old_inputs = normalize(before.inputs)
    live = prune(before.live, old_inputs)
    _canonical_namespaces(live, wanted, cluster.namespaced(Kind.of(wanted)))
    live.setdefault("apiVersion", wanted.get("apiVersion"))
    live.setdefault("kind", wanted.get("kind"))
    if isinstance(live.get("metadata"), dict):
        live["metadata"].pop("resourceVersion", None)
        if metadata.name(wanted):
            live["metadata"]["name"] = metadata.name(before.live)
    replacing: Sequence[paths.Path] = kinds.IDENTITY
    if not kinds.is_patch(urn, wanted):
        replacing = kinds.replacing_fields(
            wanted,
            configmap_mutable=cluster.settings.enable_configmap_mutable,
            secret_mutable=cluster.settings.enable_secret_mutable,
        )
    changes = diff.detailed(live, old_inputs, wanted, replacing, built_in=Kind.of(wanted).built_in)
    try:
        ignored_paths = [paths.parse(text) for text in ignored]
    except paths.PathError as error:
        raise ProviderError(f"ignoreChanges: {error}") from error
    changes = {
        text: change
        for text, change in changes.items()
        if not any(paths.contains(path, paths.parse(text)) for path in ignored_paths)
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
