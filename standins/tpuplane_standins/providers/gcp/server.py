"""The provider as a gRPC server, which reports the provider's exceptions to the engine."""

from collections.abc import Callable
from typing import Any, Final

import grpc
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.proto import provider_pb2_grpc, status_pb2

from tpuplane_standins.providers.contract import InitFailed, ProviderError
from tpuplane_standins.providers.gcp.provider import GcpProvider
from tpuplane_standins.providers.values import encode_struct
from tpuplane_standins.serving import plugin_server, serve

_THREADS: Final = 256  # an operation waits in its thread; the engine starts as many as the program allows


class _Reporting(grpc.ServerInterceptor):
    """Turns the provider's exceptions into gRPC statuses that the engine shows without a traceback."""

    def intercept_service(self, continuation: Callable[[Any], Any], handler_call_details: Any) -> Any:
        handler = continuation(handler_call_details)
        if handler is None or handler.unary_unary is None:
            return handler

        def reporting(request: Any, context: grpc.ServicerContext) -> Any:
            try:
                return handler.unary_unary(request, context)
            except InitFailed as failure:
                status = _init_failed(failure).SerializeToString()
                context.set_trailing_metadata((("grpc-status-details-bin", status),))
                context.abort(grpc.StatusCode.UNKNOWN, str(failure))
            except ProviderError as error:
                context.abort(grpc.StatusCode.UNKNOWN, str(error))

        return grpc.unary_unary_rpc_method_handler(reporting, handler.request_deserializer, handler.response_serializer)


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


def run() -> None:
    """The plugin's main: serve, print the port for the engine, stay until the engine ends."""
    provider, server = GcpProvider(), plugin_server(_THREADS, _Reporting())
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider, server)
    serve(server, provider.cancel)
