"""Read, update and delete one object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tpuplane_twin.providers.contract import InitFailed, ProviderError
from tpuplane_twin.providers.kubernetes import checkpoint, kinds, metadata
from tpuplane_twin.providers.kubernetes.api import ConnectionFailed, StatusError
from tpuplane_twin.providers.kubernetes.awaiting import table
from tpuplane_twin.providers.kubernetes.awaiting.kstatus import NotReady
from tpuplane_twin.providers.kubernetes.awaiting.waitfor import WaitForError
from tpuplane_twin.providers.kubernetes.checkpoint import Checkpoint
from tpuplane_twin.providers.kubernetes.cluster import Operation
from tpuplane_twin.providers.kubernetes.create import field_manager, show_warnings
from tpuplane_twin.providers.kubernetes.discovery import NoMatchError
from tpuplane_twin.providers.kubernetes.inputs import READ_ONLY, as_written, normalize, prune
from tpuplane_twin.providers.kubernetes.kinds import Kind
from tpuplane_twin.providers.kubernetes.values import Object, mark_secrets, to_kubernetes, to_pulumi
from tpuplane_twin.providers.kubernetes.write import ApplyConflict, Writer
from tpuplane_twin.providers.values import has_unknown

Found = tuple[str, Object, Object]
"""Id, inputs and state of an object; an empty id where it does not exist."""
_GONE: Final[Found] = ("", {}, {})
_REMEDY = (
    "If the cluster was deleted, you can remove this resource from Pulumi state by rerunning the operation with the "
    'PULUMI_K8S_DELETE_UNREACHABLE environment variable set to "true"'
)


def read(operation: Operation, identifier: str, olds: Object, inputs: Object) -> Found:
    """The object as it is now. Raises `ProviderError`; `InitFailed` if it exists but is not ready.

    Returns its id, the inputs and the state; an empty id where it does not exist.
    """
    cluster, urn = operation.cluster, operation.urn
    if cluster.unreachable:
        return _read_unreachable(operation, identifier, olds, inputs)
    namespace, name = metadata.parse_identifier(identifier)
    before, old_inputs = Checkpoint.parse(olds), normalize(to_kubernetes(inputs))
    imported = False
    if not old_inputs.get("kind"):
        imported = not before.live.get("kind")
        kind = Kind.of_type(kinds.type_of_urn(urn)).underlying if imported else Kind.of(before.live)
        old_inputs |= {"apiVersion": kind.api_version, "kind": kind.name}
        holder = old_inputs.setdefault("metadata", {})
        holder.setdefault("name", name)
        if namespace:
            holder.setdefault("namespace", namespace)
    manager = field_manager(old_inputs, before.field_manager)
    version = before.initial_api_version or str(old_inputs["apiVersion"])
    try:
        resource = cluster.resource(old_inputs)
        live = cluster.api.request("GET", resource.path(namespace or metadata.namespace(old_inputs), name))
    except NoMatchError:
        return _GONE
    except StatusError as error:
        if error.not_found:
            return _GONE
        raise ProviderError(str(error)) from error
    except ConnectionFailed as error:
        raise ProviderError(str(error)) from error
    live_inputs = as_written(live, old_inputs) if Kind.of(live).built_in else prune(live, old_inputs)
    if imported:
        _add_imported(live_inputs, live)
    state = checkpoint.render(live_inputs, live, inputs, version, manager)
    new_inputs = mark_secrets(to_pulumi(live_inputs), inputs)
    wanted = None if imported else table.for_read(old_inputs)
    if wanted is not None:
        try:
            operation.waiter.look(live, wanted)
        except NotReady as error:
            raise InitFailed(str(error), identifier, state, new_inputs, error.problems) from error
    return identifier, new_inputs, state


def _read_unreachable(operation: Operation, identifier: str, olds: Object, inputs: Object) -> Found:
    cluster, log = operation.cluster, operation.log
    said = f"configured Kubernetes cluster is unreachable: {cluster.unreachable}"
    log.say("warning", said)
    if cluster.settings.delete_unreachable:
        log.say("info", _deleting_unreachable())
        return _GONE
    if cluster.settings.skip_update_unreachable:
        log.say(
            "info",
            "configured Kubernetes cluster is unreachable and the `skipUnreachable` option is enabled. "
            "Returned data could not reflect the actual cluster configuration.",
        )
        return identifier, inputs, olds
    raise ProviderError(f"failed to read resource state due to unreachable cluster. {_REMEDY}")


def _deleting_unreachable() -> str:
    return (
        "configured Kubernetes cluster is unreachable and the `deleteUnreachable` option is enabled. "
        "Deleting the unreachable resource from Pulumi state"
    )


def _add_imported(inputs: Object, live: Object) -> None:
    """Of an object that no program made, take everything a program could write; of a custom resource only its identity
    (nothing says which of its fields are inputs)."""
    if not Kind.of(live).built_in:
        return
    inputs.update({key: value for key, value in to_kubernetes(live).items() if key != "status"})
    holder = inputs["metadata"]
    for key in READ_ONLY:
        holder.pop(key, None)
    annotations = holder.get("annotations")
    if isinstance(annotations, dict):
        annotations.pop("deployment.kubernetes.io/revision", None)
        annotations.pop(metadata.LAST_APPLIED, None)
        if not annotations:
            del holder["annotations"]


def update(
    operation: Operation, olds: Object, news: Object, seconds: float, ignored: Sequence[str], *, preview: bool
) -> Object:
    """The state after the update. Raises `ProviderError` if the object could not even be read, else `InitFailed`:
    what was tried is kept, so that the next diff compares with it."""
    cluster, urn, log = operation.cluster, operation.urn, operation.log
    obj = normalize(to_kubernetes(news))
    if preview and (has_unknown(obj) or not cluster.serves(obj)):
        return news
    before = Checkpoint.parse(olds)
    manager = field_manager(obj, before.field_manager)
    old_manager = field_manager(before.inputs, before.field_manager)
    version = before.initial_api_version or str(before.inputs.get("apiVersion"))
    force = cluster.settings.enable_patch_force
    try:
        resource = cluster.resource(obj)
        writer = Writer(cluster.api, resource, manager, preview=preview, force=force)
        path = resource.path(metadata.namespace(obj), metadata.name(before.live))
        old_live = cluster.api.request("GET", path)
    except NoMatchError as error:
        raise ProviderError(
            f'update of resource "{urn}" failed because the Kubernetes API server reported that the apiVersion for '
            f"this resource does not exist. Verify that any required CRDs have been created: {error}"
        ) from error
    except (StatusError, ConnectionFailed) as error:
        raise ProviderError(f'update of resource "{urn}" failed: {error}') from error
    live = old_live
    problems: tuple[str, ...] = ()
    try:
        live = writer.update(obj, old_live, ignored, patch=kinds.is_patch(urn, obj))
        show_warnings(operation, writer)
        if not preview:
            limit = metadata.timeout(obj, seconds)
            live = operation.waiter.until_ready(resource, live, table.for_write(obj), limit, old_live)
            if old_manager != manager:
                Writer(cluster.api, resource, old_manager).relinquish(live)
    except (NotReady, StatusError, ApplyConflict, ConnectionFailed, WaitForError) as error:
        if preview and isinstance(error, StatusError) and error.code == 403:
            return news
        if isinstance(error, NotReady):
            live, problems = error.live, error.problems
        shown = metadata.identifier(live)
        message = (
            f'the Kubernetes API server reported that "{shown}" failed to fully initialize or become live: {error}'
        )
        state = checkpoint.render(obj, live, news, version, manager)
        raise InitFailed(message, shown, state, details=problems) from error
    log.status("")
    if kinds.is_crd(obj) and not preview:
        cluster.await_kinds(live)
    return checkpoint.render(obj, live, news, version, manager)


def delete(operation: Operation, identifier: str, olds: Object, seconds: float) -> None:
    """Delete the object and wait until it does not exist. An object or a kind that does not exist is already deleted.

    Raises `ProviderError` if the object stays as it is, `InitFailed` if it does not go away in time.
    """
    cluster, log = operation.cluster, operation.log
    if cluster.unreachable:
        log.say("warning", f"configured Kubernetes cluster is unreachable: {cluster.unreachable}")
        if cluster.settings.delete_unreachable:
            log.say("info", _deleting_unreachable())
            return
        raise ProviderError(f"configured Kubernetes cluster is unreachable. {_REMEDY}")
    before = Checkpoint.parse(olds)
    inputs, live = before.inputs, before.live
    manager = field_manager(inputs, before.field_manager)
    patch = kinds.is_patch(operation.urn, inputs)
    try:
        resource = cluster.resource(live)
        if patch:
            Writer(cluster.api, resource, manager).relinquish(live)
            return
        path = resource.path(metadata.namespace(live), metadata.parse_identifier(identifier)[1])
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": metadata.deletion_propagation(inputs),
        }
        cluster.api.request("DELETE", path, body=options)
        if metadata.is_true(inputs, metadata.SKIP_AWAIT) and Kind.of(inputs).skips_await_on_delete:
            return
        operation.waiter.until_gone(resource, live, metadata.timeout(inputs, seconds))
    except NoMatchError:
        return
    except StatusError as error:
        if not error.not_found:
            raise ProviderError(_explained(error, patch=patch)) from error
    except ConnectionFailed as error:
        raise ProviderError(str(error)) from error
    except NotReady as error:
        state = checkpoint.render(
            inputs, error.live, olds, before.initial_api_version or str(inputs.get("apiVersion")), manager
        )
        raise InitFailed(str(error), metadata.identifier(error.live), state) from error


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
