"""Create: make the object, and wait until it is ready."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tpuplane_twin.providers.contract import InitFailed, ProviderError
from tpuplane_twin.providers.kubernetes import checkpoint, kinds, metadata
from tpuplane_twin.providers.kubernetes.api import ConnectionFailed, StatusError
from tpuplane_twin.providers.kubernetes.awaiting import table
from tpuplane_twin.providers.kubernetes.awaiting.kstatus import NotReady
from tpuplane_twin.providers.kubernetes.awaiting.waitfor import WaitForError
from tpuplane_twin.providers.kubernetes.cluster import Operation
from tpuplane_twin.providers.kubernetes.discovery import NoMatchError
from tpuplane_twin.providers.kubernetes.kinds import Kind
from tpuplane_twin.providers.kubernetes.values import Object, to_kubernetes
from tpuplane_twin.providers.kubernetes.write import ApplyConflict, Writer
from tpuplane_twin.providers.values import has_unknown

RETRY_WAITS: Final = (0.25, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 31.0)
"""Seconds between attempts while the namespace or the kind is missing: it may be on its way. A minute in all, as the
official provider; the first attempts come sooner."""

_EXISTS: Final = """

The resource already exists in the cluster. This can happen when:

  - Renaming a Pulumi resource: use an alias to preserve the identity,
    or use deleteBeforeReplace if the resource needs replacement.
  - Managing an existing resource: use a Patch resource (e.g. NamespacePatch)
    to manage specific fields without owning the resource lifecycle.
  - Adopting a resource into Pulumi: use `pulumi import`. Note that
    protected resources (e.g. kube-system) cannot be deleted on destroy.
  - Intentional upsert: set upsertExistingObjects on the provider to allow
    server-side apply to update existing objects on create."""


def field_manager(obj: Object, stored: str | None = None) -> str:
    """The field manager: of the object's annotation, else of its state, else a new name."""
    annotated = metadata.annotation(obj, metadata.PATCH_FIELD_MANAGER)
    return annotated or stored or metadata.unique_name("pulumi-kubernetes-")


def create(
    operation: Operation, news: Object, seconds: float, *, preview: bool, waits: Sequence[float] = RETRY_WAITS
) -> tuple[str, Object]:
    """The new resource's id and state; in a preview no id, and the state as far as the server can tell.

    Raises `ProviderError` if nothing was created, `InitFailed` if the object is there but not ready.
    """
    cluster, urn, log = operation.cluster, operation.urn, operation.log
    obj = to_kubernetes(news)
    patch = kinds.is_patch(urn, obj)
    if preview and (has_unknown(obj) or patch or not cluster.serves(obj)):
        return "", news
    manager = field_manager(obj)
    try:
        live = _send_retrying(operation, obj, manager, preview=preview, patch=patch, waits=waits)
    except NoMatchError as error:
        raise ProviderError(
            f'creation of resource "{urn}" with kind {Kind.of(obj)} failed because the Kubernetes API server reported '
            "that the apiVersion for this resource does not exist. "
            f"Verify that any required CRDs have been created: {error}"
        ) from error
    except StatusError as error:
        if preview and _cannot_preview(error):
            return "", news
        explained = f"{error.message}{_EXISTS}" if error.already_exists else error.message
        raise ProviderError(_not_created(urn, explained)) from error
    except (ApplyConflict, ConnectionFailed) as error:
        raise ProviderError(_not_created(urn, str(error))) from error
    version = str(obj.get("apiVersion"))
    if preview:
        live.pop("status", None)  # the server computes an empty one, which programs must not take for the real one
        return "", checkpoint.render(obj, live, news, version, manager)
    try:
        awaiter = table.for_write(obj)
        limit = metadata.timeout(obj, seconds)
        live = operation.waiter.until_ready(cluster.resource(obj), live, awaiter, limit)
    except NotReady as error:
        state = checkpoint.render(obj, error.live, news, version, manager)
        message = (
            f'resource "{urn}" was successfully created, but the Kubernetes API server reported that it failed to '
            f"fully initialize or become live: {error}"
        )
        raise InitFailed(message, metadata.identifier(live), state, details=error.problems) from error
    except (StatusError, ConnectionFailed, WaitForError) as error:
        state = checkpoint.render(obj, live, news, version, manager)
        raise InitFailed(
            f'resource "{urn}" was successfully created, but waiting for it failed: {error}',
            metadata.identifier(live),
            state,
        ) from error
    log.status("")
    if kinds.is_crd(obj):
        cluster.await_kinds(live)
    return metadata.identifier(live), checkpoint.render(obj, live, news, version, manager)


def _not_created(urn: str, cause: str) -> str:
    return f'resource "{urn}" was not successfully created by the Kubernetes API server: {cause}'


def _cannot_preview(error: StatusError) -> bool:
    """Rejections that only mean that the object cannot be created *yet*, or that dry runs are not available."""
    return (
        error.code == 403
        or error.already_exists
        or error.namespace_not_found
        or (error.code == 400 and "does not support dry run" in error.message)
    )


def _send_retrying(
    operation: Operation, obj: Object, manager: str, *, preview: bool, patch: bool, waits: Sequence[float]
) -> Object:
    cluster = operation.cluster
    upsert = patch or cluster.settings.upsert_existing_objects

    def send() -> Object:
        force = cluster.settings.enable_patch_force
        writer = Writer(cluster.api, cluster.resource(obj), manager, preview=preview, force=force)
        live = _apply_new(writer, obj, preview=preview) if upsert else writer.create(obj)
        show_warnings(operation, writer)
        return live

    return _retrying(send, operation, preview=preview, waits=waits)


def _apply_new(writer: Writer, obj: Object, *, preview: bool) -> Object:
    try:
        return writer.apply(obj, None if preview else obj | {"metadata": {**obj["metadata"], "managedFields": [{}]}})
    except StatusError as error:
        if not (preview and "field is immutable" in error.message):
            raise
        # The preview of a replacement meets the object that will be deleted first; any other name shows the result.
        renamed = {**obj, "metadata": {**obj["metadata"], "name": metadata.unique_name(f"{metadata.name(obj)}-")}}
        return writer.apply(renamed, None)


def _retrying(send: Callable[[], Object], operation: Operation, *, preview: bool, waits: Sequence[float]) -> Object:
    cancellation = operation.cluster.cancellation
    for attempt, wait in enumerate(waits):
        try:
            return send()
        except (NoMatchError, StatusError) as error:
            passing = isinstance(error, NoMatchError) or error.not_found
            if not passing or preview or cancellation.cancelled:
                raise
            operation.log.status(f"Retry #{attempt}; creation failed: {error}")
        cancellation.sleep(wait)
    return send()


def show_warnings(operation: Operation, writer: Writer) -> None:
    """Show what the API server remarked on: unknown fields that it dropped, deprecated versions."""
    for warning in writer.warnings:
        if not (operation.cluster.settings.suppress_deprecation_warnings and "deprecated" in warning):
            operation.log.say("warning", warning)
