"""How a plugin of the Pulumi engine serves gRPC, and ends with the engine."""

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import grpc

_MESSAGE_LIMIT: Final = 400 * 1024 * 1024  # the engine's own: a program's configuration and a schema can be large
_ORPHAN_CHECK_SECONDS: Final = 1.0
_GRACE_SECONDS: Final = 2
"""How long operations under way have for their last answer after the engine ends the plugin."""


def plugin_server(max_workers: int, *interceptors: grpc.ServerInterceptor) -> grpc.Server:
    """A server that accepts messages as large as the engine does. Each request has a thread."""
    limits = [("grpc.max_receive_message_length", _MESSAGE_LIMIT), ("grpc.max_send_message_length", _MESSAGE_LIMIT)]
    return grpc.server(ThreadPoolExecutor(max_workers), interceptors=list(interceptors), options=limits)


def serve(server: grpc.Server, cancel: Callable[[], None]) -> None:
    """Serve on a free port of 127.0.0.1, print it, and end with the engine: `cancel` ends the operations under way."""
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    ended, engine = threading.Event(), os.getppid()
    # The engine ends its plugins with an interrupt and waits five seconds for each that ignores it. A user's Ctrl-C
    # does not come here (plugins have a process group of their own): the engine sends Cancel.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    print(port, flush=True)
    while not ended.wait(_ORPHAN_CHECK_SECONDS) and os.getppid() == engine:
        pass  # an engine that was killed ends its plugins this way
    cancel()
    server.stop(_GRACE_SECONDS).wait()
