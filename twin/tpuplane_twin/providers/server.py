# ruff: noqa: D102 - the methods are the engine's, and described by its protocol
"""A Pulumi resource provider as a gRPC server: plain Python values inside, the engine's protocol outside.

The SDK's `pulumi.provider.experimental` has no way to say "created, but in an error state", prints a traceback for
every rejection and drops unknown values, so the servicer here is written on the SDK's generated classes.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any, Final, TypeVar, cast

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2_grpc, status_pb2
from pulumi.runtime.proto import provider_pb2 as pb

from tpuplane_twin.providers.contract import (
    Autonaming,
    Checked,
    Difference,
    InitFailed,
    Properties,
    Provider,
    ProviderError,
    Urn,
)
from tpuplane_twin.providers.values import Secret, decode_struct, encode_struct

_MESSAGE_LIMIT: Final = 400 * 1024 * 1024  # the engine's own limit
_THREADS: Final = 256  # an operation waits in its thread; the engine starts as many as the program allows
_ORPHAN_CHECK_SECONDS: Final = 5
_GRACE_SECONDS: Final = 2
"""How long operations under way have for their last answer after the engine ends the provider."""

Handler = TypeVar("Handler", bound=Callable[..., Any])


def _reporting(handler: Handler) -> Handler:
    """Turn the provider's exceptions into gRPC statuses that the engine shows without a traceback."""

    @wraps(handler)
    def wrapper(self: Servicer, request: Any, context: grpc.ServicerContext) -> Any:
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
        id=failure.resource_id, properties=encode_struct(failure.state), reasons=failure.reasons
    )
    if failure.inputs is not None:
        detail.inputs.CopyFrom(encode_struct(failure.inputs))
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=str(failure))
    status.details.add().Pack(detail)
    return status


class Servicer(provider_pb2_grpc.ResourceProviderServicer):
    """The engine's protocol in front of a `Provider`."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo(version=self._provider.version)

    def Attach(self, request: Any, context: Any) -> Any:
        self._provider.attach(request.address)
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
        title = self._provider.title
        reason = f"the twin's {title} provider does not offer {what}; install the official {title} plugin"
        context.abort(grpc.StatusCode.UNIMPLEMENTED, reason)

    @_reporting
    def Construct(self, request: Any, context: Any) -> Any:
        return self._provider.construct(request)

    @_reporting
    def CheckConfig(self, request: Any, context: Any) -> Any:
        return _checked(self._provider.check_config(Urn.parse(request.urn), self._values(request.news)))

    @_reporting
    def DiffConfig(self, request: Any, context: Any) -> Any:
        return _difference(self._provider.diff_config(self._values(request.olds), self._values(request.news)))

    @_reporting
    def Configure(self, request: Any, context: Any) -> Any:
        self._provider.configure(self._values(request.args), request.variables)
        return pb.ConfigureResponse(
            acceptSecrets=self._provider.keeps_secrets, supportsPreview=True, supports_autonaming_configuration=True
        )

    @_reporting
    def Invoke(self, request: Any, context: Any) -> Any:
        result = self._provider.invoke(request.tok, self._values(request.args))
        response = pb.InvokeResponse()
        getattr(response, "return").CopyFrom(encode_struct(result))  # a keyword of Python
        return response

    @_reporting
    def Check(self, request: Any, context: Any) -> Any:
        autonaming = None
        if request.HasField("autonaming"):
            mode = pb.CheckRequest.AutonamingOptions.Mode.Name(request.autonaming.mode)
            autonaming = Autonaming(request.autonaming.proposed_name, mode)
        olds, news = self._values(request.olds), self._values(request.news)
        return _checked(self._provider.check(Urn.parse(request.urn), olds, news, request.randomSeed, autonaming))

    @_reporting
    def Diff(self, request: Any, context: Any) -> Any:
        state, news = self._values(request.olds), self._values(request.news)
        difference = self._provider.diff(Urn.parse(request.urn), request.id, state, news, list(request.ignoreChanges))
        return _difference(difference)

    @_reporting
    def Create(self, request: Any, context: Any) -> Any:
        resource_id, outputs = self._provider.create(
            Urn.parse(request.urn), self._values(request.properties), request.timeout, request.preview
        )
        return pb.CreateResponse(id=resource_id, properties=encode_struct(outputs))

    @_reporting
    def Read(self, request: Any, context: Any) -> Any:
        resource_id, inputs, outputs = self._provider.read(
            Urn.parse(request.urn), request.id, self._values(request.inputs), self._values(request.properties)
        )
        return pb.ReadResponse(id=resource_id, inputs=encode_struct(inputs), properties=encode_struct(outputs))

    @_reporting
    def Update(self, request: Any, context: Any) -> Any:
        outputs = self._provider.update(
            Urn.parse(request.urn),
            request.id,
            self._values(request.olds),
            self._values(request.news),
            request.timeout,
            request.preview,
            request.ignoreChanges,
        )
        return pb.UpdateResponse(properties=encode_struct(outputs))

    @_reporting
    def Delete(self, request: Any, context: Any) -> Any:
        self._provider.delete(Urn.parse(request.urn), request.id, self._values(request.properties), request.timeout)
        return empty_pb2.Empty()

    def _values(self, struct: Any) -> Properties:
        values = decode_struct(struct)
        return values if self._provider.keeps_secrets else _opened(values)


def _opened(value: Any) -> Any:
    """A value with its secrets open and its objects without nulls, as the official bridge drops them."""
    match value:
        case Secret():
            return _opened(value.value)
        case dict():
            return {key: _opened(item) for key, item in value.items() if item is not None}
        case list():
            return [_opened(item) for item in value]
        case _:
            return value


def _checked(checked: Checked) -> Any:
    failures = [pb.CheckFailure(property=name, reason=reason) for name, reason in checked.failures]
    return pb.CheckResponse(inputs=encode_struct(checked.inputs), failures=failures)


def _difference(difference: Difference) -> Any:
    detailed = {}
    for path, change in difference.changes.items():
        kind = f"{change.action}_replace" if change.replaces else change.action
        detailed[path] = pb.PropertyDiff(kind=pb.PropertyDiff.Kind.Value(kind.upper()), inputDiff=change.of_input)
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
    # The engine's address is the last argument; flags of the engine's logging may surround it.
    if engines := [argument for argument in sys.argv[1:] if not argument.startswith("-")]:
        provider.attach(engines[-1])
    limits = [("grpc.max_receive_message_length", _MESSAGE_LIMIT), ("grpc.max_send_message_length", _MESSAGE_LIMIT)]
    server = grpc.server(ThreadPoolExecutor(_THREADS), options=limits)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Servicer(provider), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    ended, parent = threading.Event(), os.getppid()
    # The engine ends its plugins with an interrupt and waits five seconds for each that ignores it. A user's Ctrl-C
    # does not come here (plugins have a process group of their own): the engine sends Cancel.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    while not ended.wait(_ORPHAN_CHECK_SECONDS) and os.getppid() == parent:
        pass  # an engine that was killed ends its providers this way
    provider.cancel()
    server.stop(_GRACE_SECONDS).wait()
