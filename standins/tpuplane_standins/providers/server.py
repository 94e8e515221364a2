# ruff: noqa: D102 - the methods in capitals are the engine's, and described by its protocol
"""A Pulumi resource provider as a gRPC server: plain Python values inside, the engine's protocol outside.

The SDK's `pulumi.provider.experimental` has no way to say "created, but in an error state", prints a traceback for
every rejection and drops unknown values, so the servicer here is written on the SDK's generated classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import metadata
from typing import Any, Final, TypeVar, cast

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2_grpc, status_pb2
from pulumi.runtime.proto import provider_pb2 as pb

from tpuplane_standins.providers.contract import (
    Autonaming,
    Checked,
    Difference,
    InitFailed,
    Properties,
    ProviderError,
    Request,
    Urn,
)
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
    def wrapper(self: Provider, request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return handler(self, request, context)
        except InitFailed as failure:
            status = _init_failed(failure).SerializeToString()
            context.set_trailing_metadata((("grpc-status-details-bin", status),))
            context.abort(grpc.StatusCode.UNKNOWN, str(failure))
        except ProviderError as error:
            context.abort(grpc.StatusCode.UNKNOWN, str(error))

    return cast(Handler, wrapper)


def _init_failed(failure: InitFailed) -> status_pb2.Status:
    detail = pb.ErrorResourceInitFailed(
        id=failure.resource_id,
        properties=encode_struct(failure.state),
        reasons=[str(failure)],
        inputs=encode_struct(failure.inputs),
    )
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=str(failure))
    status.details.add().Pack(detail)
    return status


class Provider(ABC, provider_pb2_grpc.ResourceProviderServicer):
    """The operations of a provider, and the engine's protocol (in capitals) in front of them.

    Operations run in threads, many at once. They raise `ProviderError`, and `InitFailed` where the resource exists.
    """

    title: str
    """As in "the official gcp plugin"."""

    @property
    def version(self) -> str:
        """The SDK's: the engine warns of a plugin older than the SDK that asks for it."""
        return metadata.version(f"pulumi-{self.title.lower()}")

    @abstractmethod
    def cancel(self) -> None:
        """Stop waiting within a few seconds: operations under way end with an error and keep their state."""

    @abstractmethod
    def check_config(self, urn: Urn, news: Properties) -> Checked:
        """Check the provider's own configuration."""

    @abstractmethod
    def diff_config(self, olds: Properties, news: Properties) -> Difference:
        """What a changed configuration means for the provider, and for all that it created."""

    @abstractmethod
    def configure(self, args: Properties, variables: Mapping[str, str]) -> None:
        """Read the configuration, as values and as the strings `<package>:config:<key>`."""

    @abstractmethod
    def invoke(self, token: str, args: Properties) -> Properties:
        """The result of a function."""

    @abstractmethod
    def check(self, request: Request) -> Checked:
        """Inputs with name and defaults filled in, or what is wrong with them."""

    @abstractmethod
    def diff(self, request: Request) -> Difference:
        """What an update with these inputs would change."""

    @abstractmethod
    def create(self, request: Request) -> tuple[str, Properties]:
        """The new resource's id and state; in a preview, what it would look like."""

    @abstractmethod
    def read(self, request: Request) -> tuple[str, Properties, Properties]:
        """Id, inputs and state as they are now, for a refresh or an import; the id is empty where nothing exists."""

    @abstractmethod
    def update(self, request: Request) -> Properties:
        """The state after a change in place; in a preview, what it would look like."""

    @abstractmethod
    def delete(self, request: Request) -> None:
        """Delete a resource; one that does not exist is fine."""

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo(version=self.version)

    def Attach(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    def Cancel(self, request: Any, context: Any) -> Any:
        self.cancel()
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
        reason = f"the twin's {self.title} provider does not offer {what}; install the official {self.title} plugin"
        context.abort(grpc.StatusCode.UNIMPLEMENTED, reason)

    @_reporting
    def CheckConfig(self, request: Any, context: Any) -> Any:
        return _checked(self.check_config(Urn.parse(request.urn), self._values(request.news)))

    @_reporting
    def DiffConfig(self, request: Any, context: Any) -> Any:
        return _difference(self.diff_config(self._values(request.olds), self._values(request.news)))

    @_reporting
    def Configure(self, request: Any, context: Any) -> Any:
        self.configure(self._values(request.args), request.variables)
        return pb.ConfigureResponse(supportsPreview=True, supports_autonaming_configuration=True)

    @_reporting
    def Invoke(self, request: Any, context: Any) -> Any:
        result = self.invoke(request.tok, self._values(request.args))
        response = pb.InvokeResponse()
        getattr(response, "return").CopyFrom(encode_struct(result))  # a keyword of Python
        return response

    @_reporting
    def Check(self, request: Any, context: Any) -> Any:
        return _checked(self.check(self._request(request, olds=request.olds, news=request.news)))

    @_reporting
    def Diff(self, request: Any, context: Any) -> Any:
        return _difference(self.diff(self._request(request, olds=request.olds, news=request.news)))

    @_reporting
    def Create(self, request: Any, context: Any) -> Any:
        resource_id, state = self.create(self._request(request, news=request.properties))
        return pb.CreateResponse(id=resource_id, properties=encode_struct(state))

    @_reporting
    def Read(self, request: Any, context: Any) -> Any:
        resource_id, inputs, state = self.read(self._request(request, olds=request.properties, news=request.inputs))
        return pb.ReadResponse(id=resource_id, inputs=encode_struct(inputs), properties=encode_struct(state))

    @_reporting
    def Update(self, request: Any, context: Any) -> Any:
        state = self.update(self._request(request, olds=request.olds, news=request.news))
        return pb.UpdateResponse(properties=encode_struct(state))

    @_reporting
    def Delete(self, request: Any, context: Any) -> Any:
        self.delete(self._request(request, olds=request.properties))
        return empty_pb2.Empty()

    def _request(self, message: Any, **properties: Any) -> Request:
        known = message.DESCRIPTOR.fields_by_name
        values: dict[str, Any] = {name: getattr(message, field) for name, field in _OPTIONS.items() if field in known}
        values |= {name: self._values(struct) for name, struct in properties.items()}
        if "autonaming" in known and message.HasField("autonaming"):
            mode = pb.CheckRequest.AutonamingOptions.Mode.Name(message.autonaming.mode)
            values["autonaming"] = Autonaming(message.autonaming.proposed_name, mode)
        return Request(Urn.parse(message.urn), **values)

    def _values(self, struct: Any) -> Properties:
        return dict(reveal(decode_struct(struct), without_nulls=True))  # the official bridge drops nulls


def _checked(checked: Checked) -> Any:
    failures = [pb.CheckFailure(property=name, reason=reason) for name, reason in checked.failures]
    return pb.CheckResponse(inputs=encode_struct(checked.inputs), failures=failures)


def _difference(difference: Difference) -> Any:
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


def run(provider: Provider) -> None:
    """The plugin's main: serve, print the port for the engine, stay until the engine ends."""
    server = plugin_server(_THREADS)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider, server)
    serve(server, provider.cancel)
