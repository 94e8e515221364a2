"""Create, update and delete one object: the requests, and the wait until it is ready or deleted."""

from typing import Final

from tpuplane_standins.providers.contract import InitFailed, ProviderError
from tpuplane_standins.providers.kubernetes import kinds, metadata
from tpuplane_standins.providers.kubernetes.api import ConnectionFailed, StatusError
from tpuplane_standins.providers.kubernetes.awaiting import table
from tpuplane_standins.providers.kubernetes.awaiting.kstatus import NotReady
from tpuplane_standins.providers.kubernetes.cluster import Operation
from tpuplane_standins.providers.kubernetes.discovery import NoMatchError
from tpuplane_standins.providers.kubernetes.inputs import normalize
from tpuplane_standins.providers.kubernetes.kinds import Kind
from tpuplane_standins.providers.kubernetes.values import Checkpoint, Object, render, to_kubernetes
from tpuplane_standins.providers.kubernetes.writer import ApplyConflict, Writer
from tpuplane_standins.providers.values import has_unknown

_RETRY_WAITS: Final = (0.25, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 31.0)
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


_UNSERVED: Final = (
    "failed because the Kubernetes API server reported that the apiVersion for this resource does not exist. "
    "Verify that any required CRDs have been created"
)
REMEDY: Final = (
    "If the cluster was deleted, you can remove this resource from Pulumi state by rerunning the operation with the "
    'PULUMI_K8S_DELETE_UNREACHABLE environment variable set to "true"'
)
DELETING_UNREACHABLE: Final = (
    "configured Kubernetes cluster is unreachable and the `deleteUnreachable` option is enabled. "
    "Deleting the unreachable resource from Pulumi state"
)


def field_manager(obj: Object, stored: str | None = None) -> str:
    """The field manager: of the object's annotation, else of its state, else a new name."""
    annotated = metadata.annotation(obj, metadata.PATCH_FIELD_MANAGER)
    return annotated or stored or metadata.unique_name("pulumi-kubernetes-")


def create(operation: Operation) -> tuple[str, Object]:
    """The new resource's id and state; in a preview no id, and the state as far as the server can tell.

    Raises `ProviderError` if nothing was created, `InitFailed` if the object exists but is not ready.
    """
    request, urn = operation.request, operation.request.urn.text
    obj = to_kubernetes(request.news)
    patch = kinds.is_patch(request.urn, obj)
    if request.preview and (has_unknown(obj) or patch or not operation.cluster.serves(obj)):
        return "", request.news
    manager, version = field_manager(obj), str(obj.get("apiVersion"))
    try:
        live = _send_new(operation, obj, manager, upsert=patch or operation.cluster.settings.upsert_existing_objects)
    except NoMatchError as error:
        raise ProviderError(f'creation of resource "{urn}" with kind {Kind.of(obj)} {_UNSERVED}: {error}') from error
    except (StatusError, ApplyConflict, ConnectionFailed) as error:
        exists = isinstance(error, StatusError) and error.already_exists
        if request.preview and isinstance(error, StatusError) and (exists or _only_later(error)):
            return "", request.news
        raise ProviderError(
            f'resource "{urn}" was not successfully created by the Kubernetes API server: '
            f"{error}{_EXISTS if exists else ''}"
        ) from error
    if request.preview:
        live.pop("status", None)  # the server computes an empty one, which programs must not take for the real one
        return "", render(obj, live, request.news, version, manager)
    try:
        live = _settled(operation, obj, live)
    except (NotReady, StatusError, ConnectionFailed, table.WaitForError) as error:
        cause = "waiting for it failed"
        problems: tuple[str, ...] = ()
        if isinstance(error, NotReady):
            live, problems = error.live, error.problems
            cause = "the Kubernetes API server reported that it failed to fully initialize or become live"
        state = render(obj, live, request.news, version, manager)
        message = f'resource "{urn}" was successfully created, but {cause}: {error}'
        raise InitFailed(message, metadata.identifier(live), state, details=problems) from error
    return metadata.identifier(live), render(obj, live, request.news, version, manager)


def update(operation: Operation) -> Object:
    """The state after the update. Raises `ProviderError` if the object could not even be read, else `InitFailed`:
    what was tried is kept, so that the next diff compares with it."""
    cluster, request, urn = operation.cluster, operation.request, operation.request.urn.text
    obj = normalize(to_kubernetes(request.news))
    if request.preview and (has_unknown(obj) or not cluster.serves(obj)):
        return request.news
    before = Checkpoint.parse(request.olds)
    manager = field_manager(obj, before.field_manager)
    old_manager = field_manager(before.inputs, before.field_manager)
    version = before.initial_api_version or str(before.inputs.get("apiVersion"))
    try:
        resource = cluster.resource(obj)
        old_live = cluster.api.request("GET", resource.path(metadata.namespace(obj), metadata.name(before.live)))
    except NoMatchError as error:
        raise ProviderError(f'update of resource "{urn}" {_UNSERVED}: {error}') from error
    except (StatusError, ConnectionFailed) as error:
        raise ProviderError(f'update of resource "{urn}" failed: {error}') from error
    live = old_live
    problems: tuple[str, ...] = ()
    try:
        writer = Writer(operation, resource, manager)
        live = writer.update(obj, old_live, request.ignore, patch=kinds.is_patch(request.urn, obj))
        if not request.preview:
            live = _settled(operation, obj, live, old_live)
            if old_manager != manager:
                Writer(operation, resource, old_manager).relinquish(live)
    except (NotReady, StatusError, ApplyConflict, ConnectionFailed, table.WaitForError) as error:
        if request.preview and isinstance(error, StatusError) and error.code == 403:
            return request.news
        if isinstance(error, NotReady):
            live, problems = error.live, error.problems
        shown = metadata.identifier(live)
        message = (
            f'the Kubernetes API server reported that "{shown}" failed to fully initialize or become live: {error}'
        )
        state = render(obj, live, request.news, version, manager)
        raise InitFailed(message, shown, state, details=problems) from error
    return render(obj, live, request.news, version, manager)


def delete(operation: Operation) -> None:
    """Delete the object and wait until it does not exist. An object or a kind that does not exist is already deleted.

    Raises `ProviderError` if the object stays as it is, `InitFailed` if it is not deleted in time.
    """
    cluster, request, log = operation.cluster, operation.request, operation.log
    if cluster.unreachable:
        log.say("warning", f"configured Kubernetes cluster is unreachable: {cluster.unreachable}")
        if cluster.settings.delete_unreachable:
            log.say("info", DELETING_UNREACHABLE)
            return
        raise ProviderError(f"configured Kubernetes cluster is unreachable. {REMEDY}")
    before = Checkpoint.parse(request.olds)
    inputs, live = before.inputs, before.live
    manager = field_manager(inputs, before.field_manager)
    patch = kinds.is_patch(request.urn, inputs)
    try:
        resource = cluster.resource(live)
        if patch:
            Writer(operation, resource, manager).relinquish(live)
            return
        path = resource.path(metadata.namespace(live), metadata.parse_identifier(request.id)[1])
        propagation = metadata.deletion_propagation(inputs)
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation}
        cluster.api.request("DELETE", path, body=options)
        if metadata.is_true(inputs, metadata.SKIP_AWAIT) and Kind.of(inputs).skips_await_on_delete:
            return
        operation.waiter.until_deleted(resource, live, metadata.timeout(inputs, request.timeout))
    except NoMatchError:
        return
    except StatusError as error:
        if not error.not_found:
            raise ProviderError(_explained(error, patch=patch)) from error
    except ConnectionFailed as error:
        raise ProviderError(str(error)) from error
    except NotReady as error:
        version = before.initial_api_version or str(inputs.get("apiVersion"))
        state = render(inputs, error.live, request.olds, version, manager)
        raise InitFailed(str(error), metadata.identifier(error.live), state) from error


def _settled(operation: Operation, obj: Object, live: Object, before: Object | None = None) -> Object:
    """The object once it is ready, and once what it defines is served."""
    cluster, limit = operation.cluster, metadata.timeout(obj, operation.request.timeout)
    live = operation.waiter.until_ready(cluster.resource(obj), live, table.for_write(obj), limit, before)
    operation.log.status("")
    if kinds.is_crd(obj):
        cluster.await_kinds(live)
    return live


def _only_later(error: StatusError) -> bool:
    """Whether a preview cannot tell: the object cannot be created *yet*, or dry runs are not available."""
    no_dry_run = error.code == 400 and "does not support dry run" in error.message
    return error.code == 403 or error.namespace_not_found or no_dry_run


def _send_new(operation: Operation, obj: Object, manager: str, *, upsert: bool) -> Object:
    """Create the object; outside of a preview again while its namespace or its kind is missing."""
    cluster, preview = operation.cluster, operation.request.preview

    def send() -> Object:
        writer = Writer(operation, cluster.resource(obj), manager)
        return _apply_new(writer, obj, preview=preview) if upsert else writer.create(obj)

    for attempt, wait in enumerate(() if preview else _RETRY_WAITS):
        try:
            return send()
        except (NoMatchError, StatusError) as error:
            if cluster.cancelled.is_set() or not (isinstance(error, NoMatchError) or error.not_found):
                raise
            operation.log.status(f"Retry #{attempt}; creation failed: {error}")
        cluster.cancelled.wait(wait)
    return send()


def _apply_new(writer: Writer, obj: Object, *, preview: bool) -> Object:
    try:
        return writer.apply(obj, None if preview else obj | {"metadata": {**obj["metadata"], "managedFields": [{}]}})
    except StatusError as error:
        if not (preview and "field is immutable" in error.message):
            raise
        # The preview of a replacement meets the object that will be deleted first; any other name shows the result.
        renamed = {**obj, "metadata": {**obj["metadata"], "name": metadata.unique_name(f"{metadata.name(obj)}-")}}
        return writer.apply(renamed, None)


def _explained(error: StatusError, *, patch: bool) -> str:
    if patch and error.code == 422 and "Required value" in error.message:
        causes = error.details.get("causes") or ()
        fields = ", ".join(cause.get("field", "") for cause in causes if cause.get("reason") == "FieldValueRequired")
        return (
            "this Patch resource is currently managing a required field, so it can't be deleted directly. Either set "
            "the `retainOnDelete` resource option, or transfer ownership of the field before deleting: "
            f"{fields or error.message}"
        )
    return error.message
