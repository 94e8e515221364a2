"""Read one object, for a refresh or an import."""

from typing import Final

from tpuplane_standins.providers.contract import InitFailed, ProviderError
from tpuplane_standins.providers.kubernetes import metadata
from tpuplane_standins.providers.kubernetes.api import ConnectionFailed, StatusError
from tpuplane_standins.providers.kubernetes.awaiting import table
from tpuplane_standins.providers.kubernetes.awaiting.kstatus import NotReady
from tpuplane_standins.providers.kubernetes.cluster import Operation
from tpuplane_standins.providers.kubernetes.discovery import NoMatchError
from tpuplane_standins.providers.kubernetes.inputs import READ_ONLY, normalize, prune
from tpuplane_standins.providers.kubernetes.kinds import Kind
from tpuplane_standins.providers.kubernetes.values import (
    Checkpoint,
    Object,
    mark_secrets,
    render,
    to_kubernetes,
    to_pulumi,
)
from tpuplane_standins.providers.kubernetes.write import DELETING_UNREACHABLE, REMEDY, field_manager

Found = tuple[str, Object, Object]
"""Id, inputs and state of an object; an empty id where it does not exist."""
_MISSING: Final[Found] = ("", {}, {})


def read(operation: Operation) -> Found:
    """The object as it is now. Raises `ProviderError`; `InitFailed` if it exists but is not ready."""
    cluster, request = operation.cluster, operation.request
    if cluster.unreachable:
        return _read_unreachable(operation)
    namespace, name = metadata.parse_identifier(request.id)
    before, old_inputs = Checkpoint.parse(request.olds), normalize(to_kubernetes(request.news))
    imported = False
    if not old_inputs.get("kind"):
        imported = not before.live.get("kind")
        kind = Kind.of_type(request.urn.type).underlying if imported else Kind.of(before.live)
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
        return _MISSING
    except (StatusError, ConnectionFailed) as error:
        if isinstance(error, StatusError) and error.not_found:
            return _MISSING
        raise ProviderError(str(error)) from error
    live_inputs = prune(live, old_inputs, as_written=Kind.of(live).built_in)
    if imported:
        _add_imported(live_inputs, live)
    state = render(live_inputs, live, request.news, version, manager)
    new_inputs = mark_secrets(to_pulumi(live_inputs), request.news)
    wanted = None if imported else table.for_read(old_inputs)
    if wanted is not None:
        try:
            operation.waiter.look(live, wanted)
        except NotReady as error:
            raise InitFailed(str(error), request.id, state, new_inputs, error.problems) from error
    return request.id, new_inputs, state


def _read_unreachable(operation: Operation) -> Found:
    cluster, request, log = operation.cluster, operation.request, operation.log
    log.say("warning", f"configured Kubernetes cluster is unreachable: {cluster.unreachable}")
    if cluster.settings.delete_unreachable:
        log.say("info", DELETING_UNREACHABLE)
        return _MISSING
    if cluster.settings.skip_update_unreachable:
        log.say(
            "info",
            "configured Kubernetes cluster is unreachable and the `skipUnreachable` option is enabled. "
            "Returned data could not reflect the actual cluster configuration.",
        )
        return request.id, request.news, request.olds
    raise ProviderError(f"failed to read resource state due to unreachable cluster. {REMEDY}")


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
