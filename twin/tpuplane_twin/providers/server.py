# ruff: noqa: D102 - the methods are the engine's, and described by its protocol
"""A Pulumi resource provider as a gRPC server: plain Python values inside, the engine's protocol outside.

The SDK's `pulumi.provider.experimental` has no way to say "created, but in an error state", prints a traceback for
every refusal and drops unknown values, so the servicer here is written on the SDK's generated classes.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any, Final, NamedTuple, TypeVar, cast

import grpc
from google.protobuf import empty_pb2
from google.protobuf.any_pb2 import Any as AnyMessage
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
from tpuplane_twin.providers.values import from_struct, reveal, to_struct

_MESSAGE_LIMIT: Final = 400 * 1024 * 1024  # the engine's own limit
_THREADS: Final = 256  # an operation waits in its thread; the engine starts as many as the program allows
_ORPHAN_CHECK_SECONDS: Final = 5


Handler = TypeVar("Handler", bound=Callable[..., Any])


def _reporting(handler: Handler) -> Handler:
    """Turn the provider's exceptions into gRPC statuses that the engine shows without a traceback."""

    @wraps(handler)
    def wrapper(self: Servicer, request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return handler(self, request, context)
        except InitFailed as failure:
            context.abort_with_status(_init_failed(failure))
        except ProviderError as error:
            context.abort(grpc.StatusCode.UNKNOWN, str(error))

    return cast(Handler, wrapper)


class _Status(NamedTuple):
    """The three attributes gRPC reads from a status (`grpc.Status` is an interface)."""

    code: grpc.StatusCode
    details: str
    trailing_metadata: tuple[tuple[str, bytes], ...]


def _init_failed(failure: InitFailed) -> Any:
    detail = pb.ErrorResourceInitFailed(
        id=failure.resource_id,
        properties=to_struct(failure.outputs),
        inputs=to_struct(failure.inputs),
        reasons=[failure.reason],
    )
    packed = AnyMessage()
    packed.Pack(detail)
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=failure.reason, details=[packed])
    metadata = (("grpc-status-details-bin", status.SerializeToString()),)
    return _Status(grpc.StatusCode.UNKNOWN, failure.reason, metadata)


class Servicer(provider_pb2_grpc.ResourceProviderServicer):
    """The engine's protocol in front of a `Provider`. Secrets reach the provider opened; the engine closes them."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo(version=self._provider.version)

    def Attach(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    def Cancel(self, request: Any, context: Any) -> Any:
        self._provider.cancel()
        return empty_pb2.Empty()

    @_reporting
    def CheckConfig(self, request: Any, context: Any) -> Any:
        return _checked(self._provider.check_config(Urn.parse(request.urn), _opened(request.news)))

    @_reporting
    def DiffConfig(self, request: Any, context: Any) -> Any:
        return _difference(self._provider.diff_config(_opened(request.olds), _opened(request.news)))

    @_reporting
    def Configure(self, request: Any, context: Any) -> Any:
        self._provider.configure(_opened(request.args))
        return pb.ConfigureResponse(supportsPreview=True, supports_autonaming_configuration=True)

    @_reporting
    def Invoke(self, request: Any, context: Any) -> Any:
        result = self._provider.invoke(request.tok, _opened(request.args))
        response = pb.InvokeResponse()
        getattr(response, "return").CopyFrom(to_struct(result))  # a keyword of Python
        return response

    @_reporting
    def Check(self, request: Any, context: Any) -> Any:
        autonaming = None
        if request.HasField("autonaming"):
            mode = pb.CheckRequest.AutonamingOptions.Mode.Name(request.autonaming.mode)
            autonaming = Autonaming(request.autonaming.proposed_name, mode)
        olds, news = _opened(request.olds), _opened(request.news)
        return _checked(self._provider.check(Urn.parse(request.urn), olds, news, request.randomSeed, autonaming))

    @_reporting
    def Diff(self, request: Any, context: Any) -> Any:
        state, news = _opened(request.olds), _opened(request.news)
        difference = self._provider.diff(Urn.parse(request.urn), request.id, state, news, list(request.ignoreChanges))
        return _difference(difference)

    @_reporting
    def Create(self, request: Any, context: Any) -> Any:
        resource_id, outputs = self._provider.create(
            Urn.parse(request.urn), _opened(request.properties), request.timeout, request.preview
        )
        return pb.CreateResponse(id=resource_id, properties=to_struct(outputs))

    @_reporting
    def Read(self, request: Any, context: Any) -> Any:
        resource_id, inputs, outputs = self._provider.read(
            Urn.parse(request.urn), request.id, _opened(request.inputs), _opened(request.properties)
        )
        return pb.ReadResponse(id=resource_id, inputs=to_struct(inputs), properties=to_struct(outputs))

    @_reporting
    def Update(self, request: Any, context: Any) -> Any:
        outputs = self._provider.update(
            Urn.parse(request.urn),
            request.id,
            _opened(request.olds),
            _opened(request.news),
            request.timeout,
            request.preview,
        )
        return pb.UpdateResponse(properties=to_struct(outputs))

    @_reporting
    def Delete(self, request: Any, context: Any) -> Any:
        self._provider.delete(Urn.parse(request.urn), request.id, _opened(request.properties), request.timeout)
        return empty_pb2.Empty()


def _opened(struct: Any) -> Properties:
    """A property map with its secrets open: configuration arrives closed whatever the provider says."""
    return {name: reveal(value) for name, value in from_struct(struct).items()}


def _checked(checked: Checked) -> Any:
    # Like the official plugin, failures name no property: the path is part of the reason.
    failures = [pb.CheckFailure(reason=reason) for reason in checked.failures]
    return pb.CheckResponse(inputs=to_struct(checked.inputs), failures=failures)


def _difference(difference: Difference) -> Any:
    detailed = {}
    changed, replaced = set(), set()
    for path, change in difference.changes.items():
        kind = f"{change.kind.value}_REPLACE" if change.replace else change.kind.value
        detailed[path] = pb.PropertyDiff(kind=pb.PropertyDiff.Kind.Value(kind))
        top = path.split(".", 1)[0].split("[", 1)[0]
        changed.add(top)
        if change.replace:
            replaced.add(top)
    return pb.DiffResponse(
        changes=pb.DiffResponse.DIFF_SOME if detailed else pb.DiffResponse.DIFF_NONE,
        diffs=sorted(changed),
        replaces=sorted(replaced),
        deleteBeforeReplace=difference.delete_before_replace and bool(replaced),
        detailedDiff=detailed,
        hasDetailedDiff=True,
    )


def start(provider: Provider) -> tuple[grpc.Server, int]:
    """Serve `provider` on a free port of 127.0.0.1; returns the running server and its port."""
    limits = [("grpc.max_receive_message_length", _MESSAGE_LIMIT), ("grpc.max_send_message_length", _MESSAGE_LIMIT)]
    server = grpc.server(ThreadPoolExecutor(_THREADS), options=limits)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Servicer(provider), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, port


def run(provider: Provider) -> None:
    """The plugin's main: serve, tell the engine the port on standard output, stay until the engine is gone."""
    server, port = start(provider)
    ended, parent = threading.Event(), os.getppid()
    # The engine ends its plugins with an interrupt and waits five seconds for each that ignores it. A user's Ctrl-C
    # does not come here (plugins have a process group of their own): the engine sends Cancel.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    while not ended.wait(_ORPHAN_CHECK_SECONDS) and os.getppid() == parent:
        pass  # an engine that was killed ends nobody
    server.stop(grace=None).wait()
