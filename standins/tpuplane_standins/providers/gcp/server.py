# ruff: noqa: D102 - the methods in capitals are the engine's, and described by its protocol
"""A Pulumi resource provider as a gRPC server: plain Python values inside, the engine's protocol outside.

The SDK's `pulumi.provider.experimental` has no way to say "created, but in an error state", prints a traceback for
every rejection and drops unknown values, so the servicer here is written on the SDK's generated classes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import metadata
from typing import Any, Final, TypeVar, cast

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2_grpc, status_pb2
from pulumi.runtime.proto import provider_pb2 as pb

from tpuplane_standins.providers import contract
from tpuplane_standins.providers.gcp.provider import GcpProvider
from tpuplane_standins.providers.values import decode_struct, encode_struct, reveal
from tpuplane_standins.serving import plugin_server, serve

_THREADS: Final = 256  # an operation waits in its thread; the engine starts as many as the program allows

# Field of a `Request` → field of the engine's messages, in those that have it.
_OPTIONS: Final = {
    "id": "id",
    "timeout": "timeout",
    "preview": "preview",
    "ignore": "ignoreChanges",
    "seed": "randomSeed",
}

Handler = TypeVar("Handler", bound=Callable[..., Any])


def _reporting(handler: Handler) -> Handler:
    """Turn the provider's exceptions into gRPC statuses that the engine shows without a traceback."""

    @wraps(handler)
    def wrapper(self: Servicer, request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return handler(self, request, context)
        except contract.InitFailed as failure:
            status = _init_failed(failure).SerializeToString()
            context.set_trailing_metadata((("grpc-status-details-bin", status),))
            context.abort(grpc.StatusCode.UNKNOWN, str(failure))
        except contract.ProviderError as error:
            context.abort(grpc.StatusCode.UNKNOWN, str(error))

    return cast(Handler, wrapper)


def _init_failed(failure: contract.InitFailed) -> status_pb2.Status:
    detail = pb.ErrorResourceInitFailed(
        id=failure.resource_id,
        properties=encode_struct(failure.state),
        reasons=[str(failure)],
        inputs=encode_struct(failure.inputs),
    )
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=str(failure))
    status.details.add().Pack(detail)
    return status


class Servicer(provider_pb2_grpc.ResourceProviderServicer):
    """The engine's protocol in front of the provider, whose operations run in threads, many at once."""

    def __init__(self, provider: GcpProvider) -> None:
        self._provider = provider

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        # The SDK's: the engine warns of a plugin older than the SDK that asks for it.
        return plugin_pb2.PluginInfo(version=metadata.version("pulumi-gcp"))

    def Attach(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    def Cancel(self, request: Any, context: Any) -> Any:
        self._provider.cancel()
        return empty_pb2.Empty()

    def GetMapping(self, request: Any, context: Any) -> Any:
        return pb.GetMappingResponse()  # no other tool's resources are mapped

    def GetMappings(self, request: Any, context: Any) -> Any:
        return pb.GetMappingsResponse()

    def GetSchema(self, request: Any, context: Any) -> Any:
        self._not_offered(context, "a schema")

    def Parameterize(self, request: Any, context: Any) -> Any:
        self._not_offered(context, "parameterization (typed custom resources)")

    def _not_offered(self, context: grpc.ServicerContext, what: str) -> None:
        reason = f"the twin's gcp provider does not offer {what}; install the official gcp plugin"
        context.abort(grpc.StatusCode.UNIMPLEMENTED, reason)

    @_reporting
    def CheckConfig(self, request: Any, context: Any) -> Any:
        return _checked(self._provider.check_config(contract.Urn.parse(request.urn), self._values(request.news)))

    @_reporting
    def DiffConfig(self, request: Any, context: Any) -> Any:
        return _difference(self._provider.diff_config(self._values(request.olds), self._values(request.news)))

    @_reporting
    def Configure(self, request: Any, context: Any) -> Any:
        self._provider.configure(self._values(request.args))
        return pb.ConfigureResponse(supportsPreview=True, supports_autonaming_configuration=True)

    @_reporting
    def Invoke(self, request: Any, context: Any) -> Any:
        result = self._provider.invoke(request.tok, self._values(request.args))
        response = pb.InvokeResponse()
        getattr(response, "return").CopyFrom(encode_struct(result))  # a keyword of Python
        return response

    @_reporting
    def Check(self, request: Any, context: Any) -> Any:
        return _checked(self._provider.check(self._request(request, olds=request.olds, news=request.news)))

    @_reporting
    def Diff(self, request: Any, context: Any) -> Any:
        return _difference(self._provider.diff(self._request(request, olds=request.olds, news=request.news)))

    @_reporting
    def Create(self, request: Any, context: Any) -> Any:
        resource_id, state = self._provider.create(self._request(request, news=request.properties))
        return pb.CreateResponse(id=resource_id, properties=encode_struct(state))

    @_reporting
    def Read(self, request: Any, context: Any) -> Any:
        asked = self._request(request, olds=request.properties, news=request.inputs)
        resource_id, inputs, state = self._provider.read(asked)
        return pb.ReadResponse(id=resource_id, inputs=encode_struct(inputs), properties=encode_struct(state))

    @_reporting
    def Update(self, request: Any, context: Any) -> Any:
        state = self._provider.update(self._request(request, olds=request.olds, news=request.news))
        return pb.UpdateResponse(properties=encode_struct(state))

    @_reporting
    def Delete(self, request: Any, context: Any) -> Any:
        self._provider.delete(self._request(request, olds=request.properties))
        return empty_pb2.Empty()

    def _request(self, message: Any, **properties: Any) -> contract.Request:
        known = message.DESCRIPTOR.fields_by_name
        values: dict[str, Any] = {name: getattr(message, field) for name, field in _OPTIONS.items() if field in known}
        values |= {name: self._values(struct) for name, struct in properties.items()}
        if "autonaming" in known and message.HasField("autonaming"):
            mode = pb.CheckRequest.AutonamingOptions.Mode.Name(message.autonaming.mode)
            values["autonaming"] = contract.Autonaming(message.autonaming.proposed_name, mode)
        return contract.Request(contract.Urn.parse(message.urn), **values)

    def _values(self, struct: Any) -> dict[str, Any]:
        return dict(reveal(decode_struct(struct), without_nulls=True))  # the official bridge drops nulls


def _checked(checked: contract.Checked) -> Any:
    failures = [pb.CheckFailure(property=name, reason=reason) for name, reason in checked.failures]
    return pb.CheckResponse(inputs=encode_struct(checked.inputs), failures=failures)


def _difference(difference: contract.Difference) -> Any:
    detailed = {}
    for path, change in difference.changes.items():
        kind = f"{change.action}_replace" if change.replaces else change.action
        detailed[path] = pb.PropertyDiff(kind=pb.PropertyDiff.Kind.Value(kind.upper()))
    some = bool(detailed or difference.replaces or difference.changed)
    return pb.DiffResponse(
        changes=pb.DiffResponse.DIFF_SOME if some else pb.DiffResponse.DIFF_NONE,
        diffs=difference.changed,
        replaces=difference.replaces,
        deleteBeforeReplace=difference.delete_before_replace and bool(difference.replaces),
        detailedDiff=detailed,
        hasDetailedDiff=bool(detailed),
    )


def run() -> None:
    """The plugin's main: serve, print the port for the engine, stay until the engine ends."""
    provider, server = GcpProvider(), plugin_server(_THREADS)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Servicer(provider), server)
    serve(server, provider.cancel)
