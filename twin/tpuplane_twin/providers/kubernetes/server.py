"""The gRPC side: requests of the engine in, answers and errors in its own forms out."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NoReturn

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc, status_pb2

from tpuplane_twin.providers.kubernetes import check, compare, construct, create, invoke, lifecycle, settings
from tpuplane_twin.providers.kubernetes.api import Cancellation
from tpuplane_twin.providers.kubernetes.cluster import Cluster, Operation
from tpuplane_twin.providers.kubernetes.diff import Change
from tpuplane_twin.providers.kubernetes.errors import PartialFailure, ProviderError
from tpuplane_twin.providers.kubernetes.kinds import TypeTokenError
from tpuplane_twin.providers.kubernetes.kubeconfig import KubeconfigError
from tpuplane_twin.providers.kubernetes.log import EngineLog, ResourceLog
from tpuplane_twin.providers.kubernetes.settings import Settings
from tpuplane_twin.providers.kubernetes.values import UnsupportedValue, decode_struct, encode_struct

_Autonaming = provider_pb2.CheckRequest.AutonamingOptions
_Diff = provider_pb2.PropertyDiff
_KINDS = {
    ("add", False): _Diff.ADD,
    ("add", True): _Diff.ADD_REPLACE,
    ("delete", False): _Diff.DELETE,
    ("delete", True): _Diff.DELETE_REPLACE,
    ("update", False): _Diff.UPDATE,
    ("update", True): _Diff.UPDATE_REPLACE,
}
_USER_ERRORS = (ProviderError, KubeconfigError, TypeTokenError, UnsupportedValue)

Context = grpc.ServicerContext


class KubernetesProvider(provider_pb2_grpc.ResourceProviderServicer):
    """One provider process: configured once, then asked about many objects at the same time."""

    def __init__(self, version: str, log: EngineLog | None) -> None:
        self._version = version
        self._log = log
        self._cancellation = Cancellation()
        self._configured: Cluster | None = None

    def cancel(self) -> None:
        """End every wait, within a few seconds."""
        self._cancellation.cancel()

    @property
    def _cluster(self) -> Cluster:
        if self._configured is None:
            raise ProviderError("the provider has not been configured")
        return self._configured

    def _operation(self, urn: str) -> Operation:
        if self._log is None:
            raise ProviderError("the provider is attached to no engine")
        return Operation(self._cluster, urn, ResourceLog(self._log, urn))

    def GetPluginInfo(self, request: empty_pb2.Empty, context: Context) -> plugin_pb2.PluginInfo:
        """The version whose behaviour this provider has."""
        return plugin_pb2.PluginInfo(version=self._version)

    def Attach(self, request: plugin_pb2.PluginAttach, context: Context) -> empty_pb2.Empty:
        """Serve another engine."""
        self._log = EngineLog(request.address)
        return empty_pb2.Empty()

    def Cancel(self, request: empty_pb2.Empty, context: Context) -> empty_pb2.Empty:
        """End every wait; the operations report what they had."""
        self.cancel()
        return empty_pb2.Empty()

    def Handshake(self, request: Any, context: Context) -> NoReturn:
        """Not offered, as by the official provider: the engine goes on without."""
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "Handshake is not yet implemented")

    def GetMappings(self, request: Any, context: Context) -> provider_pb2.GetMappingsResponse:
        """No other tool's resources are mapped."""
        return provider_pb2.GetMappingsResponse()

    def GetMapping(self, request: Any, context: Context) -> provider_pb2.GetMappingResponse:
        """No other tool's resources are mapped."""
        return provider_pb2.GetMappingResponse()

    def GetSchema(self, request: Any, context: Context) -> NoReturn:
        """Refused: any kind is served, by what the API server knows of it."""
        _refuse(context, "a schema")

    def Parameterize(self, request: Any, context: Context) -> NoReturn:
        """Refused."""
        _refuse(context, "parameterization (typed custom resources)", "pulumi_kubernetes.apiextensions.CustomResource")

    def Call(self, request: Any, context: Context) -> NoReturn:
        """Refused, as by the official provider."""
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "Call is not yet implemented")

    def Construct(self, request: Any, context: Context) -> provider_pb2.ConstructResponse:
        """Make a component: a chart or some YAML, as one resource for each object."""
        with _errors(context):
            if self._log is None:
                raise ProviderError("the provider is attached to no engine")
            return construct.construct(request, self._cluster, self._version, self._log)

    def CheckConfig(self, request: Any, context: Context) -> provider_pb2.CheckResponse:
        """Refuse what cannot be done; everything else is taken as it is."""
        with _errors(context):
            found = settings.refusals(decode_struct(request.news))
        failures = [provider_pb2.CheckFailure(property=key, reason=reason) for key, reason in found]
        return provider_pb2.CheckResponse(inputs=request.news, failures=failures)

    def DiffConfig(self, request: Any, context: Context) -> provider_pb2.DiffResponse:
        """Whether a changed configuration means another cluster."""
        with _errors(context):
            found = settings.diff(decode_struct(request.olds), decode_struct(request.news))
        return provider_pb2.DiffResponse(
            changes=_changes(bool(found.changed)), diffs=found.changed, replaces=found.replacing
        )

    def Configure(self, request: Any, context: Context) -> provider_pb2.ConfigureResponse:
        """Connect to the cluster. One that cannot be reached is only refused when it is needed."""
        with _errors(context):
            self._configured = Cluster(Settings.of(request.variables), self._cancellation)
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True, supportsPreview=True, supports_autonaming_configuration=True
        )

    def Invoke(self, request: Any, context: Context) -> provider_pb2.InvokeResponse:
        """Run a function."""
        with _errors(context):
            result = invoke.invoke(self._cluster, request.tok, decode_struct(request.args))
        response = provider_pb2.InvokeResponse()
        getattr(response, "return").CopyFrom(encode_struct(result))
        return response

    def Check(self, request: Any, context: Context) -> provider_pb2.CheckResponse:
        """The inputs, completed."""
        autonaming = check.Autonaming(bytes(request.randomSeed))
        if request.HasField("autonaming"):
            proposed, disabled = request.autonaming.proposed_name, request.autonaming.mode == _Autonaming.DISABLE
            autonaming = check.Autonaming(bytes(request.randomSeed), proposed, disabled)
        with _errors(context):
            olds, news = decode_struct(request.olds), decode_struct(request.news)
            inputs = check.check(self._operation(request.urn), olds, news, autonaming)
            return provider_pb2.CheckResponse(inputs=encode_struct(inputs))

    def Diff(self, request: Any, context: Context) -> provider_pb2.DiffResponse:
        """What an update would change."""
        with _errors(context):
            found = compare.compare(
                self._operation(request.urn),
                decode_struct(request.olds),
                decode_struct(request.news),
                list(request.ignoreChanges),
            )
        return provider_pb2.DiffResponse(
            changes=_changes(found.changed),
            replaces=found.replaces,
            deleteBeforeReplace=found.delete_before_replace,
            detailedDiff={path: _property_diff(change) for path, change in found.changes.items()},
            hasDetailedDiff=True,
        )

    def Create(self, request: Any, context: Context) -> provider_pb2.CreateResponse:
        """Make the object."""
        with _errors(context):
            identifier, state = create.create(
                self._operation(request.urn),
                decode_struct(request.properties),
                request.timeout,
                preview=request.preview,
            )
            return provider_pb2.CreateResponse(id=identifier, properties=encode_struct(state))

    def Read(self, request: Any, context: Context) -> provider_pb2.ReadResponse:
        """The object as it is, for a refresh, an import or a `get`."""
        with _errors(context):
            olds, inputs = decode_struct(request.properties), decode_struct(request.inputs)
            found = lifecycle.read(self._operation(request.urn), request.id, olds, inputs)
            if not found.identifier:
                return provider_pb2.ReadResponse()
            return provider_pb2.ReadResponse(
                id=found.identifier,
                properties=encode_struct(found.state or {}),
                inputs=encode_struct(found.inputs or {}),
            )

    def Update(self, request: Any, context: Context) -> provider_pb2.UpdateResponse:
        """Change the object in place."""
        with _errors(context):
            state = lifecycle.update(
                self._operation(request.urn),
                decode_struct(request.olds),
                decode_struct(request.news),
                request.timeout,
                list(request.ignoreChanges),
                preview=request.preview,
            )
            return provider_pb2.UpdateResponse(properties=encode_struct(state))

    def Delete(self, request: Any, context: Context) -> empty_pb2.Empty:
        """Remove the object."""
        with _errors(context):
            olds = decode_struct(request.properties)
            lifecycle.delete(self._operation(request.urn), request.id, olds, request.timeout)
        return empty_pb2.Empty()


def _changes(changed: bool) -> provider_pb2.DiffResponse.DiffChanges.ValueType:
    return provider_pb2.DiffResponse.DIFF_SOME if changed else provider_pb2.DiffResponse.DIFF_NONE


def _property_diff(change: Change) -> provider_pb2.PropertyDiff:
    return _Diff(kind=_KINDS[change.action, change.replaces], inputDiff=change.action == "delete")


def _refuse(context: Context, what: str, instead: str = "") -> NoReturn:
    remedy = f"use {instead}, or install" if instead else "install"
    context.abort(
        grpc.StatusCode.UNIMPLEMENTED,
        f"the twin's own Kubernetes provider does not offer {what}; {remedy} the official Kubernetes plugin",
    )


@contextlib.contextmanager
def _errors(context: Context) -> Iterator[None]:
    """Turn what an operation raises into what the engine understands."""
    try:
        yield
    except PartialFailure as error:
        failure = provider_pb2.ErrorResourceInitFailed(
            id=error.identifier, properties=encode_struct(error.state), reasons=error.reasons
        )
        if error.inputs is not None:
            failure.inputs.CopyFrom(encode_struct(error.inputs))
        status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=str(error))
        status.details.add().Pack(failure)
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        context.abort(grpc.StatusCode.UNKNOWN, str(error))
    except _USER_ERRORS as error:
        context.abort(grpc.StatusCode.UNKNOWN, str(error))
